#include "solvers/menu/menu.h"

#include "base/arena.h"
#include "base/number.h"

#include <stdlib.h>

struct capture_cost menu_add(const struct capture_cost *a, const struct capture_cost *b)
{
	return (struct capture_cost){
		a->spilled + b->spilled, a->idle + b->idle, a->squares + b->squares};
}

static int64_t align(const struct menu_problem *menu, int64_t bytes)
{
	int64_t step = menu->question->alignment;
	return bytes / step * step + (bytes % step ? step : 0);
}

int64_t menu_bytes(const struct menu_problem *menu, int buffer, int division)
{
	return align(menu, capture_bytes(menu->items[buffer].buffer, division));
}

bool menu_is_better(const struct capture_division *a, const struct capture_division *b)
{
	return a->cores > b->cores || (a->cores == b->cores && a->squares < b->squares);
}

static int compare_pairs(const void *a, const void *b)
{
	const struct capture_pair *x = a, *y = b;
	return x->parent != y->parent ? (x->parent > y->parent) - (x->parent < y->parent)
				      : (x->own > y->own) - (x->own < y->own);
}

static void sort_edges(struct arena *arena, struct menu_item *item)
{
	size_t count = item->buffer->edge_count;
	item->edges = arena_array(arena, struct capture_edge, count);
	for (size_t e = 0; e < count; e++) {
		struct capture_edge *edge = &item->edges[e];
		*edge = item->buffer->edges[e];
		struct capture_pair *pairs =
			arena_copy(arena, edge->pairs, edge->pair_count * sizeof *edge->pairs);
		qsort(pairs, edge->pair_count, sizeof *pairs, compare_pairs);
		size_t kept = 0;
		for (size_t p = 0; p < edge->pair_count; p++)
			if (!kept || compare_pairs(&pairs[kept - 1], &pairs[p]) != 0)
				pairs[kept++] = pairs[p];
		edge->pairs = pairs;
		edge->pair_count = kept;
	}
}

void menu_row(const struct capture_edge *edge, int division, size_t *from, size_t *to)
{
	size_t low = 0, high = edge->pair_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (edge->pairs[middle].parent < division)
			low = middle + 1;
		else
			high = middle;
	}
	*from = *to = low;
	while (*to < edge->pair_count && edge->pairs[*to].parent == division)
		++*to;
}

static bool is_row_empty(const struct capture_edge *edge, int division)
{
	size_t from, to;
	menu_row(edge, division, &from, &to);
	return from == to;
}

static bool are_rows_equal(const struct capture_edge *edge, int a, int b)
{
	size_t from_a, to_a, from_b, to_b;
	menu_row(edge, a, &from_a, &to_a);
	menu_row(edge, b, &from_b, &to_b);
	if (to_a - from_a != to_b - from_b)
		return false;
	for (size_t i = 0; i < to_a - from_a; i++)
		if (edge->pairs[from_a + i].own != edge->pairs[from_b + i].own)
			return false;
	return true;
}

/* Tells each buffer who reads it, in the order of ops. */
static void find_readers(struct arena *arena, struct menu_problem *menu)
{
	for (size_t b = 0; b < menu->count; b++)
		for (size_t e = 0; e < menu->items[b].buffer->edge_count; e++)
			menu->items[menu->items[b].edges[e].parent].reader_count++;
	for (size_t b = 0; b < menu->count; b++) {
		struct menu_item *item = &menu->items[b];
		item->readers = arena_array(arena, struct menu_reader, item->reader_count);
		item->reader_count = 0;
	}
	for (size_t i = 0; i < menu->count; i++) {
		const struct menu_item *item = &menu->items[menu->order[i]];
		for (size_t e = 0; e < item->buffer->edge_count; e++) {
			struct menu_item *parent = &menu->items[item->edges[e].parent];
			parent->readers[parent->reader_count++] =
				(struct menu_reader){&item->edges[e], i};
		}
	}
}

static void find_usable(struct arena *arena, struct menu_problem *menu, int b)
{
	struct menu_item *item = &menu->items[b];
	size_t count = item->buffer->division_count;
	item->usable = arena_array(arena, bool, count);
	item->same = arena_array(arena, int, count);
	for (size_t d = 0; d < count; d++) {
		bool usable = item->buffer->may_stay &&
			      capture_bytes(item->buffer, (int)d) <= menu->question->capacity;
		for (size_t r = 0; r < item->reader_count && usable; r++)
			usable = !is_row_empty(item->readers[r].edge, (int)d);
		item->usable[d] = usable;
		item->is_usable |= usable;
		item->same[d] = (int)d;
	}
}

static bool are_same(const struct menu_problem *menu, int b, size_t i, int x, int y)
{
	const struct menu_item *item = &menu->items[b];
	if (capture_bytes(item->buffer, x) != capture_bytes(item->buffer, y))
		return false;
	for (size_t r = 0; r < item->reader_count; r++)
		if (item->readers[r].place > i && !are_rows_equal(item->readers[r].edge, x, y))
			return false;
	return true;
}

void menu_merge(struct menu_problem *menu, int buffer, size_t i)
{
	struct menu_item *item = &menu->items[buffer];
	for (int d = 0; d < (int)item->buffer->division_count; d++) {
		item->same[d] = d;
		for (int k = 0; k < d && item->same[d] == d && item->usable[d]; k++)
			if (item->usable[k] && item->same[k] == k &&
				are_same(menu, buffer, i, k, d))
				item->same[d] = k;
	}
}

static void set_order(struct arena *arena, struct menu_problem *menu)
{
	menu->order = arena_array(arena, int, menu->count);
	for (size_t i = 0; i < menu->count; i++) {
		size_t at = i;
		int64_t start = menu->items[i].buffer->start;
		for (; at > 0 && menu->items[menu->order[at - 1]].buffer->start > start; at--)
			menu->order[at] = menu->order[at - 1];
		menu->order[at] = (int)i;
	}
}

static void set_bounds(struct arena *arena, struct menu_problem *menu)
{
	menu->rest = arena_array(arena, struct capture_cost, menu->count + 1);
	for (size_t i = menu->count; i-- > 0;) {
		const struct menu_item *item = &menu->items[menu->order[i]];
		const struct capture_division *divisions = item->buffer->divisions;
		struct capture_cost least = {item->is_usable ? 0 : item->buffer->cost,
			-divisions->cores, divisions->squares};
		for (size_t d = 1; d < item->buffer->division_count; d++) {
			least.idle = number_min(least.idle, -divisions[d].cores);
			least.squares = number_min(least.squares, divisions[d].squares);
		}
		menu->rest[i] = menu_add(&menu->rest[i + 1], &least);
	}
}

struct menu_problem menu_open(struct arena *arena, const struct capture_question *question)
{
	const struct capture *capture = question->capture;
	struct menu_problem menu = {.question = question,
		.count = capture->count,
		.items = arena_array(arena, struct menu_item, capture->count)};
	menu.room = align(&menu, question->capacity);
	for (size_t b = 0; b < menu.count; b++) {
		menu.items[b].buffer = &capture->buffers[b];
		sort_edges(arena, &menu.items[b]);
	}
	set_order(arena, &menu);
	find_readers(arena, &menu);
	for (size_t b = 0; b < menu.count; b++)
		find_usable(arena, &menu, (int)b);
	set_bounds(arena, &menu);
	return menu;
}

/* The parents of a kept buffer whose address it may take. */
static void set_parents(struct arena *arena, const struct menu_problem *menu, const int *divisions,
	int b, const int *index, struct buffer *out)
{
	const struct menu_item *item = &menu->items[b];
	int *parents = arena_array(arena, int, item->buffer->edge_count);
	for (size_t e = 0; e < item->buffer->edge_count; e++) {
		int parent = item->edges[e].parent;
		const struct capture_buffer *other = menu->items[parent].buffer;
		if (item->edges[e].is_in_place && index[parent] >= 0 &&
			other->end == item->buffer->start + 1 &&
			capture_bytes(other, divisions[parent]) == out->size)
			parents[out->parent_count++] = index[parent];
	}
	out->parents = parents;
}

struct menu_packing menu_packing(struct arena *arena, const struct menu_problem *menu,
	const int *divisions, const bool *stays)
{
	struct menu_packing kept = {.buffers = arena_array(arena, int, menu->count),
		.packing = {.capacity = menu->question->capacity,
			.alignment = menu->question->alignment,
			.goal = PACKING_FIT}};
	int *index = arena_array(arena, int, menu->count);
	for (size_t b = 0; b < menu->count; b++) {
		index[b] = stays[b] ? (int)kept.packing.count : -1;
		if (stays[b])
			kept.buffers[kept.packing.count++] = (int)b;
	}
	struct buffer *buffers = arena_array(arena, struct buffer, kept.packing.count);
	for (size_t k = 0; k < kept.packing.count; k++) {
		int b = kept.buffers[k];
		const struct capture_buffer *buffer = menu->items[b].buffer;
		buffers[k] = (struct buffer){.name = buffer->name,
			.size = capture_bytes(buffer, divisions[b]),
			.start = buffer->start,
			.end = buffer->end};
		set_parents(arena, menu, divisions, b, index, &buffers[k]);
	}
	kept.packing.buffers = buffers;
	return kept;
}
