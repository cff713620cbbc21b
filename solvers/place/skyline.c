#include "solvers/place/skyline.h"

#include "base/arena.h"
#include "base/number.h"

#include <string.h>

/* A tree over the sections; node 1 is the root. */
struct skyline {
	const struct items *items;
	size_t leaves;
	int64_t *highest;  /* by node: of anything in it */
	int64_t *all_over; /* by node: of what was put on just its sections */
};

struct skyline *skyline_make(const struct items *items, struct arena *arena)
{
	struct skyline *skyline = arena_new(arena, struct skyline);
	*skyline = (struct skyline){.items = items, .leaves = 1};
	while (skyline->leaves < (size_t)items->section_count)
		skyline->leaves *= 2;
	skyline->highest = arena_array(arena, int64_t, 2 * skyline->leaves);
	skyline->all_over = arena_array(arena, int64_t, 2 * skyline->leaves);
	return skyline;
}

void skyline_clear(struct skyline *skyline)
{
	memset(skyline->highest, 0, 2 * skyline->leaves * sizeof *skyline->highest);
	memset(skyline->all_over, 0, 2 * skyline->leaves * sizeof *skyline->all_over);
}

static int64_t top_of(const struct skyline *skyline, const struct item_part *part)
{
	size_t low = (size_t)part->first + skyline->leaves, left = low;
	size_t high = (size_t)part->end + skyline->leaves, right = high - 1;
	int64_t top = 0;
	if (low >= high)
		return 0;
	for (; low < high; low /= 2, high /= 2) {
		if (low % 2)
			top = number_max(top, skyline->highest[low++]);
		if (high % 2)
			top = number_max(top, skyline->highest[--high]);
	}
	for (; left; left /= 2, right /= 2)
		top = number_max(
			top, number_max(skyline->all_over[left], skyline->all_over[right]));
	return top;
}

static void raise_node(struct skyline *skyline, size_t node, int64_t top)
{
	skyline->all_over[node] = number_max(skyline->all_over[node], top);
	for (; node && skyline->highest[node] < top; node /= 2)
		skyline->highest[node] = top;
}

static void raise(struct skyline *skyline, const struct item_part *part, int64_t top)
{
	size_t low = (size_t)part->first + skyline->leaves;
	size_t high = (size_t)part->end + skyline->leaves;
	for (; low < high; low /= 2, high /= 2) {
		if (low % 2)
			raise_node(skyline, low++, top);
		if (high % 2)
			raise_node(skyline, --high, top);
	}
}

int64_t skyline_put(struct skyline *skyline, size_t item, int64_t limit)
{
	const struct item *it = &skyline->items->at[item];
	const struct item_part *parts = &skyline->items->parts[it->first_part];
	int64_t address = 0;
	for (size_t k = 0; k < it->part_count; k++)
		address = number_max(address, top_of(skyline, &parts[k]));
	address = number_align_up(address, it->step);
	if (address > number_min(it->most, limit - it->size))
		return UNPLACED;
	for (size_t k = 0; k < it->part_count; k++)
		raise(skyline, &parts[k], address + parts[k].size);
	return address;
}
