#include "tests/support/nest_fits.h"

#include "base/arena.h"
#include "base/number.h"

/* Words of a box, by the definition. */
static int64_t words_of(const struct shape *shape, int t, const int64_t *extents)
{
	int64_t words = 1;
	for (int r = 0; r < shape->spaces[t].rank_count; r++) {
		int64_t reach = 1;
		for (int d = 0; d < shape->dimension_count; d++)
			reach += shape->spaces[t].ranks[r].coefficient[d] * (extents[d] - 1);
		words *= reach;
	}
	return words;
}

static int home_of(const struct domain *domain, const struct mapping *mapping, int t)
{
	int home = -1;
	for (int i = 0; i < domain->hierarchy->level_count; i++)
		if (domain->hierarchy->levels[i].storage &&
			mapping->residency[t] >> domain->hierarchy->levels[i].row & 1)
			home = i;
	return home;
}

/* The loops of the first instance outside its home, stood still at one place each. */
struct standing {
	const struct shape *shape;
	int t;
	const int64_t *extents;
	int count, dimension[64];
	int64_t bound[64], stride[64], low[SHAPE_DIMENSIONS_MOST];
	bool *touched;
	int64_t words;
};

static void touch(struct standing *standing, int r, int64_t place)
{
	const struct shape *shape = standing->shape;
	const struct dataspace *space = &shape->spaces[standing->t];
	int64_t size = 1, first = 0, last = 0;
	if (r == space->rank_count) {
		standing->words += !standing->touched[place];
		standing->touched[place] = true;
		return;
	}
	for (int d = 0; d < shape->dimension_count; d++) {
		int64_t coefficient = space->ranks[r].coefficient[d];
		int64_t extent = shape->dimensions[d].extent, low = standing->low[d];
		int64_t end = number_min(low + standing->extents[d], extent);
		size += coefficient * (extent - 1);
		first += coefficient * low;
		last += coefficient * (end - 1);
	}
	for (int64_t at = first; at <= last; at++)
		touch(standing, r + 1, place * size + at);
}

static void stand(struct standing *standing, int k)
{
	if (k == standing->count) {
		for (int d = 0; d < standing->shape->dimension_count; d++)
			if (standing->low[d] >= standing->shape->dimensions[d].extent)
				return;
		touch(standing, 0, 0);
		return;
	}
	int64_t *low = &standing->low[standing->dimension[k]], before = *low;
	for (int64_t n = 0; n < standing->bound[k]; n++, *low += standing->stride[k])
		stand(standing, k + 1);
	*low = before;
}

/* All that the home ever has in its tile, word by word. */
static int64_t words_at_home(const struct domain *domain, const struct mapping *mapping, int t,
	int home, const int64_t *extents)
{
	const struct hierarchy *hierarchy = domain->hierarchy;
	struct arena *arena = arena_open();
	struct standing standing = {.shape = domain->shape, .t = t, .extents = extents};
	int64_t whole[SHAPE_DIMENSIONS_MOST];
	for (int d = 0; d < domain->shape->dimension_count; d++) {
		int64_t inside = 1;
		whole[d] = domain->shape->dimensions[d].extent;
		for (int i = 0; i < hierarchy->level_count; i++) {
			const struct nest_level *level = &hierarchy->levels[i];
			inside *= mapping->rows[level->block_row].spatial[d];
			int64_t bound = level->storage ? mapping->rows[level->row].temporal[d] : 1;
			if (i > home && bound > 1) {
				standing.dimension[standing.count] = d;
				standing.bound[standing.count] = bound;
				standing.stride[standing.count++] = inside;
			}
			inside *= bound;
		}
	}
	standing.touched = arena_array(arena, bool, words_of(domain->shape, t, whole));
	stand(&standing, 0);
	arena_close(arena);
	return standing.words;
}

/* True if two instances of a level could have a part of one sum. */
static bool is_summed_apart(
	const struct domain *domain, const struct mapping *mapping, int t, int home)
{
	bool apart = false;
	for (int i = home + 1; i < domain->hierarchy->level_count; i++) {
		const struct nest_level *level = &domain->hierarchy->levels[i];
		for (int d = 0; d < domain->shape->dimension_count; d++) {
			bool moves = false;
			for (int r = 0; r < domain->shape->spaces[t].rank_count; r++)
				moves |= domain->shape->spaces[t].ranks[r].coefficient[d] != 0;
			apart |= !moves && !level->ring &&
				 mapping->rows[level->block_row].spatial[d] > 1;
		}
	}
	return apart && domain->shape->spaces[t].written;
}

static bool level_fits(
	const struct domain *domain, int i, const int64_t *extents, const struct mapping *mapping)
{
	const struct nest_level *level = &domain->hierarchy->levels[i];
	int64_t sum = 0;
	for (int t = 0; t < domain->shape->space_count; t++) {
		bool home = domain->whole_homes && home_of(domain, mapping, t) == i;
		if (home && is_summed_apart(domain, mapping, t, i))
			return false;
		if (home)
			sum += words_at_home(domain, mapping, t, i, extents);
		else if (mapping->residency[t] >> level->row & 1)
			sum += words_of(domain->shape, t, extents);
	}
	return level->size == 0 ||
	       (sum <= level->size &&
		       (double)sum >= level->store.least_utilization * (double)level->size);
}

/* Every dataspace has a loop over one of its dimensions. */
static bool goes_over(const struct shape *shape, const uint32_t *bounds, uint32_t over)
{
	for (int t = 0; t < shape->space_count; t++) {
		bool loops = false;
		for (int r = 0; r < shape->spaces[t].rank_count; r++)
			for (int d = 0; d < shape->dimension_count; d++)
				loops |= shape->spaces[t].ranks[r].coefficient[d] && bounds[d] > 1;
		if (over >> t & 1 && !loops)
			return false;
	}
	return true;
}

bool nest_mapping_fits(const struct domain *domain, const struct mapping *mapping)
{
	const struct hierarchy *hierarchy = domain->hierarchy;
	int64_t inside[SHAPE_DIMENSIONS_MOST], tile[SHAPE_DIMENSIONS_MOST], busy = 1;
	int count = domain->shape->dimension_count;
	for (int d = 0; d < count; d++)
		inside[d] = 1;
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		const struct mapping_row *block = &mapping->rows[level->block_row];
		int64_t x = 1, y = 1;
		for (int d = 0; d < count; d++) {
			*(block->spatial_y >> d & 1 ? &y : &x) *= block->spatial[d];
			inside[d] *= block->spatial[d];
			if (level->storage)
				inside[d] *= mapping->rows[level->row].temporal[d];
			tile[d] = number_min(inside[d], domain->shape->dimensions[d].extent);
		}
		busy *= x * y;
		if (!goes_over(domain->shape, block->spatial,
			    domain->rows[level->block_row].spatial_over) ||
			!goes_over(domain->shape, mapping->rows[level->row].temporal,
				domain->rows[level->row].temporal_over))
			return false;
		if (x > level->fanout.x || y > level->fanout.y ||
			(level->storage && !level_fits(domain, i, tile, mapping)))
			return false;
	}
	for (int t = 0; t < domain->shape->space_count; t++)
		if (!mapping->residency[t])
			return false;
	return (double)busy >= domain->least_parallelism * (double)hierarchy->compute_mesh_x *
				       (double)hierarchy->compute_mesh_y;
}

bool nest_space_is_small(const struct space *space, uint64_t most)
{
	uint64_t mappings = 0, factors = space_factors_count(space);
	for (uint64_t f = 0; f < factors && mappings < most; f++) {
		struct mapping mapping;
		space_factors(space, f, &mapping);
		mappings += space_rest_count(space, &mapping);
	}
	return mappings < most;
}

bool nest_any_fits(const struct space *space)
{
	struct mapping mapping;
	uint64_t count = space_factors_count(space);
	for (uint64_t f = 0; f < count; f++) {
		space_factors(space, f, &mapping);
		uint64_t rest = space_rest_count(space, &mapping);
		for (uint64_t r = 0; r < rest; r++) {
			space_rest(space, r, &mapping);
			if (nest_mapping_fits(space->domain, &mapping))
				return true;
		}
	}
	return false;
}
