#include "search/nest/feasible.h"

#include "base/arena.h"
#include "base/number.h"
#include "search/nest/fit.h"

/* The least and most that the values of a tiling can be, dimension by dimension. */
struct span_of_values {
	int64_t least, most;
};

struct feasible_question {
	const struct domain *domain;
	const struct space *space;
	bool homes; /* what homes hold depends on every bound */
	enum watch watches[FACTORS_LOOPS_MOST];
	struct span_of_values spans[SHAPE_DIMENSIONS_MOST][FACTORS_LOOPS_MOST];
	struct tilings tilings[SHAPE_DIMENSIONS_MOST];
	int order[SHAPE_DIMENSIONS_MOST]; /* dimensions, fewest tilings first */
	struct tilings_work work;
	struct mapping mapping;
	struct arena *arena;
};

static const struct nest_level *level_of(const struct feasible_question *question, int loop)
{
	return &question->domain->hierarchy->levels[question->space->levels[loop].level];
}

static const struct row_domain *row_of(const struct feasible_question *question, int loop)
{
	return &question->domain->rows[question->space->levels[loop].row];
}

/* Tiles of levels that can be full, and all instances; exactly where more may be needed, too. */
static void find_watches(struct feasible_question *question)
{
	bool busy = question->domain->least_parallelism > 0;
	question->homes = fit_minds_homes(question->domain);
	for (int loop = 0; loop < question->space->level_count; loop++) {
		const struct nest_level *level = level_of(question, loop);
		enum watch *watch = &question->watches[loop];
		if (question->space->levels[loop].spatial)
			*watch = busy || row_of(question, loop)->least_usage > 0 ? WATCH_EXACT
										 : WATCH_LEAST;
		else if (level->size)
			*watch = level->least_utilization > 0 ? WATCH_EXACT : WATCH_LEAST;
		if (question->homes)
			*watch = WATCH_EXACT;
	}
}

/* --- limits, for values of which only the span is known */

static int64_t words_of(
	const struct feasible_question *question, int loop, uint32_t spaces, bool most)
{
	const struct shape *shape = question->domain->shape;
	int64_t extents[SHAPE_DIMENSIONS_MOST], sum = 0;
	for (int d = 0; d < shape->dimension_count; d++)
		extents[d] = most ? question->spans[d][loop].most : question->spans[d][loop].least;
	for (int t = 0; t < shape->space_count; t++)
		if (spaces >> t & 1)
			sum = number_plus(sum, fit_words(shape, t, extents));
	return sum;
}

static bool tile_can_fit(const struct feasible_question *question, int loop)
{
	const struct nest_level *level = level_of(question, loop);
	const struct row_domain *row = row_of(question, loop);
	if (!level->size)
		return true;
	if (words_of(question, loop, row->keep, false) > level->size)
		return false;
	uint32_t all = (1u << question->domain->shape->space_count) - 1;
	return level->least_utilization <= 0 || question->homes ||
	       (double)words_of(question, loop, all & ~row->bypass, true) >=
		       level->least_utilization * (double)level->size;
}

static int64_t instances(const struct feasible_question *question, int loop, bool most)
{
	int64_t product = 1;
	for (int d = 0; d < question->domain->shape->dimension_count; d++)
		product = number_times(product,
			most ? question->spans[d][loop].most : question->spans[d][loop].least);
	return product;
}

static bool block_can_fit(const struct feasible_question *question, int loop)
{
	const struct nest_level *block = level_of(question, loop);
	for (int d = 0; d < question->domain->shape->dimension_count; d++)
		if (question->spans[d][loop].least > number_max(block->fanout_x, block->fanout_y))
			return false;
	int64_t all = number_times(block->fanout_x, block->fanout_y);
	return instances(question, loop, false) <= all &&
	       (double)instances(question, loop, true) / (double)all >=
		       row_of(question, loop)->least_usage;
}

static bool can_be_busy(const struct feasible_question *question)
{
	const struct hierarchy *hierarchy = question->domain->hierarchy;
	int64_t all = number_times(hierarchy->compute_mesh_x, hierarchy->compute_mesh_y), busy = 1;
	for (int loop = 0; loop < question->space->level_count; loop++)
		if (question->space->levels[loop].spatial) {
			const struct nest_level *block = level_of(question, loop);
			busy = number_times(
				busy, number_min(number_times(block->fanout_x, block->fanout_y),
					      instances(question, loop, true)));
		}
	return (double)busy >= question->domain->least_parallelism * (double)all;
}

static bool can_fit(const struct feasible_question *question, int loop)
{
	if (question->watches[loop] == WATCH_NOT)
		return true;
	return question->space->levels[loop].spatial ? block_can_fit(question, loop)
						     : tile_can_fit(question, loop);
}

static bool all_can_fit(const struct feasible_question *question)
{
	for (int loop = 0; loop < question->space->level_count; loop++)
		if (!can_fit(question, loop))
			return false;
	return can_be_busy(question);
}

/* --- one dimension */

static bool has_room(void *context, int dimension, int loop, int64_t value)
{
	struct feasible_question *question = context;
	struct span_of_values *span = &question->spans[dimension][loop], kept = *span;
	*span = (struct span_of_values){value, value};
	bool room = can_fit(question, loop);
	*span = kept;
	return room;
}

/* Bounds that are all as small as they may be. */
static struct tilings least_bounds(const struct feasible_question *question, int dimension)
{
	int64_t *bounds = arena_array(question->arena, int64_t, FACTORS_LOOPS_MOST);
	int64_t *values = arena_array(question->arena, int64_t, FACTORS_LOOPS_MOST), inside = 1;
	for (int loop = 0; loop < question->space->level_count; loop++) {
		const struct row_domain *row = row_of(question, loop);
		bool spatial = question->space->levels[loop].spatial;
		bounds[loop] =
			spatial ? row->spatial[dimension].least : row->temporal[dimension].least;
		inside = number_times(inside, bounds[loop]);
		values[loop] = spatial ? bounds[loop] : inside;
	}
	struct dimension_tiling *tiling = arena_new(question->arena, struct dimension_tiling);
	*tiling = (struct dimension_tiling){values, bounds};
	return (struct tilings){1, tiling, true};
}

/* False if no bounds make up the extent. */
static bool find_span(struct feasible_question *question, int dimension, bool any_extent)
{
	struct span_of_values *spans = question->spans[dimension];
	int64_t extent = question->domain->shape->dimensions[dimension].extent;
	if (any_extent) {
		question->tilings[dimension] = least_bounds(question, dimension);
		for (int loop = 0; loop < question->space->level_count; loop++)
			spans[loop].least = spans[loop].most =
				question->tilings[dimension].at[0].values[loop];
		return true;
	}
	const struct factors *factors = question->space->factors[dimension];
	if (!factors_count(factors))
		return false;
	const struct factor_range *ranges = factors_ranges(factors);
	for (int loop = 0; loop < question->space->level_count; loop++) {
		const struct factor_range *range = &ranges[loop];
		spans[loop] = (struct span_of_values){range->least, range->most};
		if (!question->space->levels[loop].spatial)
			spans[loop] =
				(struct span_of_values){number_min(extent, range->least_inside),
					number_min(extent, range->most_inside)};
	}
	return true;
}

/* --- all dimensions */

static bool fits(struct feasible_question *question)
{
	const struct shape *shape = question->domain->shape;
	struct fit_words words = {.homes = false};
	for (int loop = 0; loop < question->space->level_count; loop++)
		for (int t = 0; t < shape->space_count; t++)
			if (!question->space->levels[loop].spatial &&
				question->watches[loop] != WATCH_NOT)
				words.tile[question->space->levels[loop].level][t] =
					words_of(question, loop, 1u << t, false);
	space_set_orders(question->space, &question->mapping);
	if (!fit_axes(question->space, &question->mapping))
		return false;
	if (question->homes)
		fit_homes(question->domain, &question->mapping, &words);
	return fit_residency(question->domain, &words, &question->mapping);
}

/* Dimensions order[from ...] are left: their spans are all that is known of them. */
static enum verdict complete(struct feasible_question *question, int from)
{
	question->work.done++;
	if (work_is_out(&question->work))
		return VERDICT_OPEN;
	if (!all_can_fit(question))
		return VERDICT_NO;
	if (from == question->domain->shape->dimension_count)
		return fits(question) ? VERDICT_YES : VERDICT_NO;
	int d = question->order[from];
	struct span_of_values spans[FACTORS_LOOPS_MOST];
	for (int loop = 0; loop < question->space->level_count; loop++)
		spans[loop] = question->spans[d][loop];
	enum verdict verdict = VERDICT_NO;
	for (size_t i = 0; i < question->tilings[d].count && verdict == VERDICT_NO; i++) {
		const struct dimension_tiling *tiling = &question->tilings[d].at[i];
		for (int loop = 0; loop < question->space->level_count; loop++)
			question->spans[d][loop].least = question->spans[d][loop].most =
				tiling->values[loop];
		space_set_factors(question->space, d, tiling->bounds, &question->mapping);
		verdict = complete(question, from + 1);
	}
	for (int loop = 0; loop < question->space->level_count; loop++)
		question->spans[d][loop] = spans[loop];
	return verdict;
}

static void sort_dimensions(struct feasible_question *question)
{
	for (int d = 0; d < question->domain->shape->dimension_count; d++) {
		int i = d;
		for (; i > 0 && question->tilings[question->order[i - 1]].count >
					question->tilings[d].count;
			i--)
			question->order[i] = question->order[i - 1];
		question->order[i] = d;
	}
}

static enum verdict answer(struct feasible_question *question, uint32_t any_extent)
{
	int count = question->domain->shape->dimension_count;
	for (int d = 0; d < count; d++)
		if (!find_span(question, d, any_extent >> d & 1))
			return VERDICT_NO;
	if (!all_can_fit(question))
		return VERDICT_NO;
	for (int d = 0; d < count; d++) {
		struct tilings_question one = {
			question->space, d, question->watches, has_room, question};
		if (!(any_extent >> d & 1))
			question->tilings[d] = tilings_find(&one, &question->work, question->arena);
		if (!question->tilings[d].complete)
			return VERDICT_OPEN;
	}
	sort_dimensions(question);
	return complete(question, 0);
}

/* Without asking for loops over dataspaces. */
static struct feasible find_any(struct factors_store *store, const struct domain *domain,
	uint32_t any_extent, uint64_t work_most)
{
	struct arena *arena = arena_open();
	struct feasible_question *question = arena_new(arena, struct feasible_question);
	question->domain = domain;
	question->space = space_make_from(store, arena, domain);
	question->work.most = work_most;
	question->work.stopper = store ? &store->stopper : NULL;
	question->arena = arena;
	struct feasible feasible = {.verdict = VERDICT_OPEN};
	if (question->space) {
		question->mapping = question->space->blank;
		find_watches(question);
		feasible.verdict = answer(question, any_extent);
		feasible.witness = question->mapping;
		feasible.work = question->work.done;
	}
	arena_close(arena);
	return feasible;
}

/* The loops of a row that lack one over a dataspace; false if none do. */
static bool find_missing(const struct domain *domain, const struct mapping *mapping, int *row,
	bool *spatial, uint32_t *loops)
{
	for (int r = 0; r < domain->arch->level_count; r++)
		for (int part = 0; part < 2; part++) {
			const uint32_t *bounds =
				part ? mapping->rows[r].spatial : mapping->rows[r].temporal;
			uint32_t over =
				part ? domain->rows[r].spatial_over : domain->rows[r].temporal_over;
			uint32_t busy = 0;
			for (int d = 0; d < domain->shape->dimension_count; d++)
				busy |= (uint32_t)(bounds[d] > 1) << d;
			for (; over; over &= over - 1) {
				int t = __builtin_ctz(over);
				*row = r;
				*spatial = part;
				*loops = domain->shape->spaces[t].relevant;
				if (!(*loops & busy))
					return true;
			}
		}
	return false;
}

/* Where the mapping that was found lacks a loop over a dataspace, each dimension that could be the
 * one is tried. */
struct feasible feasible_find_from(struct factors_store *store, const struct domain *domain,
	uint32_t any_extent, uint64_t work_most)
{
	struct feasible feasible = find_any(store, domain, any_extent, work_most);
	uint32_t loops;
	int row;
	bool spatial, open = false;
	if (feasible.verdict != VERDICT_YES ||
		!find_missing(domain, &feasible.witness, &row, &spatial, &loops))
		return feasible;
	uint64_t work = feasible.work;
	struct arena *arena = arena_open();
	for (; loops; loops &= loops - 1) {
		int d = __builtin_ctz(loops);
		struct domain *with = arena_copy(arena, domain, sizeof *domain);
		struct factor_domain *factor =
			spatial ? &with->rows[row].spatial[d] : &with->rows[row].temporal[d];
		if (factor->most < 2 || work >= work_most) {
			open |= factor->most >= 2;
			continue;
		}
		factor->least = number_max(factor->least, 2);
		feasible = feasible_find_from(store, with, any_extent, work_most - work);
		work += feasible.work;
		if (feasible.verdict == VERDICT_YES)
			break;
		open |= feasible.verdict == VERDICT_OPEN;
	}
	arena_close(arena);
	if (!loops)
		feasible.verdict = open ? VERDICT_OPEN : VERDICT_NO;
	feasible.work = work;
	return feasible;
}

struct feasible feasible_find(const struct domain *domain, uint64_t work_most)
{
	return feasible_find_from(NULL, domain, 0, work_most);
}
