#include "tests/support/nest_interpreter_state.h"

#include <string.h>

static void find_turns(struct interpreter *machine, const struct mapping *mapping)
{
	const struct hierarchy *hierarchy = machine->hierarchy;
	int dimensions = machine->shape->dimension_count;
	for (int i = hierarchy->level_count - 1; i >= 0; i--) {
		const struct mapping_row *row = &mapping->rows[hierarchy->levels[i].row];
		for (int k = dimensions - 1; k >= 0 && hierarchy->levels[i].storage; k--) {
			int d = row->temporal_order[k];
			machine->turns[machine->turn_count++] = (struct turn){.level = i,
				.dimension = d,
				.bound = row->temporal[d],
				.stride = machine->inside[i + 1][d] / row->temporal[d]};
		}
	}
}

/* Instances of a tier by those around it: Y before X, a later loop before an earlier one. */
static void find_instances(struct interpreter *machine, const struct mapping *mapping, int tier)
{
	int dimensions = machine->shape->dimension_count;
	const struct mapping_row *row = &mapping->rows[machine->hierarchy->levels[tier].block_row];
	const int64_t *outer = machine->base[tier + 1];
	struct mesh *mesh = &machine->blocks[tier];
	*mesh = (struct mesh){1, 1};
	for (int d = 0; d < dimensions; d++) {
		mesh->size *= row->spatial[d];
		mesh->x_size *= row->spatial_y >> d & 1 ? 1 : row->spatial[d];
	}
	int count = machine->instances[tier] = machine->instances[tier + 1] * (int)mesh->size;
	machine->base[tier] = arena_array(machine->arena, int64_t, count * dimensions);
	for (int n = 0; n < count; n++) {
		int64_t place = n % mesh->size;
		int64_t left[2] = {place % mesh->x_size, place / mesh->x_size};
		for (int k = 0; k < dimensions; k++) {
			int d = row->spatial_order[k];
			int64_t *along = &left[row->spatial_y >> d & 1];
			int64_t at = *along % row->spatial[d];
			*along /= row->spatial[d];
			machine->base[tier][n * dimensions + d] =
				outer[n / mesh->size * dimensions + d] +
				at * machine->inside[tier][d];
		}
	}
}

void nest_lay_out(struct interpreter *machine, const struct mapping *mapping)
{
	const struct hierarchy *hierarchy = machine->hierarchy;
	int dimensions = machine->shape->dimension_count;
	machine->tiers = hierarchy->level_count + 1;
	for (int d = 0; d < dimensions; d++) {
		machine->inside[0][d] = 1;
		for (int i = 0; i < hierarchy->level_count; i++) {
			const struct nest_level *level = &hierarchy->levels[i];
			machine->inside[i + 1][d] =
				machine->inside[i][d] * mapping->rows[level->block_row].spatial[d] *
				(level->storage ? mapping->rows[level->row].temporal[d] : 1);
		}
	}
	find_turns(machine, mapping);
	int outermost = machine->tiers - 1;
	machine->instances[outermost] = 1;
	machine->base[outermost] = arena_array(machine->arena, int64_t, dimensions);
	for (int tier = outermost - 1; tier >= 0; tier--)
		find_instances(machine, mapping, tier);
	for (int tier = 0; tier < machine->tiers; tier++)
		machine->worked[tier] = arena_array(machine->arena, bool, machine->instances[tier]);
	for (int t = 0; t < machine->shape->space_count; t++) {
		const struct dataspace *space = &machine->shape->spaces[t];
		machine->elements[t] = 1;
		for (int r = 0; r < space->rank_count; r++) {
			machine->rank_size[t][r] = 1;
			for (int d = 0; d < dimensions; d++)
				machine->rank_size[t][r] += space->ranks[r].coefficient[d] *
							    (machine->inside[outermost][d] - 1);
			machine->elements[t] *= (int)machine->rank_size[t][r];
		}
	}
}

/* --- where instances stand */

void find_indices(const struct interpreter *machine, int tier, int n, int64_t *index)
{
	int dimensions = machine->shape->dimension_count;
	memcpy(index, machine->base[tier] + n * dimensions, (size_t)dimensions * sizeof *index);
	for (int k = 0; k < machine->turn_count; k++) {
		const struct turn *turn = &machine->turns[k];
		if (turn->level >= tier)
			index[turn->dimension] += turn->at * turn->stride;
	}
}

bool has_work(const struct interpreter *machine, const int64_t *index)
{
	for (int d = 0; d < machine->shape->dimension_count; d++)
		if (index[d] >= machine->shape->dimensions[d].extent)
			return false;
	return true;
}

static int element_at(const struct interpreter *machine, int space, const int64_t *coordinate)
{
	int64_t element = 0;
	for (int r = 0; r < machine->shape->spaces[space].rank_count; r++)
		element = element * machine->rank_size[space][r] + coordinate[r];
	return (int)element;
}

int element_of(const struct interpreter *machine, int space, const int64_t *index)
{
	int64_t coordinate[SHAPE_RANKS_MOST] = {0};
	for (int r = 0; r < machine->shape->spaces[space].rank_count; r++)
		for (int d = 0; d < machine->shape->dimension_count; d++)
			coordinate[r] +=
				machine->shape->spaces[space].ranks[r].coefficient[d] * index[d];
	return element_at(machine, space, coordinate);
}

/* True if indices from `low` to `high` use the element, and not only its box. */
static bool is_used(const struct interpreter *machine, int space, int element, const int64_t *low,
	const int64_t *high)
{
	int64_t index[SHAPE_DIMENSIONS_MOST];
	int dimensions = machine->shape->dimension_count, d = 0;
	memcpy(index, low, sizeof index);
	do {
		if (element_of(machine, space, index) == element)
			return true;
		for (d = 0; d < dimensions && index[d] == high[d]; d++)
			index[d] = low[d];
		if (d < dimensions)
			index[d]++;
	} while (d < dimensions);
	return false;
}

int find_tile(const struct interpreter *machine, int tier, int space, const int64_t *low, int *at)
{
	int rank_count = machine->shape->spaces[space].rank_count, count = 0;
	int64_t high[SHAPE_DIMENSIONS_MOST];
	int64_t first[SHAPE_RANKS_MOST] = {0}, last[SHAPE_RANKS_MOST] = {0}, here[SHAPE_RANKS_MOST];
	memcpy(high, low, sizeof high);
	for (int d = 0; d < machine->shape->dimension_count; d++) {
		if (!(machine->shape->spaces[space].relevant >> d & 1))
			continue;
		int64_t extent = machine->shape->dimensions[d].extent;
		high[d] = low[d] + machine->inside[tier][d] - 1;
		if (high[d] >= extent && machine->broken != RULE_TAIL)
			high[d] = extent - 1;
		if (high[d] < low[d])
			return 0;
		for (int r = 0; r < rank_count; r++) {
			int64_t c = machine->shape->spaces[space].ranks[r].coefficient[d];
			first[r] += c * low[d];
			last[r] += c * high[d];
		}
	}
	memcpy(here, first, sizeof here);
	for (int r = 0; r >= 0;) {
		int element = element_at(machine, space, here);
		if (machine->broken != RULE_GAP || is_used(machine, space, element, low, high)) {
			if (at)
				at[count] = element;
			count++;
		}
		for (r = rank_count - 1; r >= 0 && here[r] == last[r]; r--)
			here[r] = first[r];
		if (r >= 0)
			here[r]++;
	}
	return count;
}
