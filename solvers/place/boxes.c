#include "base/array.h"
#include "base/number.h"
#include "solvers/place/orders.h"
#include "solvers/place/packing.h"

#include <math.h>
#include <string.h>

/*
 * For very many buffers.  Rows of boxes: items of about the same size share boxes as high as the
 * largest of them, as few as live at once (interval colouring), and the boxes are stacked; then
 * all fall down as far as they can.  That is n log n.  Where holes can be looked for in bounded
 * work, first fit and best fit of several orders follow.  The idea of boxes is that of Buchsbaum et al.,
 * "OPT versus LOAD in dynamic storage allocation", STOC 2003.
 */
enum { PASS_WORK = 100000000, MANY = 300000 };

struct size_class {
	int64_t height;
	int row_count;
	struct array(int) free; /* rows */
};

struct box_rows {
	const struct items *items;
	struct arena *arena;
	struct size_class *classes;
	int class_count;
	int *class_of, *row_of; /* by item */
	int *first_of;          /* by section: a list of the items that end with it; -1 */
	int *next;              /* by item */
};

static int class_of_size(int64_t size, double log_ratio)
{
	return size > 0 ? (int)(log((double)size) / log_ratio) : 0;
}

static void box_rows_find_classes(struct box_rows *rows, double ratio)
{
	double log_ratio = log(ratio);
	for (size_t i = 0; i < rows->items->count; i++) {
		rows->class_of[i] = class_of_size(rows->items->at[i].size, log_ratio);
		rows->class_count = (int)number_max(rows->class_count, rows->class_of[i] + 1);
	}
	rows->classes = arena_array(rows->arena, struct size_class, rows->class_count);
	for (size_t i = 0; i < rows->items->count; i++) {
		struct size_class *class = &rows->classes[rows->class_of[i]];
		class->height = number_max(class->height, rows->items->at[i].size);
	}
}

/* Lists by section, in the order of items: of those that begin there. */
static int *list_starts(const struct box_rows *rows, int *next)
{
	int *first = arena_array(rows->arena, int, rows->items->section_count);
	for (int s = 0; s < rows->items->section_count; s++)
		first[s] = -1;
	for (size_t i = rows->items->count; i-- > 0;) {
		int start = rows->items->parts[rows->items->at[i].first_part].first;
		next[i] = first[start];
		first[start] = (int)i;
	}
	return first;
}

static void take_row(struct box_rows *rows, int item)
{
	const struct item *it = &rows->items->at[item];
	struct size_class *class = &rows->classes[rows->class_of[item]];
	int end = rows->items->parts[it->first_part + it->part_count - 1].end;
	rows->row_of[item] =
		class->free.count ? class->free.at[--class->free.count] : class->row_count++;
	rows->next[item] = rows->first_of[end];
	rows->first_of[end] = item;
}

static void free_rows(struct box_rows *rows, int section)
{
	for (int i = rows->first_of[section]; i >= 0; i = rows->next[i])
		*array_add(rows->arena, &rows->classes[rows->class_of[i]].free) = rows->row_of[i];
}

/*
 * Items whose sizes differ by less than the factor `ratio` (> 1) share a class.  A class has as many
 * rows as it has items that live at once, each as high as its largest; every item gets a row
 * that is free for its life.  The rows are stacked, the largest class below.  keys[item] is
 * the higher, the lower its row lies; that of a reserved range means nothing.  Time: n log n.
 */
static void boxes_rows(const struct items *items, double ratio, double *keys, struct arena *arena)
{
	struct arena_mark mark = arena_mark(arena);
	struct box_rows rows = {.items = items,
		.arena = arena,
		.class_of = arena_array(arena, int, items->count),
		.row_of = arena_array(arena, int, items->count),
		.first_of = arena_array(arena, int, items->section_count + 1),
		.next = arena_array(arena, int, items->count)};
	int *next = arena_array(arena, int, items->count);
	int *starts = list_starts(&rows, next);
	box_rows_find_classes(&rows, ratio);
	for (int s = 0; s <= items->section_count; s++)
		rows.first_of[s] = -1;
	for (int s = 0; s < items->section_count; s++) {
		free_rows(&rows, s);
		for (int i = starts[s]; i >= 0; i = next[i])
			take_row(&rows, i);
	}
	double *bases = arena_array(arena, double, rows.class_count + 1);
	for (int c = rows.class_count - 1; c >= 0; c--)
		bases[c] = bases[c + 1] +
			   (double)rows.classes[c].row_count * (double)rows.classes[c].height;
	for (size_t i = 0; i < items->count; i++) {
		int c = rows.class_of[i];
		keys[i] = -bases[c + 1] - (double)rows.row_of[i] * (double)rows.classes[c].height;
	}
	arena_release(arena, mark);
}

struct boxes {
	struct run *run;
	const struct packing *packing;
	const struct items *items;
	struct orders *orders;
	size_t count;
	size_t *order;
	int64_t *best;      /* addresses */
	double cost, least; /* of the best; nothing is below the other */
	bool heavy;         /* holes are too much work */
};

static void keep_if_better(struct boxes *boxes, double cost)
{
	if (cost >= boxes->cost)
		return;
	boxes->cost = cost;
	memcpy(boxes->best, boxes->orders->addresses, boxes->items->count * sizeof *boxes->best);
}

static bool boxes_done(const struct boxes *boxes)
{
	return boxes->orders->over || boxes->cost <= boxes->least;
}

static void try_order(struct boxes *boxes, int fit)
{
	if (boxes_done(boxes) || (fit != ORDERS_SKYLINE && boxes->heavy))
		return;
	bool any = boxes->cost == INFINITY;
	double cost = orders_try(boxes->orders, boxes->order, boxes->count, fit,
		any ? INFINITY : boxes->cost - 1, any || fit == ORDERS_SKYLINE ? 0 : PASS_WORK);
	keep_if_better(boxes, cost);
}

/* Rows of boxes; then everything falls, and falls again in the order that it came to lie in. */
static void try_rows(struct boxes *boxes)
{
	static const double ratios[] = {1.02, 1.1, 1.3, 2};
	struct arena *arena = boxes->orders->arena;
	double *keys = arena_array(arena, double, boxes->items->count);
	size_t step = boxes->count > MANY ? 2 : 1;
	for (size_t r = 0; r < sizeof ratios / sizeof *ratios && !boxes_done(boxes); r += step) {
		boxes_rows(boxes->items, ratios[r], keys, arena);
		orders_sort(boxes->orders, boxes->order, boxes->count, keys);
		if (!boxes->items->bound_somewhere)
			try_order(boxes, ORDERS_SKYLINE);
	}
	if (boxes->items->bound_somewhere || boxes->cost == INFINITY)
		return;
	orders_by_address(boxes->orders, boxes->order, boxes->count, boxes->best);
	try_order(boxes, ORDERS_SKYLINE);
}

/* The first pass shows if the work of looking for holes is within bounds. */
static void try_holes(struct boxes *boxes)
{
	int end = boxes->packing->goal == PACKING_SPILL ? ORDERS_WORTH + 1 : ORDERS_WORTH;
	for (int key = ORDERS_SIZE; key < end && !boxes_done(boxes) && !boxes->heavy; key++) {
		orders_by(boxes->orders, boxes->order, boxes->count, (enum orders_key)key);
		for (int fit = FIT_TREE_FIRST; fit <= FIT_TREE_BEST; fit++) {
			uint64_t before =
				boxes->orders->tree ? fit_tree_work(boxes->orders->tree) : 0;
			try_order(boxes, fit);
			if (boxes->orders->tree && !boxes->heavy && fit == FIT_TREE_FIRST)
				boxes->heavy =
					fit_tree_work(boxes->orders->tree) - before >= PASS_WORK;
		}
	}
	if (boxes->cost == INFINITY && !boxes->items->bound_somewhere)
		try_order(boxes, ORDERS_SKYLINE);
}

static void boxes_run(struct run *run, const struct problem *problem)
{
	const struct packing *packing = problem->packing;
	if (!packing_declared(run, packing) || !packing_whole(run, packing))
		return;
	struct arena *arena = run_arena(run);
	struct items *items = items_make(packing, arena);
	struct boxes boxes = {.run = run,
		.packing = packing,
		.items = items,
		.orders = orders_make(run, items, arena),
		.best = arena_array(arena, int64_t, items->count),
		.cost = INFINITY};
	if (packing->goal == PACKING_PEAK)
		boxes.least = (double)packing_load(packing, arena);
	else if (packing->goal == PACKING_FIT)
		boxes.least = (double)packing->capacity;
	boxes.order = orders_all(boxes.orders, &boxes.count);
	for (size_t i = 0; i < items->count; i++)
		boxes.best[i] = UNPLACED;
	try_rows(&boxes);
	try_holes(&boxes);
	orders_offer(run, packing, items, boxes.best);
}

const struct solver place_boxes_solver = {
	.stage = STAGE_PLACE,
	.name = "boxes",
	.summary =
		"rows of boxes that fall down, then first fit and best fit of orders; for millions",
	.purposes = FOR_LARGE_PACKINGS,
	.run = boxes_run,
};
