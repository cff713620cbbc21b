#include "base/arena.h"
#include "base/array.h"
#include "search/cells.h"
#include "search/nest_offers.h"
#include "solvers/map/nest_choices.h"
#include "solvers/map/nest_label.h"
#include "solvers/map/order_classes.h"

#include <stdlib.h>

/*
 * Branch and bound over the whole mapspace of perfect factors.  First residency and
 * spatial bounds, the most promising ones first; then, from the outermost storage level
 * inwards, one level's temporal bounds and the class of their order at a time.  Whatever
 * a lower bound (nest_label.h) does not exclude goes on; what arrives at the innermost
 * level is evaluated.  So the answer is exact for the model and its counting, however
 * weak a bound is.
 *
 * Where tiles overlap, the bound of what lies outside a boundary is made by the model
 * itself: those counts do not depend on the loops inside.
 */
struct walk {
	struct run *run;
	struct arena *scratch, *arena;
	struct nest_offers offers;
	struct nest_frame frame;
	struct nest_reach reach;
	struct nest_choices choices;
	struct nest_view view;
	struct mapping mapping;
	struct order_classes **classes[ARCH_LEVELS_MOST]; /* by level, busy dimensions */
	bool counted;                                     /* some dataspace's tiles may overlap */
	bool stopped;
};

enum { VECTORS_PER_TICK = 16 };

/* Bounds of one level that may be worth a look. */
struct branch {
	double bound;
	uint64_t code; /* of the options of each dimension, dimension 0 slowest */
};

struct options {
	int count[SHAPE_DIMENSIONS_MOST];
	int64_t *bounds[SHAPE_DIMENSIONS_MOST];
};

static int dimension_count(const struct walk *walk)
{
	return walk->frame.search->shape->dimension_count;
}

static struct mapping_row *row_of(struct walk *walk, int j)
{
	const struct space *space = walk->frame.search->space;
	return &walk->mapping.rows[space->levels[walk->frame.tiling[j]].row];
}

static bool beaten(const struct walk *walk, const struct score *bound)
{
	return frontier_beats(&walk->offers.kept, bound, NULL);
}

static void spend(struct walk *walk, uint64_t ticks)
{
	walk->stopped |= !run_spend(walk->run, ticks);
}

static void set_bounds(struct walk *walk, int j, const int64_t *bounds)
{
	struct mapping_row *row = row_of(walk, j);
	for (int d = 0; d < dimension_count(walk); d++)
		row->temporal[d] = (uint32_t)bounds[d];
}

static struct options find_options(struct walk *walk, int j, const int64_t *left)
{
	struct options options = {.count = {0}};
	const struct space *space = walk->frame.search->space;
	const struct row_domain *row =
		&space->domain->rows[space->levels[walk->frame.tiling[j]].row];
	for (int d = 0; d < dimension_count(walk); d++) {
		int all = walk->reach.divisor_count[d], count = 0;
		int64_t *bounds = arena_array(walk->scratch, int64_t, all);
		for (int k = 0; k < all; k++) {
			int64_t bound = walk->reach.divisors[d][k];
			if (left[d] % bound == 0 && bound >= row->temporal[d].least &&
				bound <= row->temporal[d].most &&
				nest_reaches(&walk->reach, d, j - 1, left[d] / bound))
				bounds[count++] = bound;
		}
		options.count[d] = count;
		options.bounds[d] = bounds;
	}
	return options;
}

static void decode(const struct walk *walk, const struct options *options, uint64_t code,
	const int64_t *left, int64_t *bounds, int64_t *rest)
{
	for (int d = dimension_count(walk) - 1; d >= 0; d--) {
		bounds[d] = options->bounds[d][code % (uint64_t)options->count[d]];
		rest[d] = left[d] / bounds[d];
		code /= (uint64_t)options->count[d];
	}
}

/* How many bounds of a level there are; nobody could look at more than a uint64_t counts, and
 * the search stops there. */
static uint64_t count_options(struct walk *walk, const struct options *options)
{
	uint64_t count = 1;
	for (int d = 0; d < dimension_count(walk); d++)
		if (__builtin_mul_overflow(count, (uint64_t)options->count[d], &count)) {
			walk->stopped = true;
			return 0;
		}
	return count;
}

static int by_bound(const void *a, const void *b)
{
	const struct branch *x = a, *y = b;
	if (x->bound != y->bound)
		return x->bound < y->bound ? -1 : 1;
	return (x->code > y->code) - (x->code < y->code);
}

static struct order_classes *classes_of(struct walk *walk, int j, const int64_t *bounds)
{
	uint32_t busy = 0;
	for (int d = 0; d < dimension_count(walk); d++)
		busy |= (uint32_t)(bounds[d] > 1) << d;
	if (!walk->classes[j])
		walk->classes[j] = arena_array(
			walk->arena, struct order_classes *, (size_t)1 << dimension_count(walk));
	struct order_classes **at = &walk->classes[j][busy];
	if (!*at) {
		struct order_classes found =
			order_classes_find(walk->arena, &walk->frame, j, &walk->mapping);
		*at = arena_copy(walk->arena, &found, sizeof found);
	}
	return *at;
}

/* The model's count of all levels outside level j, for dataspaces that level keeps: whatever
 * the loops inside will be, here they are all at the innermost level. */
static void count_outside(struct walk *walk, int j, const int64_t *left, struct nest_label *label)
{
	static const int64_t ones[SHAPE_DIMENSIONS_MOST] = {
		1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
	const struct nest_search *search = walk->frame.search;
	struct nest_counts counts;
	struct nest_score score;
	for (int k = 1; k <= j; k++)
		set_bounds(walk, k, ones);
	set_bounds(walk, 0, left);
	spend(walk, 1);
	run_evaluated(walk->run, 1);
	enum nest_verdict verdict = nest_evaluate(search->model, &walk->mapping, &counts, &score);
	if (verdict != NEST_FITS && verdict != NEST_CAPACITY && verdict != NEST_UTILIZATION)
		return;
	int row = search->hierarchy->levels[walk->frame.level[j]].row;
	for (int t = 0; t < search->shape->space_count; t++) {
		if (walk->frame.spaces[t].plain || !(walk->mapping.residency[t] >> row & 1))
			continue;
		label->counted_to[t] = j;
		label->counted_pj[t] = 0;
		for (int i = walk->frame.level[j] + 1; i < search->hierarchy->level_count; i++)
			label->counted_pj[t] += score.space_pj[i][t];
	}
}

static void descend(struct walk *walk, int j, const int64_t *left, const struct nest_label *label);

/* All classes of orders of one choice of bounds. */
static void branch_orders(struct walk *walk, int j, const int64_t *bounds, const int64_t *rest,
	const struct nest_label *label)
{
	const struct space *space = walk->frame.search->space;
	const struct tiling_level *level = &space->levels[walk->frame.tiling[j]];
	set_bounds(walk, j, bounds);
	const struct order_classes *classes = classes_of(walk, j, bounds);
	for (size_t c = 0; c < classes->count && !walk->stopped; c++) {
		struct nest_label next = *label;
		nest_label_enter(&walk->view, label, bounds, rest, classes->at[c].within, &next);
		struct score bound = nest_label_bound(&walk->view, &next);
		if (beaten(walk, &bound))
			continue;
		set_bounds(walk, j, bounds);
		space_level_arrange(space, level, classes->at[c].index, &walk->mapping);
		if (walk->counted && j > 1) {
			count_outside(walk, j - 1, rest, &next);
			bound = nest_label_bound(&walk->view, &next);
			if (beaten(walk, &bound))
				continue;
		}
		descend(walk, j - 1, rest, &next);
	}
}

static void descend(struct walk *walk, int j, const int64_t *left, const struct nest_label *label)
{
	if (j == 0) {
		enum nest_verdict verdict;
		const struct space *space = walk->frame.search->space;
		set_bounds(walk, 0, left);
		space_level_arrange(
			space, &space->levels[walk->frame.tiling[0]], 0, &walk->mapping);
		walk->stopped |= !nest_offers_try(&walk->offers, &walk->mapping, &verdict);
		return;
	}
	struct arena_mark mark = arena_mark(walk->scratch);
	struct options options = find_options(walk, j, left);
	uint64_t count = count_options(walk, &options);
	struct array(struct branch) branches = {0};
	int64_t bounds[SHAPE_DIMENSIONS_MOST], rest[SHAPE_DIMENSIONS_MOST];
	struct nest_label next = *label;
	enum objective objective = walk->frame.search->objectives.at[0];
	for (uint64_t code = 0; code < count && !walk->stopped; code++) {
		if (code % VECTORS_PER_TICK == VECTORS_PER_TICK - 1)
			spend(walk, 1);
		decode(walk, &options, code, left, bounds, rest);
		if (!nest_view_fits(&walk->view, j - 1, rest))
			continue;
		nest_label_enter(&walk->view, label, bounds, rest, NULL, &next);
		struct score bound = nest_label_bound(&walk->view, &next);
		if (!beaten(walk, &bound))
			*array_add(walk->scratch, &branches) =
				(struct branch){objective_value(objective, &bound), code};
	}
	if (branches.count)
		qsort(branches.at, branches.count, sizeof *branches.at, by_bound);
	for (size_t b = 0; b < branches.count && !walk->stopped; b++) {
		decode(walk, &options, branches.at[b].code, left, bounds, rest);
		nest_label_enter(&walk->view, label, bounds, rest, NULL, &next);
		struct score bound = nest_label_bound(&walk->view, &next);
		if (!beaten(walk, &bound))
			branch_orders(walk, j, bounds, rest, label);
	}
	arena_release(walk->scratch, mark);
}

/* Whether what runs along X, and along Y, has room. */
static bool axes_fit(const struct walk *walk, const struct tiling_level *level)
{
	const struct nest_level *block = &walk->frame.search->hierarchy->levels[level->level];
	const struct mapping_row *row = &walk->mapping.rows[level->row];
	int64_t fan[2] = {1, 1};
	for (int d = 0; d < dimension_count(walk); d++)
		fan[row->spatial_y >> d & 1] *= row->spatial[d];
	return fan[0] <= block->fanout_x && fan[1] <= block->fanout_y;
}

/* Whether orders and axes of a block can change a count: by links, which in Timeloop's counting
 * multipliers have for every operand, or under flags. */
static bool order_matters(const struct walk *walk, const struct tiling_level *level)
{
	const struct mapping_row *row = &walk->mapping.rows[level->row];
	uint32_t busy = 0;
	for (int d = 0; d < dimension_count(walk); d++)
		busy |= (uint32_t)(row->spatial[d] > 1) << d;
	for (int t = 0; t < walk->frame.search->shape->space_count; t++)
		if (walk->frame.spaces[t].paired & busy)
			return true;
	bool multipliers = walk->frame.timeloop && level->level == 0;
	return (walk->frame.flagged || multipliers) && busy;
}

/* Orders and axes of the spatial tiling levels from s on, then the temporal loops. */
static void arrange(struct walk *walk, int s)
{
	const struct space *space = walk->frame.search->space;
	if (s == walk->choices.spatial_count) {
		nest_view_make(&walk->frame, &walk->mapping, &walk->view);
		struct nest_label label = nest_label_first(&walk->view);
		descend(walk, walk->frame.count - 1, walk->view.temporal, &label);
		return;
	}
	const struct tiling_level *level = &space->levels[walk->choices.tiling[s]];
	uint64_t count = space_level_count(space, level, &walk->mapping);
	bool all = order_matters(walk, level);
	for (uint64_t i = 0; i < count && !walk->stopped; i++) {
		space_level_arrange(space, level, i, &walk->mapping);
		if (!axes_fit(walk, level))
			continue;
		arrange(walk, s + 1);
		if (!all)
			return;
	}
}

static bool is_perfect(const struct nest_search *search)
{
	for (int d = 0; d < search->shape->dimension_count; d++)
		if (search->domain->imperfect >> d & 1 && search->shape->dimensions[d].extent > 1)
			return false;
	return true;
}

static void run_exact(struct run *run, const struct problem *problem)
{
	const struct nest_search *search = problem->nest;
	struct walk walk = {.run = run, .arena = arena_open(), .scratch = arena_open()};
	walk.offers = nest_offers_open(run, search);
	walk.frame = nest_frame_make(search);
	walk.reach = nest_reach_make(walk.arena, &walk.frame);
	walk.choices = nest_choices_make(walk.arena, &walk.frame, &walk.reach);
	for (int t = 0; t < search->shape->space_count; t++)
		walk.counted |= !walk.frame.spaces[t].plain && !walk.frame.flagged;
	double bound = 0;
	for (size_t c = 0; c < walk.choices.count && !walk.stopped; c++) {
		const struct nest_choice *choice = &walk.choices.at[c];
		struct nest_label label;
		bound = choice->bound;
		nest_choice_set(&walk.frame, &walk.choices, choice, &walk.mapping);
		nest_view_make(&walk.frame, &walk.mapping, &walk.view);
		label = nest_label_first(&walk.view);
		struct score least = nest_label_bound(&walk.view, &label);
		if (beaten(&walk, &least))
			continue;
		arrange(&walk, 0);
		if (!walk.stopped)
			run_cell(run, cell_of(run_arena(run), search->space, &walk.mapping));
	}
	nest_offers_close(&walk.offers);
	if (!walk.choices.complete || !is_perfect(search) || walk.offers.uncounted)
		run_prove(run, PROOF_NONE, 0);
	else if (!walk.stopped)
		run_prove(run, PROOF_OPTIMAL, 0);
	else if (search->objectives.count == 1)
		run_prove(run, PROOF_BOUND, bound);
	arena_close(walk.scratch);
	arena_close(walk.arena);
}

const struct solver map_exact_solver = {
	.stage = STAGE_MAP,
	.name = "exact",
	.summary = "branch and bound over all perfect factors, with a proof",
	.run = run_exact,
};
