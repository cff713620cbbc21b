#include "solvers/map/exact/order_classes.h"

#include "base/array.h"
#include "solvers/map/exact/options.h"

#include <stdatomic.h>
#include <string.h>

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

static void feel(const struct order_book *book, int j, struct felt *felt)
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

/* Whether `a` is never worse than `b`. */
static bool covers(const struct nest_frame *frame, const struct felt *a, const struct felt *b)
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

static const struct order_classes *find_classes(const struct order_book *book, struct run *run,
	int j, uint32_t busy, const struct mapping *mapping)
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
		feel(book, j, &felt);
		bool covered = false;
		good = run_go_on(run, 1 + list.count / FELT_PER_TICK);
		for (size_t k = 0; k < list.count && !covered; k++)
			covered = covers(frame, &list.at[k], &felt);
		if (covered)
			continue;
		size_t kept = 0;
		for (size_t k = 0; k < list.count; k++)
			if (!covers(frame, &felt, &list.at[k]))
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

/* Two threads may find the same; the first to say so is heard. */
const struct order_classes *order_book_find(struct order_book *book, struct run *run, int j,
	uint32_t busy, const struct mapping *mapping)
{
	_Atomic(const struct order_classes *) *at = &book->found[j][busy];
	const struct order_classes *there = atomic_load(at);
	if (there)
		return there;
	const struct order_classes *found = find_classes(book, run, j, busy, mapping);
	if (!found)
		return NULL;
	return atomic_compare_exchange_strong(at, &there, found) ? found : there;
}
