#include "solvers/place/boxes_rows.h"

#include "base/array.h"
#include "base/number.h"

#include <math.h>

struct size_class {
	int64_t height;
	int row_count;
	struct array(int) free; /* rows */
};

struct rows {
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

static void find_classes(struct rows *rows, double ratio)
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
static int *list_starts(const struct rows *rows, int *next)
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

static void take_row(struct rows *rows, int item)
{
	const struct item *it = &rows->items->at[item];
	struct size_class *class = &rows->classes[rows->class_of[item]];
	int end = rows->items->parts[it->first_part + it->part_count - 1].end;
	rows->row_of[item] =
		class->free.count ? class->free.at[--class->free.count] : class->row_count++;
	rows->next[item] = rows->first_of[end];
	rows->first_of[end] = item;
}

static void free_rows(struct rows *rows, int section)
{
	for (int i = rows->first_of[section]; i >= 0; i = rows->next[i])
		*array_add(rows->arena, &rows->classes[rows->class_of[i]].free) = rows->row_of[i];
}

void boxes_rows(const struct items *items, double ratio, double *keys, struct arena *arena)
{
	struct arena_mark mark = arena_mark(arena);
	struct rows rows = {.items = items,
		.arena = arena,
		.class_of = arena_array(arena, int, items->count),
		.row_of = arena_array(arena, int, items->count),
		.first_of = arena_array(arena, int, items->section_count + 1),
		.next = arena_array(arena, int, items->count)};
	int *next = arena_array(arena, int, items->count);
	int *starts = list_starts(&rows, next);
	find_classes(&rows, ratio);
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
