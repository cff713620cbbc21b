#include "solvers/map/exact/exact.h"

#include "base/arena.h"
#include "base/array.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/*
 * The ways to go on from a label (descent.h): sets of loops, classes of their orders and
 * bounds of one level, as far as nothing found excludes them.
 */

/* Bounds are sums of doubles in different orders. */
#define BOUND_SURE (1 - 1e-9)

/* A way to go on from a label. */
struct level_child {
	double value; /* bound of the first objective */
	const struct order_class *class;
	uint16_t option[SHAPE_DIMENSIONS_MOST];
};

/* One level below a label, while its children are looked for. */
struct level_children {
	int j;
	const struct nest_label *label;
	struct level_factor_list options[SHAPE_DIMENSIONS_MOST];
	uint8_t first_busy[SHAPE_DIMENSIONS_MOST]; /* its least option above 1 */
	int64_t bounds[SHAPE_DIMENSIONS_MOST], left[SHAPE_DIMENSIONS_MOST];
	int64_t least_left[SHAPE_DIMENSIONS_MOST]; /* of what is not chosen yet */
	uint16_t option[SHAPE_DIMENSIONS_MOST];
	const struct order_class *class;
	struct array(struct level_child) children;
};

/* Fills level->children; level->j and ->label are given.  `left`: what all dimensions still have,
 * as indices of their divisors. */
static void level_children_find(
	struct nest_descent *descent, struct level_children *level, const int *left);

/* The cost of what may follow the bounds chosen so far, in an order; false if what is found
 * excludes all of it. */
static bool level_children_weigh(struct nest_descent *descent, struct level_children *level,
	const struct nest_order *order, struct nest_cost *cost);

/* Takes one of a dimension's options: its bound, and what that leaves inside. */
static void level_children_choose(struct level_children *level, int d, int option);

/* --- of the descent, for both */

static inline const struct nest_search *nest_descent_search(const struct nest_descent *descent)
{
	return descent->view.frame->search;
}

static inline int nest_descent_dimensions(const struct nest_descent *descent)
{
	return nest_descent_search(descent)->shape->dimension_count;
}

static inline const struct tiling_level *nest_descent_tiling(
	const struct nest_descent *descent, int j)
{
	return &nest_descent_search(descent)->space->levels[descent->view.frame->tiling[j]];
}

static inline void nest_descent_bound(struct nest_descent *descent, int j, const int64_t *bounds)
{
	struct mapping_row *row = &descent->mapping.rows[nest_descent_tiling(descent, j)->row];
	for (int d = 0; d < nest_descent_dimensions(descent); d++)
		row->temporal[d] = (uint32_t)bounds[d];
}

static inline void nest_descent_spend(struct nest_descent *descent, uint64_t ticks)
{
	descent->stopped |= !run_spend(descent->run, ticks);
}

/* For what no bound was made of. */
static inline void nest_descent_step(struct nest_descent *descent)
{
	descent->stopped |= !run_go_on(descent->run, 1);
}

enum { KEY_MOST = SHAPE_SPACES_MOST * (SHAPE_DIMENSIONS_MOST + 1) };

/* Dataspaces that feel the order of a level, and those of them whose neighbours may hand on. */
struct order_book {
	const struct nest_frame *frame;
	uint32_t feels[ARCH_LEVELS_MOST];
	uint32_t links;
	_Atomic(const struct order_classes *) *found[ARCH_LEVELS_MOST]; /* by busy loops */
};

struct order_books {
	struct arena *arena;
	struct array(struct order_book *) of;
};

/* An order as the dataspaces feel it. */
struct felt {
	uint8_t key[KEY_MOST];
	int length;
	uint32_t within[SHAPE_SPACES_MOST];
	struct order_class class;
};

static void find_feeling(const struct nest_view *view, struct order_book *book)
{
	const struct nest_frame *frame = view->frame;
	book->links = 0;
	for (int t = 0; t < frame->search->shape->space_count; t++)
		book->links |= (uint32_t)nest_view_may_hand_on(view, t) << t;
	for (int j = 0; j < frame->count; j++) {
		book->feels[j] = 0;
		for (int t = 0; t < frame->search->shape->space_count; t++) {
			const struct nest_chain *chain = &view->chains[t];
			int last = chain->kept[chain->count - 1];
			/* Timeloop's multipliers take windows over links of levels passed by. */
			bool passed = frame->timeloop && !frame->spaces[t].plain && last > 0;
			bool inside = last < j || !view->direct || passed;
			book->feels[j] |= (uint32_t)(frame->blind || inside) << t;
		}
	}
}

struct order_books *order_books_make(struct arena *arena)
{
	struct order_books *books = arena_new(arena, struct order_books);
	books->arena = arena;
	return books;
}

struct order_book *order_books_find(struct order_books *books, const struct nest_view *view)
{
	const struct nest_frame *frame = view->frame;
	struct order_book book = {.frame = frame};
	find_feeling(view, &book);
	for (size_t b = 0; b < books->of.count; b++)
		if (book.links == books->of.at[b]->links &&
			memcmp(book.feels, books->of.at[b]->feels, sizeof book.feels) == 0)
			return books->of.at[b];
	for (int j = 0; j < frame->count; j++)
		book.found[j] = arena_alloc_array(books->arena,
			(size_t)1 << frame->search->shape->dimension_count, sizeof *book.found[j]);
	return *array_add(books->arena, &books->of) = arena_copy(books->arena, &book, sizeof book);
}

static uint32_t felt_within(const struct nest_space *space, const struct nest_order *order)
{
	uint32_t within = 0;
	for (int n = 0; n < order->count; n++) {
		if (space->relevant >> order->at[n] & 1)
			return within;
		within |= 1u << order->at[n];
	}
	return within;
}

static void add_key(struct felt *felt, int code)
{
	felt->key[felt->length++] = (uint8_t)code;
}

/* Codes: 1 + dimension; neighbours that commute in the order of dimensions; 0 ends. */
static void feel_window(const struct nest_frame *frame, int t, bool links, struct felt *felt)
{
	const struct nest_space *space = &frame->spaces[t];
	const struct nest_order *order = &felt->class.order;
	bool whole = !space->simple || frame->blind;
	bool narrow =
		frame->timeloop && !(links && order->count && space->paired >> order->at[0] & 1);
	int rank = -1, from = felt->length;
	for (int n = 0; n < order->count; n++) {
		int d = order->at[n];
		bool relevant = space->relevant >> d & 1;
		if (!whole && space->alone >> d & 1)
			break;
		if (!whole && narrow && relevant && rank >= 0 && space->rank_of[d] != rank)
			break;
		if (relevant)
			rank = space->rank_of[d];
		add_key(felt, 1 + d);
		for (int k = felt->length - 1; k > from && !relevant && !frame->blind; k--) {
			uint8_t *pair = &felt->key[k - 1];
			if (space->relevant >> (pair[0] - 1) & 1 || pair[0] < pair[1])
				break;
			uint8_t code = pair[0];
			pair[0] = pair[1];
			pair[1] = code;
		}
	}
	add_key(felt, 0);
}

static void order_book_find_felt(const struct order_book *book, int j, struct felt *felt)
{
	const struct nest_frame *frame = book->frame;
	const struct shape *shape = frame->search->shape;
	felt->length = 0;
	for (int t = 0; t < shape->space_count; t++) {
		const struct nest_space *space = &frame->spaces[t];
		felt->within[t] = 0;
		if (!(book->feels[j] >> t & 1))
			continue;
		if (!space->plain || frame->blind)
			feel_window(frame, t, book->links >> t & 1, felt);
		else
			felt->within[t] = felt_within(space, &felt->class.order);
	}
}

/* True if `a` is never worse than `b`. */
static bool nest_frame_covers(
	const struct nest_frame *frame, const struct felt *a, const struct felt *b)
{
	const struct shape *shape = frame->search->shape;
	if (a->length != b->length || memcmp(a->key, b->key, (size_t)a->length) != 0)
		return false;
	for (int t = 0; t < shape->space_count; t++) {
		uint32_t mine = a->within[t], other = b->within[t];
		bool fixed = shape->spaces[t].written && !frame->timeloop;
		if (fixed ? mine != other : (mine & other) != other)
			return false;
	}
	return true;
}

static struct nest_order order_of(const struct mapping_row *row, int dimension_count, uint32_t busy)
{
	struct nest_order order = {.count = 0};
	for (int n = 0; n < dimension_count; n++)
		if (busy >> row->temporal_order[n] & 1)
			order.at[order.count++] = row->temporal_order[n];
	return order;
}

static const struct order_classes *found_classes(
	struct arena *arena, const struct felt *list, size_t count)
{
	struct order_classes *classes = arena_new(arena, struct order_classes);
	classes->count = count;
	classes->at = arena_array(arena, struct order_class, count);
	for (size_t k = 0; k < count; k++)
		classes->at[k] = list[k].class;
	return classes;
}

static const struct order_classes *order_book_find_classes(const struct order_book *book,
	struct run *run, int j, uint32_t busy, const struct mapping *mapping)
{
	const struct nest_frame *frame = book->frame;
	const struct space *space = frame->search->space;
	const struct tiling_level *level = &space->levels[frame->tiling[j]];
	struct mapping tried = *mapping;
	struct arena *scratch = arena_open();
	struct array(struct felt) list = {0};
	uint64_t count = space_level_count(space, level, mapping);
	bool good = true;
	for (uint64_t i = 0; i < count && good; i++) {
		struct felt felt = {.class.index = i};
		space_level_arrange(space, level, i, &tried);
		felt.class.order = order_of(
			&tried.rows[level->row], frame->search->shape->dimension_count, busy);
		order_book_find_felt(book, j, &felt);
		bool covered = false;
		good = run_go_on(run, 1 + list.count / FELT_PER_TICK);
		for (size_t k = 0; k < list.count && !covered; k++)
			covered = nest_frame_covers(frame, &list.at[k], &felt);
		if (covered)
			continue;
		size_t kept = 0;
		for (size_t k = 0; k < list.count; k++)
			if (!nest_frame_covers(frame, &felt, &list.at[k]))
				list.at[kept++] = list.at[k];
		list.count = kept;
		*array_add(scratch, &list) = felt;
	}
	const struct order_classes *classes = NULL;
	if (good)
		classes = found_classes(run_arena(run), list.at, list.count);
	arena_close(scratch);
	return classes;
}

/* Threads may find the same answer; the first one stored wins. */
const struct order_classes *order_book_find(struct order_book *book, struct run *run, int j,
	uint32_t busy, const struct mapping *mapping)
{
	_Atomic(const struct order_classes *) *at = &book->found[j][busy];
	const struct order_classes *there = atomic_load(at);
	if (there)
		return there;
	const struct order_classes *found = order_book_find_classes(book, run, j, busy, mapping);
	if (!found)
		return NULL;
	return atomic_compare_exchange_strong(at, &there, found) ? found : there;
}

static bool level_children_weigh(struct nest_descent *descent, struct level_children *level,
	const struct nest_order *order, struct nest_cost *cost)
{
	if (++descent->edges % EDGES_PER_TICK == 0)
		nest_descent_spend(descent, 1);
	nest_label_weigh(&descent->view, level->label, order, level->bounds, level->left, cost);
	return !nest_cut_excludes(&descent->cut, &descent->view, cost);
}

static void level_children_choose(struct level_children *level, int d, int option)
{
	const struct level_factor *chosen = &level->options[d].at[option];
	assert(0 <= option && option < level->options[d].count);
	level->option[d] = (uint16_t)option;
	level->bounds[d] = chosen->bound;
	level->left[d] = chosen->rest;
	level->least_left[d] = chosen->rest;
	assert(level->bounds[d] * level->left[d] ==
		level->options[d].at[0].bound * level->options[d].at[0].rest);
}

/* Plain dataspaces that cross further inwards than level j, and that a loop is relevant to. */
static uint32_t closed_by(const struct nest_view *view, int j, int d)
{
	uint32_t closed = 0;
	for (int t = 0; t < view->frame->search->shape->space_count; t++) {
		const struct nest_chain *chain = &view->chains[t];
		bool crosses = chain->next[j] < chain->crossing_count;
		closed |= (uint32_t)(crosses && view->frame->spaces[t].relevant >> d & 1) << t;
	}
	return closed;
}

/* True if the innermost loop, or another that might as well be, could be shorter because the tile
 * inside still fits when it takes a part of it. */
static bool is_wasteful(struct nest_descent *descent, struct level_children *level)
{
	const struct nest_order *order = &level->class->order;
	if (!(descent->packs >> level->j & 1) || !order->count)
		return false;
	uint32_t innermost = closed_by(&descent->view, level->j, order->at[0]);
	for (int n = 0; n < order->count; n++) {
		int d = order->at[n];
		if (closed_by(&descent->view, level->j, d) & ~innermost)
			continue;
		const struct level_factor_list *options = &level->options[d];
		int64_t bound = level->bounds[d], rest = level->left[d];
		bool wasteful = false;
		for (int k = 0; k < options->count && options->at[k].bound < bound && !wasteful;
			k++) {
			level->left[d] = options->at[k].rest;
			wasteful = bound % options->at[k].bound == 0 &&
				   nest_view_fits(&descent->view, level->j - 1, level->left);
		}
		level->left[d] = rest;
		if (wasteful)
			return true;
	}
	return false;
}

/* All of the order's loops have their bounds, and what is inside fits. */
static void keep_child(struct nest_descent *descent, struct level_children *level)
{
	struct nest_order fixed = level->class->order;
	struct nest_cost cost;
	fixed.rough = false;
	if (is_wasteful(descent, level) || !level_children_weigh(descent, level, &fixed, &cost))
		return;
	struct level_child *child = array_add(descent->scratch, &level->children);
	child->value = nest_cost_value(
		&descent->view, &cost, nest_descent_search(descent)->wishes.objectives.at[0]);
	child->class = level->class;
	memcpy(child->option, level->option, sizeof child->option);
}

/* Bounds of the order's loops before the n-th, the innermost last; those behind are chosen, the others
 * have their least. */
static void choose_bounds(struct nest_descent *descent, struct level_children *level, int n)
{
	const struct nest_order *order = &level->class->order;
	struct nest_cost cost;
	nest_descent_step(descent);
	if (n == 0) {
		keep_child(descent, level);
		return;
	}
	int d = order->at[n - 1];
	const struct level_factor_list *options = &level->options[d];
	int64_t least = level->least_left[d];
	assert(level->option[d] == level->first_busy[d] && level->bounds[d] > 1);
	struct nest_order rough = *order;
	rough.rough = true;
	bool fits = false;
	for (int k = level->first_busy[d]; k < options->count && !descent->stopped; k++) {
		level_children_choose(level, d, k);
		fits = fits || nest_view_fits(&descent->view, level->j - 1, level->least_left);
		if (!fits)
			continue;
		if (k > level->first_busy[d] && n > 1 &&
			!level_children_weigh(descent, level, &rough, &cost))
			break;
		choose_bounds(descent, level, n - 1);
	}
	level_children_choose(level, d, level->first_busy[d]);
	level->least_left[d] = least;
}

static void choose_class(struct nest_descent *descent, struct level_children *level, uint32_t busy)
{
	struct nest_order loose = {.count = 0, .loose = true, .rough = true};
	struct nest_cost cost;
	for (int d = 0; d < nest_descent_dimensions(descent); d++) {
		const struct level_factor_list *options = &level->options[d];
		bool loop = busy >> d & 1;
		level_children_choose(level, d, loop ? level->first_busy[d] : 0);
		if (loop) {
			loose.at[loose.count++] = (uint8_t)d;
			level->least_left[d] = options->at[options->count - 1].rest;
		}
	}
	nest_descent_step(descent);
	if (!nest_view_fits(&descent->view, level->j - 1, level->least_left) ||
		!level_children_weigh(descent, level, &loose, &cost))
		return;
	nest_descent_bound(descent, level->j, level->bounds);
	const struct order_classes *classes =
		order_book_find(descent->book, descent->run, level->j, busy, &descent->mapping);
	if (!classes) {
		descent->stopped = true;
		return;
	}
	for (size_t c = 0; c < classes->count && !descent->stopped; c++) {
		struct nest_order order = classes->at[c].order;
		order.rough = true;
		level->class = &classes->at[c];
		if (level_children_weigh(descent, level, &order, &cost))
			choose_bounds(descent, level, order.count);
	}
}

/* Every set of loops that may have a bound above 1. */
static void level_children_find(
	struct nest_descent *descent, struct level_children *level, const int *left)
{
	uint32_t must = 0, may = 0;
	for (int d = 0; d < nest_descent_dimensions(descent); d++) {
		struct level_factor_list *options = &level->options[d];
		*options = descent->options->lists[level->j][d][left[d]];
		if (!options->count)
			return;
		bool idle = options->at[0].bound == 1;
		level->first_busy[d] = idle;
		must |= (uint32_t)!idle << d;
		may |= (uint32_t)(idle && options->count > 1) << d;
	}
	uint32_t some = 0;
	do {
		choose_class(descent, level, must | some);
		some = (some - may) & may;
	} while (some && !descent->stopped);
}

/* True if what runs along X, and along Y, has room. */
static bool axes_fit(const struct nest_descent *descent, const struct tiling_level *level)
{
	const struct nest_level *block =
		&nest_descent_search(descent)->hierarchy->levels[level->level];
	const struct mapping_row *row = &descent->mapping.rows[level->row];
	int64_t fan[2] = {1, 1};
	for (int d = 0; d < nest_descent_dimensions(descent); d++)
		fan[row->spatial_y >> d & 1] *= row->spatial[d];
	return fan[0] <= block->fanout.x && fan[1] <= block->fanout.y;
}

/* Calls visit for every arrangement of the tiling levels in a mask, from level i on, and leaves the
 * one that was there. */
static void nest_descent_arrange(struct nest_descent *descent, uint64_t mask, int i,
	void (*visit)(struct nest_descent *descent, void *user), void *user)
{
	const struct space *space = nest_descent_search(descent)->space;
	while (i < space->level_count && !(mask >> i & 1))
		i++;
	if (i == space->level_count) {
		visit(descent, user);
		return;
	}
	const struct tiling_level *level = &space->levels[i];
	struct mapping_row *row = &descent->mapping.rows[level->row], kept = *row;
	uint64_t count = space_level_count(space, level, &descent->mapping);
	for (uint64_t k = 0; k < count && !descent->stopped; k++) {
		space_level_arrange(space, level, k, &descent->mapping);
		nest_descent_step(descent);
		if (axes_fit(descent, level))
			nest_descent_arrange(descent, mask, i + 1, visit, user);
	}
	*row = kept;
}

/* One arrangement of every block; false if there is none, or when it is to stop. */
static bool arrange_once(struct nest_descent *descent)
{
	const struct space *space = nest_descent_search(descent)->space;
	for (int i = 0; i < space->level_count; i++) {
		const struct tiling_level *level = &space->levels[i];
		if (!level->spatial)
			continue;
		uint64_t count = space_level_count(space, level, &descent->mapping), k = 0;
		bool fits = false;
		for (; k < count && !fits && !descent->stopped; k++) {
			nest_descent_step(descent);
			space_level_arrange(space, level, k, &descent->mapping);
			fits = axes_fit(descent, level);
		}
		if (!fits)
			return false;
	}
	return true;
}

/* Blocks whose arrangement can change a count: under flags; in Timeloop's counting around the
 * multipliers, which hand on every operand, and where networks cost energy by the way that words
 * go; of a systolic array with two axes; or by links of windows. */
static void find_arranged(struct nest_descent *descent)
{
	const struct nest_frame *frame = descent->view.frame;
	const struct space *space = frame->search->space;
	descent->arranged[0] = descent->arranged[1] = 0;
	for (int i = 0; i < space->level_count; i++) {
		const struct tiling_level *level = &space->levels[i];
		uint32_t busy = 0;
		for (int d = 0; level->spatial && d < nest_descent_dimensions(descent); d++)
			busy |= (uint32_t)(descent->mapping.rows[level->row].spatial[d] > 1) << d;
		bool links = false;
		for (int t = 0; t < frame->search->shape->space_count; t++)
			links |= (frame->spaces[t].paired & busy) != 0;
		bool always = frame->blind || frame->ways ||
			      (frame->timeloop && level->level == 0) ||
			      nest_skew_turns(frame, level);
		descent->arranged[0] |= (uint64_t)(always && busy) << i;
		descent->arranged[1] |= (uint64_t)((always && busy) || links) << i;
	}
}

static int descent_by_value(const void *a, const void *b)
{
	const struct level_child *x = a, *y = b;
	return (x->value > y->value) - (x->value < y->value);
}

/* Counts of the levels outside, the least of several arrangements. */
struct nest_outside {
	int boundary;
	int tried;
	bool counted;
	struct nest_sums sums[SHAPE_SPACES_MOST];
};

static bool nest_descent_crosses(const struct nest_descent *descent, int t, int boundary)
{
	const struct nest_chain *chain = &descent->view.chains[t];
	const struct nest_frame *frame = descent->view.frame;
	if (frame->spaces[t].plain || frame->spaces[t].silent)
		return false;
	for (int k = 1; k < chain->count; k++)
		if (chain->kept[k] == boundary)
			return true;
	return false;
}

static void add_count(const struct nest_view *view, int t, int j, const struct nest_count *count,
	struct nest_sums *sums)
{
	const struct nest_chain *chain = &view->chains[t];
	int child = -1;
	for (int k = 0; k + 1 < chain->count; k++)
		child = chain->kept[k] == j ? chain->kept[k + 1] : child;
	nest_view_add(view, t, j, NEST_READ, (double)count->reads, sums);
	nest_view_add_rows(view, t, j, child, (double)(count->reads - count->links), sums);
	nest_view_add(view, t, j, NEST_FILL, (double)count->fills, sums);
}

static void count_once(struct nest_descent *descent, void *user)
{
	struct nest_outside *outside = user;
	const struct nest_view *view = &descent->view;
	struct nest_counts counts;
	struct nest_score score;
	nest_descent_spend(descent, 1);
	run_evaluated(descent->run, 1);
	enum nest_verdict verdict = nest_evaluate(
		nest_descent_search(descent)->model, &descent->mapping, &counts, &score);
	outside->counted &= nest_verdict_counts(verdict);
	for (int t = 0; outside->counted && t < nest_descent_search(descent)->shape->space_count;
		t++) {
		if (!nest_descent_crosses(descent, t, outside->boundary))
			continue;
		struct nest_sums sums;
		memset(&sums, 0, sizeof sums);
		for (int j = outside->boundary + 1; j < view->frame->count; j++)
			add_count(view, t, j, &counts.at[view->frame->level[j]][t], &sums);
		struct nest_count fills = counts.at[view->frame->level[outside->boundary]][t];
		fills.reads = 0;
		add_count(view, t, outside->boundary, &fills, &sums);
		if (!outside->tried)
			outside->sums[t] = sums;
		nest_sums_lower(view->frame, &outside->sums[t], &sums);
	}
	outside->tried++;
}

static uint64_t count_arrangements(const struct nest_descent *descent, uint64_t mask)
{
	const struct space *space = nest_descent_search(descent)->space;
	uint64_t all = 1;
	for (int i = 0; i < space->level_count; i++)
		if (mask >> i & 1 &&
			__builtin_mul_overflow(all,
				space_level_count(space, &space->levels[i], &descent->mapping),
				&all))
			return UINT64_MAX;
	return all;
}

/* Counts the cost outside of windows that cross the label's boundary: it is the
 * same for all loops inside, which are all at the innermost level here. */
static void count_outside(
	struct nest_descent *descent, const int64_t *left, struct nest_label *label)
{
	static const int64_t ones[SHAPE_DIMENSIONS_MOST] = {
		1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
	bool any = false;
	for (int t = 0; t < nest_descent_search(descent)->shape->space_count; t++)
		any |= nest_descent_crosses(descent, t, label->boundary);
	if (!any)
		return;
	struct nest_outside outside = {.boundary = label->boundary, .counted = true};
	uint64_t mask = descent->arranged[label->linked];
	if (label->boundary > 0 && count_arrangements(descent, mask) <= ARRANGEMENTS_COUNTED_MOST) {
		for (int j = 1; j <= label->boundary; j++)
			nest_descent_bound(descent, j, ones);
		nest_descent_bound(descent, 0, left);
		nest_descent_arrange(descent, mask, 0, count_once, &outside);
	}
	for (int t = 0; t < nest_descent_search(descent)->shape->space_count; t++) {
		if (!nest_descent_crosses(descent, t, label->boundary))
			continue;
		if (outside.tried && outside.counted)
			label->counted[t] = outside.sums[t];
		else
			nest_label_estimate(&descent->view, t, left, label);
	}
}

static void cut_anew(struct nest_descent *descent)
{
	double excluded = descent->cut.excluded;
	descent->cut = nest_cut_make(run_arena(descent->run), &descent->offers.kept,
		&nest_descent_search(descent)->wishes.objectives, descent->slack);
	descent->cut.excluded = excluded;
}

#ifndef NDEBUG
/* Asserts that the loops of all levels make the iterations that the choice leaves to them. */
static bool check_whole(const struct nest_descent *descent)
{
	for (int d = 0; d < nest_descent_dimensions(descent); d++) {
		int64_t product = 1;
		for (int j = 0; j < descent->view.frame->count; j++)
			product *= descent->mapping.rows[nest_descent_tiling(descent, j)->row]
					   .temporal[d];
		assert(product == descent->view.temporal[d]);
	}
	return true;
}

/* Asserts that the bound under which a mapping was found is not above its value. */
static bool check_bound(
	const struct nest_descent *descent, const struct offer_price *price, double bound)
{
	enum objective first = nest_descent_search(descent)->wishes.objectives.at[0];
	assert(price->verdict != NEST_FITS ||
		bound * BOUND_SURE <= objective_value(first, &price->score));
	return true;
}
#endif

/* `user`: the bound of the label. */
static void try_mapping(struct nest_descent *descent, void *user)
{
	struct offer_price price;
	assert(check_whole(descent));
	if (!nest_offers_price(&descent->offers, &descent->mapping, &price))
		descent->stopped = true;
	else if (price.kept)
		cut_anew(descent);
	assert(descent->stopped || check_bound(descent, &price, *(const double *)user));
}

static void nest_descent_descend(struct nest_descent *descent, int j, const int *left,
	const struct nest_label *label, double bound);

/* Gives the remaining iterations to the innermost level. */
static void nest_descent_finish(
	struct nest_descent *descent, const int *left, const struct nest_label *label, double bound)
{
	const struct completions *completions = descent->options->completions;
	int64_t bounds[SHAPE_DIMENSIONS_MOST];
	for (int d = 0; d < nest_descent_dimensions(descent); d++)
		bounds[d] = completions->divisors[d].at[left[d]];
	nest_descent_bound(descent, 0, bounds);
	const struct space *space = nest_descent_search(descent)->space;
	const struct tiling_level *innermost = nest_descent_tiling(descent, 0);
	uint64_t orders = 1;
	if (!descent->view.direct || descent->view.frame->ways)
		orders = space_level_count(space, innermost, &descent->mapping);
	for (uint64_t k = 0; k < orders && !descent->stopped; k++) {
		space_level_arrange(space, innermost, k, &descent->mapping);
		nest_descent_arrange(
			descent, descent->arranged[label->linked], 0, try_mapping, &bound);
	}
}

/* `bound`: of the label of the level outside. */
static void nest_descent_go_on(struct nest_descent *descent, struct level_children *level,
	const struct level_child *child, double bound)
{
	int left[SHAPE_DIMENSIONS_MOST];
	for (int d = 0; d < nest_descent_dimensions(descent); d++) {
		level_children_choose(level, d, child->option[d]);
		left[d] = level->options[d].at[child->option[d]].at;
	}
	struct nest_cost cost;
	const struct nest_order *order = &child->class->order;
	bool stays = level_children_weigh(descent, level, order, &cost);
	assert(nest_cost_value(&descent->view, &cost,
		       nest_descent_search(descent)->wishes.objectives.at[0]) == child->value);
	if (!stays)
		return;
	struct nest_label next;
	descent->labels++;
	nest_label_enter(&descent->view, level->label, order, level->bounds, &next);
	nest_descent_bound(descent, level->j, level->bounds);
	space_level_arrange(nest_descent_search(descent)->space,
		nest_descent_tiling(descent, level->j), child->class->index, &descent->mapping);
	for (int t = 0; t < nest_descent_search(descent)->shape->space_count; t++)
		next.linked |= nest_links_possible(
			&descent->view, &descent->mapping, &next, level->left, t);
	count_outside(descent, level->left, &next);
	nest_label_bound(&descent->view, &next, level->left, &cost);
	if (nest_cut_excludes(&descent->cut, &descent->view, &cost))
		return;
	double value = nest_cost_value(
		&descent->view, &cost, nest_descent_search(descent)->wishes.objectives.at[0]);
	nest_descent_descend(descent, level->j - 1, left, &next, value < bound ? bound : value);
}

static void leave_open(struct nest_descent *descent, double bound)
{
	if (bound < descent->open)
		descent->open = bound;
}

/* Nothing is below `bound`: that of the label, or of one outside, where what links two levels was counted exactly. */
static void nest_descent_descend(struct nest_descent *descent, int j, const int *left,
	const struct nest_label *label, double bound)
{
	if (j == 0) {
		nest_descent_finish(descent, left, label, bound);
		if (descent->stopped)
			leave_open(descent, bound);
		return;
	}
	struct arena_mark mark = arena_mark(descent->scratch);
	struct level_children level = {.j = j, .label = label};
	level_children_find(descent, &level, left);
	if (descent->stopped) {
		leave_open(descent, bound);
		arena_release(descent->scratch, mark);
		return;
	}
	if (level.children.count)
		qsort(level.children.at, level.children.count, sizeof *level.children.at,
			descent_by_value);
	for (size_t c = 0; c < level.children.count; c++) {
		if (!descent->stopped)
			nest_descent_go_on(descent, &level, &level.children.at[c], bound);
		else
			leave_open(descent, level.children.at[c].value);
	}
	arena_release(descent->scratch, mark);
}

/* Levels whose loops may be given to the level inside. */
static uint32_t find_packs(const struct nest_view *view)
{
	const struct nest_frame *frame = view->frame;
	uint32_t packs = 0;
	for (int t = 0; t < frame->search->shape->space_count; t++)
		if (!frame->plain || view->chains[t].sags)
			return 0;
	for (int j = 1; j < frame->count; j++)
		if (!nest_skew_minds(frame, j - 1))
			packs |= (frame->loose >> j & frame->loose >> (j - 1) & 1) << j;
	return packs;
}

void nest_descend(struct nest_descent *descent, double bound)
{
	const struct nest_view *view = &descent->view;
	int left[SHAPE_DIMENSIONS_MOST];
	descent->mapping = view->mapping;
	if (!arrange_once(descent)) {
		if (descent->stopped)
			leave_open(descent, bound);
		return;
	}
	find_arranged(descent);
	descent->packs = find_packs(view);
	for (int d = 0; d < nest_descent_dimensions(descent); d++)
		left[d] = level_factors_place(descent->options, d, view->temporal[d]);
	cut_anew(descent);
	struct nest_label label = nest_label_first(view);
	for (int t = 0; t < nest_descent_search(descent)->shape->space_count; t++)
		label.linked |= nest_links_around_multipliers(view, t);
	nest_descent_descend(descent, view->frame->count - 1, left, &label, bound);
}
