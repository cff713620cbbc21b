#include "tests/support/nest_case.h"

static bool is_perfect(const struct nest_case *nest, int d)
{
	int64_t all = 1;
	for (int r = 0; r < nest->mapping.level_count; r++)
		all *= (int64_t)nest->mapping.rows[r].spatial[d] *
		       nest->mapping.rows[r].temporal[d];
	return all == nest->shape.dimensions[d].extent;
}

/* The outermost storage, whose loops can be longer without a change inside. */
static int outermost(const struct nest_case *nest)
{
	int level = nest->hierarchy.level_count - 1;
	while (!nest->hierarchy.levels[level].storage)
		level--;
	return level;
}

static void grow_block(struct nest_case *nest, int level, bool along_y, uint32_t factor)
{
	for (int i = 0; i <= level; i++) {
		struct nest_level *inner = &nest->hierarchy.levels[i];
		if (i == level)
			*(along_y ? &inner->fanout.y : &inner->fanout.x) *= factor;
		else
			*(along_y ? &inner->mesh_y : &inner->mesh_x) *= factor;
	}
	*(along_y ? &nest->hierarchy.compute_mesh_y : &nest->hierarchy.compute_mesh_x) *= factor;
}

static void grow_loop(struct random *random, int64_t extent_most, struct nest_case *nest, int d)
{
	int64_t *extent = &nest->shape.dimensions[d].extent;
	int level = (int)random_below(random, (uint64_t)nest->hierarchy.level_count);
	bool spatial = random_below(random, 4) == 0, perfect = is_perfect(nest, d);
	if (!perfect) {
		level = outermost(nest);
		spatial = false;
	}
	if (!spatial && !nest->hierarchy.levels[level].storage)
		return;
	int64_t most = extent_most / *extent;
	uint32_t bits = (uint32_t)random_below(random, spatial ? 3 : 31);
	uint64_t factor = 1 + random_below(random, UINT64_C(1) << bits);
	if ((int64_t)factor > most)
		return;
	struct mapping_row *row =
		spatial ? nest_case_spatial(nest, level) : nest_case_temporal(nest, level);
	uint32_t *bound = spatial ? &row->spatial[d] : &row->temporal[d];
	struct nest_case before = *nest;
	if (perfect) {
		*extent *= (int64_t)factor;
	} else { /* all rounds but the last are whole */
		int64_t inside = 1;
		for (int r = 0; r < nest->mapping.level_count; r++)
			inside *= (int64_t)nest->mapping.rows[r].spatial[d] *
				  nest->mapping.rows[r].temporal[d];
		inside /= *bound;
		*extent += inside * *bound * ((int64_t)factor - 1);
	}
	*bound *= (uint32_t)factor;
	if (spatial)
		grow_block(nest, level, row->spatial_y >> d & 1, (uint32_t)factor);
	if (*extent > extent_most || !nest_case_fits(nest))
		*nest = before;
}

void nest_case_grow(struct random *random, int64_t extent_most, struct nest_case *nest)
{
	int times = 1 + (int)random_below(random, 8);
	for (int i = 0; i < times; i++)
		grow_loop(random, extent_most, nest,
			(int)random_below(random, (uint64_t)nest->shape.dimension_count));
}
