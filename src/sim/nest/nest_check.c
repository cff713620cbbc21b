#include "sim/nest/nest_check.h"

#include "sim/nest/nest_lay.h"

/* The loops of one dimension, innermost first; a level's temporal loop and that of its block. */
struct checked_factor {
	int64_t bound, inside; /* inside: the product of the bounds further in */
	int level;
	bool spatial;
};

struct checked_factors {
	int count;
	struct checked_factor at[2 * ARCH_LEVELS_MOST];
};

/* False if the product does not fit, or a bound is 0. */
static bool list_factors(const struct hierarchy *hierarchy, const struct mapping *mapping, int d,
	struct checked_factors *out)
{
	int64_t inside = 1;
	out->count = 0;
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		int64_t bounds[2] = {
			level->block_row < 0 ? 1 : mapping->rows[level->block_row].spatial[d],
			mapping->rows[hierarchy_loops_row(hierarchy, level)].temporal[d]};
		for (int k = 0; k < 2; k++) {
			out->at[out->count++] =
				(struct checked_factor){bounds[k], inside, i, k == 0};
			if (bounds[k] < 1 || !number_mul(inside, bounds[k], &inside))
				return false;
		}
	}
	return true;
}

/* No loop is longer than it must be, and the outermost is as long. */
static bool make_extent(const struct checked_factors *factors, int64_t extent)
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
static bool size_tile(const struct shape *shape, int t, const struct checked_factors *factors,
	int level, int64_t *words)
{
	const struct dataspace *space = &shape->spaces[t];
	*words = 1;
	for (int r = 0; r < space->rank_count; r++) {
		int64_t side = 1;
		for (int d = 0; d < shape->dimension_count; d++) {
			const struct checked_factor *own = &factors[d].at[2 * level + 1];
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

/* True if no level outside keeps it. */
static bool is_home(
	const struct hierarchy *hierarchy, const struct mapping *mapping, int t, int level)
{
	for (int i = level + 1; i < hierarchy->level_count; i++)
		if (hierarchy->levels[i].storage &&
			mapping->residency[t] >> hierarchy->levels[i].row & 1)
			return false;
	return true;
}

/* All that the first instance of a level ever has in its tile. */
static enum nest_verdict size_home(const struct shape *shape, int t,
	const struct checked_factors *factors, int level, int64_t *words)
{
	struct nest_reach reaches[SHAPE_DIMENSIONS_MOST];
	for (int d = 0; d < shape->dimension_count; d++) {
		const struct checked_factor *own = &factors[d].at[2 * level + 1];
		struct nest_reach *reach = &reaches[d];
		*reach = (struct nest_reach){.extent = shape->dimensions[d].extent};
		reach->tile = number_min(own->inside * own->bound, reach->extent);
		for (int k = factors[d].count - 1; k > 2 * level + 1; k--) {
			const struct checked_factor *factor = &factors[d].at[k];
			if (factor->spatial || factor->bound == 1)
				continue;
			reach->bound[reach->count] = factor->bound;
			reach->stride[reach->count++] = factor->inside;
		}
	}
	bool moves = false;
	for (int d = 0; d < shape->dimension_count; d++)
		moves |= reaches[d].count && shape->spaces[t].relevant >> d & 1;
	return moves ? nest_homes_mark(shape, t, reaches, words) : NEST_FITS;
}

/* The innermost level that does not take its tiles has the verdict, unless a number does not fit. */
static enum nest_verdict check_tiles(const struct hierarchy *hierarchy, const struct shape *shape,
	const struct mapping *mapping, const struct checked_factors *factors,
	struct nest_counts *counts)
{
	enum nest_verdict verdict = NEST_FITS;
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		int64_t together = 0;
		for (int t = 0; t < shape->space_count; t++) {
			int64_t *words = &counts->at[i][t].capacity;
			if (!level->storage || !(mapping->residency[t] >> level->row & 1))
				continue;
			bool home = is_home(hierarchy, mapping, t, i);
			enum nest_verdict sized = NEST_OVERFLOW;
			if (size_tile(shape, t, &factors[0], i, words))
				sized = home ? size_home(shape, t, factors, i, words) : NEST_FITS;
			if (sized == NEST_FITS && !number_add(together, *words, &together))
				sized = NEST_OVERFLOW;
			if (sized != NEST_FITS)
				return sized;
		}
		if (verdict != NEST_FITS)
			continue;
		if ((level->size || level->no_room) && together > level->size)
			verdict = NEST_CAPACITY;
		else if ((double)together < level->least_utilization * (double)level->size)
			verdict = NEST_UTILIZATION;
	}
	return verdict;
}

/* How many of the tuples of spatial (or temporal) indices of levels >= `level` exist. */
static int64_t count_tuples(
	const struct checked_factors *factors, int64_t extent, int level, bool spatial)
{
	int64_t whole[2 * ARCH_LEVELS_MOST + 1] = {1}, tuples = 0;
	for (int k = 0; k < factors->count; k++) {
		const struct checked_factor *factor = &factors->at[k];
		bool counts = factor->spatial == spatial && factor->level >= level;
		whole[k + 1] = whole[k] * (counts ? factor->bound : 1);
	}
	int64_t left = extent;
	for (int k = factors->count - 1; k >= 0; k--) {
		const struct checked_factor *factor = &factors->at[k];
		if (factor->spatial != spatial || factor->level < level)
			continue;
		int64_t rounds = number_min(factor->bound, number_ceil_div(left, factor->inside));
		tuples += (rounds - 1) * whole[k];
		left -= (rounds - 1) * factor->inside;
	}
	return tuples + 1;
}

static bool list_all(const struct hierarchy *hierarchy, const struct shape *shape,
	const struct mapping *mapping, struct checked_factors *factors)
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
	struct checked_factors factors[SHAPE_DIMENSIONS_MOST];
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
	if (!shape_computes(shape, &computes))
		return NEST_OVERFLOW;
	enum nest_verdict verdict = check_tiles(hierarchy, shape, mapping, factors, counts);
	if (!nest_verdict_counts(verdict))
		return verdict;
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
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		double busy = 1;
		for (int d = 0; d < shape->dimension_count; d++)
			busy *= mapping->rows[level->block_row].spatial[d];
		busy /= (double)level->fanout_x * (double)level->fanout_y;
		if (verdict == NEST_FITS && busy < level->least_usage)
			verdict = NEST_IDLE;
	}
	return verdict;
}

int64_t nest_check_work(
	const struct hierarchy *hierarchy, const struct shape *shape, const struct mapping *mapping)
{
	struct checked_factors factors;
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
