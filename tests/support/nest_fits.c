#include "tests/support/nest_fits.h"

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

static bool level_fits(const struct domain *domain, const struct nest_level *level,
	const int64_t *extents, const struct mapping *mapping)
{
	int64_t sum = 0;
	for (int t = 0; t < domain->shape->space_count; t++)
		if (mapping->residency[t] >> level->row & 1)
			sum += words_of(domain->shape, t, extents);
	return level->size == 0 ||
	       (sum <= level->size &&
		       (double)sum >= level->least_utilization * (double)level->size);
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
		if (x > level->fanout_x || y > level->fanout_y ||
			(level->storage && !level_fits(domain, level, tile, mapping)))
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
