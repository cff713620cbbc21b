#include "cost/nest_quick.h"

#include "cost/nest_loops.h"
#include "cost/nest_quick_windows.h"

#include <string.h>

static inline void add_loop(
	struct quick_loops *loops, double bound, double outside, int dimension, bool spatial)
{
	loops->bound[loops->count] = bound;
	loops->outside[loops->count] = outside;
	loops->dimension[loops->count] = (uint8_t)dimension;
	loops->spatial[loops->count++] = spatial;
}

/* The dimensions of a mask in the order of a row's temporal loops, innermost first; how many. */
static inline int in_order(
	const struct mapping_row *row, int dimension_count, uint32_t mask, int *order)
{
	if (!(mask & (mask - 1))) {
		order[0] = mask ? __builtin_ctz(mask) : 0;
		return mask != 0;
	}
	int count = 0;
	for (int k = 0; k < dimension_count; k++) {
		int d = row->temporal_order[k];
		order[count] = d;
		count += mask >> d & 1;
	}
	return count;
}

static inline __attribute__((always_inline)) masks relevant_to(
	const struct nest_model *model, int dimension, int group)
{
	masks mask;
	memcpy(&mask, &model->relevant[dimension][group * LANES], sizeof mask);
	return mask;
}

static inline __attribute__((always_inline)) lanes chosen(masks mask, lanes a, lanes b)
{
	return (lanes)((mask & (masks)a) | (~mask & (masks)b));
}

/* A bound where a mask says so, 1 elsewhere. */
static inline __attribute__((always_inline)) lanes factor(masks mask, double bound)
{
	return 1 + where(mask, all_lanes(bound - 1));
}

/* Dataspaces of a group whose residency has one of the rows. */
static inline __attribute__((always_inline)) masks kept_in(
	const struct quick_state *state, int group, uint32_t rows)
{
	const uint32_t *residency = &state->residency[group * LANES];
	masks kept = {
		residency[0] & rows, residency[1] & rows, residency[2] & rows, residency[3] & rows};
	return kept != 0;
}

/* From the outermost loop inwards; false for a fan-out that is too small and for bounds that do
 * not make the extents. */
static inline __attribute__((always_inline)) bool go_inwards(const struct nest_model *model,
	const struct mapping *mapping, struct quick_state *state, const int group_count,
	const bool boxed, const bool exact)
{
	struct quick_loops *loops = &state->loops;
	int dimension_count = model->shape->dimension_count;
	double steps = 1, instances = 1;
	lanes run[LANE_GROUPS_MOST] = {0}, around[LANE_GROUPS_MOST] = {0};
	lanes part[LANE_GROUPS_MOST] = {0};
	lanes below[LANE_GROUPS_MOST] = {0}; /* groups below all instances of the parent */
	masks homeless[LANE_GROUPS_MOST] = {0};
#pragma GCC unroll 4
	for (int g = 0; g < group_count; g++) {
		run[g] = around[g] = all_lanes(1);
		memcpy(&part[g], &model->words[g * LANES], sizeof part[g]);
		below[g] = all_lanes(1);
		homeless[g] = ~(masks){0};
	}
	for (int d = 0; d < dimension_count; d++)
		state->outside[d] = 1;
	loops->count = 0;
	for (int i = model->hierarchy->level_count - 1; i >= 0; i--) {
		const struct nest_price *price = &model->prices[i];
		const struct mapping_row *row = &mapping->rows[price->row];
		const struct mapping_row *block = &mapping->rows[price->block_row];
		loops->first[i] = loops->count;
		state->instances[i] = instances;
#pragma GCC unroll 4
		for (int g = 0; g < group_count; g++) {
			if (price->storage) {
				lanes all;
				memcpy(&all, &model->words[g * LANES], sizeof all);
				state->tiles[i][g] = all / around[g];
				if (exact) {
					masks kept = kept_in(state, g, 1u << price->row);
					lanes home = all * (instances / below[g]);
					lanes empty = part[g] + state->tiles[i][g] * run[g] *
									(instances - below[g]);
					part[g] = chosen(
						kept, chosen(homeless[g], home, empty), part[g]);
					below[g] = chosen(kept, all_lanes(instances), below[g]);
					homeless[g] &= ~kept;
				}
			}
			state->parts[i][g] = part[g];
		}
		int order[SHAPE_DIMENSIONS_MOST];
		int k = in_order(row, dimension_count,
			nest_busy(row->temporal, model->all_dimensions), order);
		while (k-- > 0) {
			int d = order[k];
			double bound = row->temporal[d];
			if (boxed)
				add_loop(loops, bound, steps, d, false);
			steps *= bound;
			state->outside[d] *= bound;
#pragma GCC unroll 4
			for (int g = 0; g < group_count; g++) {
				masks moves = relevant_to(model, d, g);
				around[g] *= factor(moves, bound);
				run[g] = chosen(moves, all_lanes(steps), run[g]);
			}
		}
		double fan_x = 1, fan_y = 1;
#pragma GCC unroll 4
		for (int g = 0; g < group_count; g++) {
			state->runs[i][g] = run[g];
			state->groups[i][g] = all_lanes(1);
		}
		state->block[i] = nest_busy(block->spatial, model->all_dimensions);
		if (state->block[i]) {
			for (uint32_t left = state->block[i]; left; left &= left - 1) {
				int d = __builtin_ctz(left);
				double bound = block->spatial[d];
				if (boxed)
					add_loop(loops, bound, steps, d, true);
				state->outside[d] *= bound;
				if (block->spatial_y >> d & 1)
					fan_y *= bound;
				else
					fan_x *= bound;
#pragma GCC unroll 4
				for (int g = 0; g < group_count; g++)
					state->groups[i][g] *=
						factor(relevant_to(model, d, g), bound);
			}
			if (fan_x > price->fanout_x || fan_y > price->fanout_y)
				return false;
#pragma GCC unroll 4
			for (int g = 0; g < group_count; g++) {
				around[g] *= state->groups[i][g];
				below[g] *= state->groups[i][g];
				if (!exact)
					part[g] = part[g] / state->groups[i][g];
			}
		}
		state->fan[i] = fan_x * fan_y;
		instances *= state->fan[i];
	}
	state->steps = steps;
	state->multipliers = instances;
	bool right = true;
	for (int d = 0; d < dimension_count; d++)
		right &= state->outside[d] == model->extents[d];
	return right;
}

/* Whole numbers below 2^51, as integers: the low bits of 2^52 + x. */
static inline __attribute__((always_inline)) masks whole(lanes x)
{
	return (masks)(x + 0x1p52) ^ (masks)all_lanes(0x1p52);
}

static void check_size(const struct nest_level *level, int i, double sum, struct nest_score *score,
	struct nest_quick *out)
{
	if (!level->size || out->verdict != NEST_FITS)
		return;
	if (sum > (double)level->size)
		out->verdict = NEST_CAPACITY;
	else if (sum < level->least_utilization * (double)level->size)
		out->verdict = NEST_UTILIZATION;
	else
		return;
	score->level = i;
	score->asked = (int64_t)sum;
	score->given = level->size;
}

/* Tiles and words taken of the kept dataspaces of a group that are not plain. */
static void look_at_boxes(const struct nest_model *model, const struct quick_state *state, int i,
	int group, bool exact, lanes *tile, lanes *filled)
{
	uint32_t row = 1u << model->prices[i].row;
	for (int k = 0; k < LANES; k++) {
		int t = group * LANES + k;
		if (!(model->boxed_spaces >> t & 1) || !(state->residency[t] & row))
			continue;
		double extents[SHAPE_RANKS_MOST];
		(*tile)[k] = nest_quick_box(&model->spaces[t], state->inside, extents);
		if (!(state->residency[t] & (row - 1)))
			continue;
		double run = state->runs[i + 1][group][k];
		(*filled)[k] =
			model->spaces[t].sum_count
				? (exact ? nest_quick_entered : nest_quick_taken)(
					  &model->spaces[t], state, i, (*tile)[k], extents, run)
				: (*tile)[k] * run;
	}
}

/* From the innermost level outwards. */
static inline __attribute__((always_inline)) void go_outwards(const struct nest_model *model,
	const struct mapping *mapping, struct quick_state *state, struct nest_counts *counts,
	struct nest_score *score, struct nest_quick *out, const int space_count,
	const int group_count, const bool boxed, const bool exact)
{
	const struct hierarchy *hierarchy = model->hierarchy;
	const struct quick_loops *loops = &state->loops;
	lanes served[LANE_GROUPS_MOST] = {0};
#pragma GCC unroll 4
	for (int g = 0; g < group_count; g++)
		served[g] = all_lanes(state->steps);
	for (int d = 0; d < SHAPE_DIMENSIONS_MOST; d++)
		state->inside[d] = 1;
	int end = loops->count;
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_price *price = &model->prices[i];
		if (!exact && state->block[i] && (i == 0 || boxed))
			for (int t = 0; t < space_count; t++)
				if ((i == 0 || model->sum_spaces >> t & 1) &&
					nest_quick_needs_a_look(
						model, mapping, &model->spaces[t], state, i, t))
					out->left |= 1u << t;
		if (boxed) {
			for (int l = loops->first[i]; l < end; l++)
				state->inside[loops->dimension[l]] *= loops->bound[l];
			end = loops->first[i];
		}
		counts->utilized[i] = (int64_t)state->instances[i];
		if (!price->storage) {
			for (int t = 0; t < space_count; t++) {
				counts->at[i][t] = (struct nest_count){0};
				score->space_pj[i][t] = 0;
			}
#pragma GCC unroll 4
			for (int g = 0; g < group_count; g++)
				served[g] *= state->groups[i][g];
			check_size(&hierarchy->levels[i], i, 0, score, out);
			continue;
		}
		double instances = state->instances[i], clusters = clusters_of(price, instances);
		lanes sum = all_lanes(0);
		uint32_t row = 1u << price->row;
#pragma GCC unroll 4
		for (int g = 0; g < group_count; g++) {
			masks kept = kept_in(state, g, row),
			      away = kept & kept_in(state, g, row - 1);
			masks written;
			memcpy(&written, &model->written[g * LANES], sizeof written);
			served[g] *= state->groups[i][g];
			lanes tile = where(kept, state->tiles[i][g]);
			lanes run = state->runs[i + 1 < hierarchy->level_count ? i + 1 : i][g];
			lanes filled = where(away, tile * run);
			if (boxed && model->boxed_spaces >> (g * LANES) & ((1 << LANES) - 1))
				look_at_boxes(model, state, i, g, exact, &tile, &filled);
			/* The first word of a sum comes from nowhere. */
			lanes part = where(written & kept, state->parts[i][g]);
			lanes updates = where(written & kept, served[g]);
			/* Exactly, instances need not be alike, and only all together are whole. */
			double times = exact ? instances : 1;
			lanes reads = where(kept, served[g]) * times - part;
			lanes fills = filled * times - where(away, part);
			lanes pj = lanes_pj(price, reads, fills, updates * times,
					   times * price->block_size) *
				   clusters;
			double left = exact ? 1 : instances;
			masks counted[] = {whole(tile), whole(reads * left), whole(fills * left),
				whole(updates * instances)};
			for (int k = 0; k < LANES && g * LANES + k < space_count; k++) {
				counts->at[i][g * LANES + k] = (struct nest_count){counted[0][k],
					counted[1][k], counted[2][k], counted[3][k], 0};
				score->space_pj[i][g * LANES + k] = pj[k];
			}
			sum += tile;
			served[g] = chosen(kept, filled, served[g]);
		}
		check_size(
			&hierarchy->levels[i], i, sum[0] + sum[1] + (sum[2] + sum[3]), score, out);
	}
}

static inline __attribute__((always_inline)) bool count(const struct nest_model *model,
	const struct mapping *mapping, struct nest_counts *counts, struct nest_score *score,
	struct nest_quick *out, const int space_count, const bool boxed, const bool exact)
{
	const int group_count = (space_count + LANES - 1) / LANES;
	struct quick_state state;
	out->verdict = NEST_FITS;
	out->left = model->slow_spaces;
	bool homes = true;
	for (int t = 0; t < space_count; t++) {
		state.residency[t] = mapping->residency[t] & model->storage_rows;
		homes &= state.residency[t] != 0;
	}
	for (int t = space_count; t < group_count * LANES; t++)
		state.residency[t] = 0;
	if (!homes || !go_inwards(model, mapping, &state, group_count, boxed, exact))
		return false;
	if (exact && boxed)
		out->left |= nest_quick_left_exactly(model, &state, space_count);
	go_outwards(
		model, mapping, &state, counts, score, out, space_count, group_count, boxed, exact);
	counts->compute_cycles = (int64_t)state.steps;
	counts->utilized_computes = (int64_t)state.multipliers;
	return true;
}

/* Once with the wide registers of newer machines; the results are the same bits. */
NEST_WIDE bool nest_quick_counts(const struct nest_model *model, const struct mapping *mapping,
	struct nest_counts *counts, struct nest_score *score, struct nest_quick *out)
{
	int space_count = model->shape->space_count;
	if (!model->quick)
		return false;
	/* A mapping is long, and its rows are looked at one after another. */
	for (int r = 0; r <= model->prices[0].block_row; r++) {
		__builtin_prefetch(mapping->rows[r].spatial);
		__builtin_prefetch(mapping->rows[r].temporal);
		__builtin_prefetch(mapping->rows[r].temporal_order);
	}
	bool exact = model->counting == COUNTING_EXACT, boxed = model->boxed_spaces != 0;
	if (space_count != 3)
		return count(model, mapping, counts, score, out, space_count, true, exact);
	if (exact)
		return boxed ? count(model, mapping, counts, score, out, 3, true, true)
			     : count(model, mapping, counts, score, out, 3, false, true);
	return boxed ? count(model, mapping, counts, score, out, 3, true, false)
		     : count(model, mapping, counts, score, out, 3, false, false);
}
