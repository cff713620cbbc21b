#include "sim/nest_check.h"

/* The loops of one dimension, innermost first; a level's temporal loop and that of its block. */
struct factor {
	int64_t bound, inside; /* inside: the product of the bounds further in */
	int level;
	bool spatial;
};

struct factors {
	int count;
	struct factor at[2 * ARCH_LEVELS_MOST];
};

/* False if the product does not fit, or a bound is 0. */
static bool list_factors(const struct hierarchy *hierarchy, const struct mapping *mapping, int d,
	struct factors *out)
{
	int64_t inside = 1;
	out->count = 0;
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		int64_t bounds[2] = {
			level->block_row < 0 ? 1 : mapping->rows[level->block_row].spatial[d],
			mapping->rows[level->row].temporal[d]};
		for (int k = 0; k < 2; k++) {
			out->at[out->count++] = (struct factor){bounds[k], inside, i, k == 0};
			if (bounds[k] < 1 || !number_mul(inside, bounds[k], &inside))
				return false;
		}
	}
	return true;
}

/* No loop is longer than it must be, and the outermost is as long. */
static bool make_extent(const struct factors *factors, int64_t extent)
{
	for (int k = 0; k < factors->count; k++) {
		int64_t needed = number_ceil_div(extent, factors->at[k].inside);
		bool outermost = k == factors->count - 1;
		if (factors->at[k].bound > needed || (outermost && factors->at[k].bound != needed))
			return false;
	}
	return true;
}

static bool fit_fanout(
	const struct hierarchy *hierarchy, const struct shape *shape, const struct mapping *mapping)
{
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		int64_t along[2] = {1, 1};
		for (int d = 0; level->block_row >= 0 && d < shape->dimension_count; d++) {
			const struct mapping_row *row = &mapping->rows[level->block_row];
			int64_t *side = &along[row->spatial_y >> d & 1];
			if (!number_mul(*side, row->spatial[d], side))
				return false;
		}
		if (along[0] > level->fanout_x || along[1] > level->fanout_y)
			return false;
	}
	return true;
}

/* Words of the tile of the first instance at the first step, which no tile exceeds. */
static bool size_tile(
	const struct shape *shape, int t, const struct factors *factors, int level, int64_t *words)
{
	const struct dataspace *space = &shape->spaces[t];
	*words = 1;
	for (int r = 0; r < space->rank_count; r++) {
		int64_t side = 1;
		for (int d = 0; d < shape->dimension_count; d++) {
			const struct factor *own = &factors[d].at[2 * level + 1];
			int64_t span =
				number_min(own->inside * own->bound, shape->dimensions[d].extent);
			int64_t reach;
			if (!number_mul(space->ranks[r].coefficient[d], span - 1, &reach) ||
				!number_add(side, reach, &side))
				return false;
		}
		if (!number_mul(*words, side, words))
			return false;
	}
	return true;
}

/* The innermost level that does not take its tiles has the verdict.  False if a number does not
 * fit. */
static bool check_tiles(const struct hierarchy *hierarchy, const struct shape *shape,
	const struct mapping *mapping, const struct factors *factors, struct nest_counts *counts,
	enum nest_verdict *verdict)
{
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		int64_t together = 0;
		for (int t = 0; t < shape->space_count; t++) {
			int64_t *words = &counts->at[i][t].capacity;
			if (!level->storage || !(mapping->residency[t] >> level->row & 1))
				continue;
			if (!size_tile(shape, t, &factors[0], i, words) ||
				!number_add(together, *words, &together))
				return false;
		}
		if (*verdict != NEST_FITS)
			continue;
		if ((level->size || level->no_room) && together > level->size)
			*verdict = NEST_CAPACITY;
		else if ((double)together < level->least_utilization * (double)level->size)
			*verdict = NEST_UTILIZATION;
	}
	return true;
}

/* How many of the tuples of spatial (or temporal) indices of levels >= `level` exist. */
static int64_t count_tuples(const struct factors *factors, int64_t extent, int level, bool spatial)
{
	int64_t whole[2 * ARCH_LEVELS_MOST + 1] = {1}, tuples = 0;
	for (int k = 0; k < factors->count; k++) {
		const struct factor *factor = &factors->at[k];
		bool counts = factor->spatial == spatial && factor->level >= level;
		whole[k + 1] = whole[k] * (counts ? factor->bound : 1);
	}
	int64_t left = extent;
	for (int k = factors->count - 1; k >= 0; k--) {
		const struct factor *factor = &factors->at[k];
		if (factor->spatial != spatial || factor->level < level)
			continue;
		int64_t rounds = number_min(factor->bound, number_ceil_div(left, factor->inside));
		tuples += (rounds - 1) * whole[k];
		left -= (rounds - 1) * factor->inside;
	}
	return tuples + 1;
}

static bool list_all(const struct hierarchy *hierarchy, const struct shape *shape,
	const struct mapping *mapping, struct factors *factors)
{
	for (int d = 0; d < shape->dimension_count; d++) {
		if (!list_factors(hierarchy, mapping, d, &factors[d]) ||
			!make_extent(&factors[d], shape->dimensions[d].extent))
			return false;
	}
	return true;
}

static bool has_home(const struct hierarchy *hierarchy, const struct mapping *mapping, int t)
{
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		if (level->storage && mapping->residency[t] >> level->row & 1)
			return true;
	}
	return false;
}

enum nest_verdict nest_check(const struct hierarchy *hierarchy, const struct shape *shape,
	const struct mapping *mapping, struct nest_counts *counts)
{
	struct factors factors[SHAPE_DIMENSIONS_MOST];
	enum nest_verdict verdict = NEST_FITS;
	int64_t computes;
	if (shape_writes_overlap(shape))
		return NEST_UNCOUNTABLE;
	if (!list_all(hierarchy, shape, mapping, factors))
		return NEST_FACTORS;
	if (!fit_fanout(hierarchy, shape, mapping))
		return NEST_FANOUT;
	for (int t = 0; t < shape->space_count; t++) {
		int64_t words;
		if (!has_home(hierarchy, mapping, t))
			return NEST_HOMELESS;
		if (!size_tile(shape, t, factors, hierarchy->level_count - 1, &words))
			return NEST_OVERFLOW;
	}
	if (!shape_computes(shape, &computes) ||
		!check_tiles(hierarchy, shape, mapping, factors, counts, &verdict))
		return NEST_OVERFLOW;
	counts->utilized_computes = 1;
	for (int i = 0; i < hierarchy->level_count; i++)
		counts->utilized[i] = 1;
	for (int d = 0; d < shape->dimension_count; d++) {
		int64_t extent = shape->dimensions[d].extent;
		counts->utilized_computes *= count_tuples(&factors[d], extent, 0, true);
		for (int i = 0; i < hierarchy->level_count; i++)
			counts->utilized[i] *= count_tuples(&factors[d], extent, i + 1, true);
	}
	const struct nest_level *inner = hierarchy->levels;
	while (!inner->storage)
		inner++;
	double parallel = (double)counts->utilized_computes /
			  ((double)hierarchy->compute_mesh_x * (double)hierarchy->compute_mesh_y);
	if (verdict == NEST_FITS && parallel < hierarchy->least_parallelism)
		verdict = NEST_UTILIZATION;
	return verdict;
}

int64_t nest_check_work(
	const struct hierarchy *hierarchy, const struct shape *shape, const struct mapping *mapping)
{
	struct factors factors;
	int64_t work = 1;
	for (int d = 0; d < shape->dimension_count; d++) {
		list_factors(hierarchy, mapping, d, &factors);
		int64_t extent = shape->dimensions[d].extent;
		int64_t steps = count_tuples(&factors, extent, 0, false);
		if (!number_mul(work, steps, &work))
			return INT64_MAX;
		for (int k = 0; k < factors.count; k++) {
			if (factors.at[k].spatial && !number_mul(work, factors.at[k].bound, &work))
				return INT64_MAX;
		}
	}
	return work;
}
