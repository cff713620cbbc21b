#include "search/nest/feasible.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "cost/nest/nest_home.h"

static size_t find_divisor(const struct divisors *divisors, int64_t value)
{
	size_t at;
	bisect(at, 0, divisors->count, divisors->at[at] < value);
	return at;
}

bool completions_make_up(const struct completions *completions, int j, int d, int64_t product)
{
	const struct divisors *divisors = &completions->divisors[d];
	if (j < 0)
		return product == 1;
	return completions->makes[d][(size_t)j * divisors->count + find_divisor(divisors, product)];
}

static bool find_makes(const struct completions *completions, const struct factor_domain *factor,
	int j, int d, int64_t product)
{
	const struct divisors *divisors = &completions->divisors[d];
	for (size_t k = 0; k < divisors->count && divisors->at[k] <= product; k++) {
		int64_t bound = divisors->at[k];
		if (product % bound == 0 && bound >= factor->least && bound <= factor->most &&
			completions_make_up(completions, j - 1, d, product / bound))
			return true;
	}
	return false;
}

struct completions *completions_make(struct arena *arena, const struct space *space)
{
	struct completions *completions = arena_new(arena, struct completions);
	const struct shape *shape = space->domain->shape;
	for (int i = 0; i < space->level_count; i++)
		if (!space->levels[i].spatial) {
			completions->level[completions->count] = space->levels[i].level;
			completions->tiling[completions->count++] = i;
		}
	for (int d = 0; d < shape->dimension_count; d++) {
		struct divisors *divisors = &completions->divisors[d];
		*divisors = number_divisors(arena, shape->dimensions[d].extent);
		bool *makes =
			arena_array(arena, bool, (size_t)completions->count * divisors->count);
		completions->makes[d] = makes;
		for (int j = 0; j < completions->count; j++) {
			int row = space->levels[completions->tiling[j]].row;
			const struct factor_domain *factor = &space->domain->rows[row].temporal[d];
			for (size_t k = 0; k < divisors->count; k++)
				makes[(size_t)j * divisors->count + k] =
					find_makes(completions, factor, j, d, divisors->at[k]);
		}
	}
	return completions;
}

int64_t fit_words(const struct shape *shape, int space, const int64_t *extents)
{
	int64_t words;
	bool fits = nest_words(&shape->spaces[space], shape->dimension_count, extents, &words);
	return fits ? words : INT64_MAX;
}

/* --- axes */

static int64_t feasible_along(const uint32_t *bounds, uint32_t loops)
{
	int64_t product = 1;
	for (; loops; loops &= loops - 1)
		product = number_times(product, bounds[__builtin_ctz(loops)]);
	return product;
}

static bool fit_block(
	const struct space *space, const struct tiling_level *level, struct mapping *mapping)
{
	const struct nest_level *block = &space->domain->hierarchy->levels[level->level];
	const uint32_t *bounds = mapping->rows[level->row].spatial;
	uint32_t busy = 0;
	for (int d = 0; d < space->domain->shape->dimension_count; d++)
		busy |= (uint32_t)(bounds[d] > 1) << d;
	if (feasible_along(bounds, busy) > number_times(block->fanout.x, block->fanout.y))
		return false;
	for (uint32_t x = busy;; x = (x - 1) & busy) { /* all subsets, all of them first */
		if (feasible_along(bounds, x) <= block->fanout.x &&
			feasible_along(bounds, busy & ~x) <= block->fanout.y &&
			space_set_axes(space, level, x, mapping))
			return true;
		if (!x)
			return false;
	}
}

bool fit_axes(const struct space *space, struct mapping *mapping)
{
	for (int i = 0; i < space->level_count; i++)
		if (space->levels[i].spatial && !fit_block(space, &space->levels[i], mapping))
			return false;
	return true;
}

/* --- residency */

enum { SETS = 1 << SHAPE_SPACES_MOST };

bool fit_minds_homes(const struct domain *domain)
{
	const struct nest_level *outermost =
		&domain->hierarchy->levels[domain->hierarchy->level_count - 1];
	uint32_t all = (1u << domain->shape->space_count) - 1;
	return domain->whole_homes &&
	       !(outermost->storage && domain->rows[outermost->row].keep == all);
}

void fit_homes(const struct domain *domain, const struct mapping *mapping, struct fit_words *out)
{
	const struct hierarchy *hierarchy = domain->hierarchy;
	const struct shape *shape = domain->shape;
	out->homes = true;
	for (int i = 0; i < hierarchy->level_count; i++)
		for (int t = 0; hierarchy->levels[i].storage && t < shape->space_count; t++) {
			int64_t *words = &out->home[i][t];
			bool apart = nest_home_parts(hierarchy, shape, mapping, t, i) > 1;
			if (apart || nest_home_words(hierarchy, shape, mapping, t, i, words) !=
					     NEST_FITS)
				*words = -1;
		}
}

/* `outside`: what has a home outside. */
static bool level_holds(const struct nest_level *level, int i, const struct fit_words *words,
	uint32_t set, uint32_t outside)
{
	int64_t sum = 0;
	for (uint32_t left = set; left; left &= left - 1) {
		int t = __builtin_ctz(left);
		int64_t own =
			words->homes && !(outside >> t & 1) ? words->home[i][t] : words->tile[i][t];
		if (own < 0)
			return false;
		sum = number_plus(sum, own);
	}
	return !level->size ||
	       (sum <= level->size &&
		       (double)sum >= level->store.least_utilization * (double)level->size);
}

/* For each set of dataspaces: whether the levels so far can give a home to just these, what the
 * last of them keeps then, and which set had one before. */
struct fit_home {
	bool met;
	uint16_t kept, before;
};

static void pass_level(const struct domain *domain, int level, const struct fit_words *words,
	const struct fit_home *before, struct fit_home *out)
{
	const struct nest_level *at = &domain->hierarchy->levels[level];
	const struct row_domain *row = &domain->rows[at->row];
	uint32_t all = (1u << domain->shape->space_count) - 1;
	uint32_t most = at->storage ? all & ~row->bypass : 0;
	for (uint32_t set = 0; set <= all; set++)
		out[set] = (struct fit_home){0};
	for (uint32_t kept = most;; kept = (kept - 1) & most) { /* all subsets */
		bool holds = (row->keep & ~kept) == 0 &&
			     (words->homes || level_holds(at, level, words, kept, all));
		for (uint32_t set = 0; holds && set <= all; set++)
			if (before[set].met && !out[set | kept].met &&
				(!words->homes || level_holds(at, level, words, kept, set)))
				out[set | kept] =
					(struct fit_home){true, (uint16_t)kept, (uint16_t)set};
		if (!kept)
			return;
	}
}

/* From the innermost level outwards; where homes are not like other levels, from the outermost
 * one inwards. */
bool fit_residency(
	const struct domain *domain, const struct fit_words *words, struct mapping *mapping)
{
	struct fit_home homes[ARCH_LEVELS_MOST + 1][SETS];
	int count = domain->hierarchy->level_count, spaces = domain->shape->space_count;
	for (uint32_t set = 0; set < 1u << spaces; set++)
		homes[0][set] = (struct fit_home){.met = set == 0};
	for (int k = 0; k < count; k++)
		pass_level(domain, words->homes ? count - 1 - k : k, words, homes[k], homes[k + 1]);
	uint32_t set = (1u << spaces) - 1;
	if (!homes[count][set].met)
		return false;
	for (int t = 0; t < spaces; t++)
		mapping->residency[t] = 0;
	for (int k = count - 1; k >= 0; k--) {
		const struct fit_home *home = &homes[k + 1][set];
		int level = words->homes ? count - 1 - k : k;
		for (int t = 0; t < spaces; t++)
			if (home->kept >> t & 1)
				mapping->residency[t] |= 1u << domain->hierarchy->levels[level].row;
		set = home->before;
	}
	return true;
}

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

static const struct nest_level *feasible_question_level(
	const struct feasible_question *question, int loop)
{
	return &question->domain->hierarchy->levels[question->space->levels[loop].level];
}

static const struct row_domain *feasible_row(const struct feasible_question *question, int loop)
{
	return &question->domain->rows[question->space->levels[loop].row];
}

/* Tiles of levels that can be full, and all instances; exactly where more may be needed, too. */
static void find_watches(struct feasible_question *question)
{
	bool busy = question->domain->least_parallelism > 0;
	question->homes = fit_minds_homes(question->domain);
	for (int loop = 0; loop < question->space->level_count; loop++) {
		const struct nest_level *level = feasible_question_level(question, loop);
		enum watch *watch = &question->watches[loop];
		if (question->space->levels[loop].spatial)
			*watch = busy || feasible_row(question, loop)->least_usage > 0
					 ? WATCH_EXACT
					 : WATCH_LEAST;
		else if (level->size)
			*watch = level->store.least_utilization > 0 ? WATCH_EXACT : WATCH_LEAST;
		if (question->homes)
			*watch = WATCH_EXACT;
	}
}

/* --- limits, for values of which only the span is known */

static int64_t feasible_question_words(
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
	const struct nest_level *level = feasible_question_level(question, loop);
	const struct row_domain *row = feasible_row(question, loop);
	if (!level->size)
		return true;
	if (feasible_question_words(question, loop, row->keep, false) > level->size)
		return false;
	uint32_t all = (1u << question->domain->shape->space_count) - 1;
	return level->store.least_utilization <= 0 || question->homes ||
	       (double)feasible_question_words(question, loop, all & ~row->bypass, true) >=
		       level->store.least_utilization * (double)level->size;
}

static int64_t feasible_question_instances(
	const struct feasible_question *question, int loop, bool most)
{
	int64_t product = 1;
	for (int d = 0; d < question->domain->shape->dimension_count; d++)
		product = number_times(product,
			most ? question->spans[d][loop].most : question->spans[d][loop].least);
	return product;
}

static bool block_can_fit(const struct feasible_question *question, int loop)
{
	const struct nest_level *block = feasible_question_level(question, loop);
	for (int d = 0; d < question->domain->shape->dimension_count; d++)
		if (question->spans[d][loop].least > number_max(block->fanout.x, block->fanout.y))
			return false;
	int64_t all = number_times(block->fanout.x, block->fanout.y);
	return feasible_question_instances(question, loop, false) <= all &&
	       (double)feasible_question_instances(question, loop, true) / (double)all >=
		       feasible_row(question, loop)->least_usage;
}

static bool can_be_busy(const struct feasible_question *question)
{
	const struct hierarchy *hierarchy = question->domain->hierarchy;
	int64_t all = number_times(hierarchy->compute_mesh_x, hierarchy->compute_mesh_y), busy = 1;
	for (int loop = 0; loop < question->space->level_count; loop++)
		if (question->space->levels[loop].spatial) {
			const struct nest_level *block = feasible_question_level(question, loop);
			busy = number_times(
				busy, number_min(number_times(block->fanout.x, block->fanout.y),
					      feasible_question_instances(question, loop, true)));
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
		const struct row_domain *row = feasible_row(question, loop);
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

static bool question_fits(struct feasible_question *question)
{
	const struct shape *shape = question->domain->shape;
	struct fit_words words = {.homes = false};
	for (int loop = 0; loop < question->space->level_count; loop++)
		for (int t = 0; t < shape->space_count; t++)
			if (!question->space->levels[loop].spatial &&
				question->watches[loop] != WATCH_NOT)
				words.tile[question->space->levels[loop].level][t] =
					feasible_question_words(question, loop, 1u << t, false);
	space_set_orders(question->space, &question->mapping);
	if (!fit_axes(question->space, &question->mapping))
		return false;
	if (question->homes)
		fit_homes(question->domain, &question->mapping, &words);
	return fit_residency(question->domain, &words, &question->mapping);
}

/* Dimensions order[from ...] are left: their spans are all that is known of them. */
static enum verdict feasible_question_complete(struct feasible_question *question, int from)
{
	question->work.done++;
	if (work_is_out(&question->work))
		return VERDICT_OPEN;
	if (!all_can_fit(question))
		return VERDICT_NO;
	if (from == question->domain->shape->dimension_count)
		return question_fits(question) ? VERDICT_YES : VERDICT_NO;
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
		verdict = feasible_question_complete(question, from + 1);
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

static enum verdict feasible_question_answer(
	struct feasible_question *question, uint32_t any_extent)
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
	return feasible_question_complete(question, 0);
}

/* Choices between two calls of the stopper. */
enum { STOP_CHOICES = 16 };

/* Without asking for loops over dataspaces. */
static struct feasible find_any(struct factors_store *store, const struct domain *domain,
	uint32_t any_extent, uint64_t work_most)
{
	struct arena *arena = arena_open();
	struct feasible_question *question = arena_new(arena, struct feasible_question);
	question->domain = domain;
	question->space = space_make_from(store, arena, domain);
	question->work.most = work_most;
	question->work.poll =
		(struct stop_poll){store ? &store->stopper : NULL, .every = STOP_CHOICES};
	question->arena = arena;
	struct feasible feasible = {.verdict = VERDICT_OPEN};
	if (question->space) {
		question->mapping = question->space->blank;
		find_watches(question);
		feasible.verdict = feasible_question_answer(question, any_extent);
		feasible.witness = question->mapping;
		feasible.work = question->work.done;
	}
	arena_close(arena);
	return feasible;
}

/* The loops of a row that lack one over a dataspace; false if none do. */
static bool domain_find_missing(const struct domain *domain, const struct mapping *mapping,
	int *row, bool *spatial, uint32_t *loops)
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

/* If the mapping that was found lacks a loop over a dataspace, each dimension that could be the one is tried. */
struct feasible feasible_find_from(struct factors_store *store, const struct domain *domain,
	uint32_t any_extent, uint64_t work_most)
{
	struct feasible feasible = find_any(store, domain, any_extent, work_most);
	uint32_t loops;
	int row;
	bool spatial, open = false;
	if (feasible.verdict != VERDICT_YES ||
		!domain_find_missing(domain, &feasible.witness, &row, &spatial, &loops))
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
