#include "solvers/place/pack_order.h"

#include "base/array.h"
#include "base/number.h"

#include <stdlib.h>

struct ordering {
	struct room *room;
	const int64_t *addresses;
	struct arena *arena;
	struct array(int) below, above; /* pairs */
	int *last; /* by item: what lies next above it where one looked last; -1 */
};

static int compare_addresses(const void *left, const void *right, void *context)
{
	const int64_t *addresses = context;
	int a = *(const int *)left, b = *(const int *)right;
	if (addresses[a] != addresses[b])
		return addresses[a] < addresses[b] ? -1 : 1;
	return a - b;
}

/* Neighbours in a section.  All other pairs follow. */
static void order_section(struct ordering *ordering, int s, int *here)
{
	const struct room *room = ordering->room;
	int count = 0;
	for (size_t k = room->section_first[s]; k < room->section_first[s + 1]; k++)
		if (ordering->addresses[room->lives[k]] >= 0)
			here[count++] = room->lives[k];
	if (count)
		qsort_r(here, (size_t)count, sizeof *here, compare_addresses,
			(void *)ordering->addresses);
	for (int k = 1; k < count; k++) {
		if (ordering->last[here[k - 1]] == here[k])
			continue;
		ordering->last[here[k - 1]] = here[k];
		*array_add(ordering->arena, &ordering->below) = here[k - 1];
		*array_add(ordering->arena, &ordering->above) = here[k];
	}
}

static void connect(struct ordering *ordering)
{
	struct room *room = ordering->room;
	int *first = arena_array(ordering->arena, int, room->item_count + 2);
	int *above = arena_array(ordering->arena, int, ordering->below.count + 1);
	for (size_t k = 0; k < ordering->below.count; k++)
		first[ordering->below.at[k] + 2]++;
	for (int i = 0; i < room->item_count; i++)
		first[i + 2] += first[i + 1];
	for (size_t k = 0; k < ordering->below.count; k++)
		above[first[ordering->below.at[k] + 1]++] = ordering->above.at[k];
	room->above_first = first;
	room->above = above;
}

/* How low and how high each can lie at all. */
static void narrow(struct ordering *ordering, int *all)
{
	const struct room *room = ordering->room;
	int count = 0;
	for (int i = 0; i < room->item_count; i++)
		if (ordering->addresses[i] >= 0)
			all[count++] = i;
	if (count)
		qsort_r(all, (size_t)count, sizeof *all, compare_addresses,
			(void *)ordering->addresses);
	for (int z = 0; z < count; z++)
		for (int k = room->above_first[all[z]]; k < room->above_first[all[z] + 1]; k++) {
			struct item *low = &room->items[all[z]],
				    *high = &room->items[room->above[k]];
			int64_t least = low->low + item_height_beside(low, high);
			high->low = number_max(high->low, item_align(high, least));
		}
	for (int z = count; z-- > 0;)
		for (int k = room->above_first[all[z]]; k < room->above_first[all[z] + 1]; k++) {
			struct item *low = &room->items[all[z]],
				    *high = &room->items[room->above[k]];
			low->high =
				number_min(low->high, high->high - item_height_beside(low, high));
		}
}

/* Of twins one lies below the other, unless an order says which. */
static void part_twins(struct ordering *ordering)
{
	struct room *room = ordering->room;
	int *twins = arena_array(ordering->arena, int, room->item_count);
	for (int i = 0; i < room->item_count; i++) {
		struct item *item = &room->items[i];
		int twin = item->twin;
		if (twin >= 0 && (ordering->addresses[i] >= 0 || ordering->addresses[twin] >= 0))
			item->twin = -1;
		twins[i] = item->twin;
	}
	room->twins = twins;
}

struct room *pack_order(const struct room *room, const int64_t *addresses, struct arena *arena)
{
	struct ordering ordering = {.room = arena_copy(arena, room, sizeof *room),
		.addresses = addresses,
		.arena = arena,
		.last = arena_array(arena, int, room->item_count)};
	int *scratch = arena_array(arena, int, room->item_count);
	ordering.room->items =
		arena_copy(arena, room->items, (size_t)room->item_count * sizeof *room->items);
	for (int i = 0; i < room->item_count; i++)
		ordering.last[i] = -1;
	for (int s = 0; s < room->section_count; s++)
		order_section(&ordering, s, scratch);
	connect(&ordering);
	part_twins(&ordering);
	narrow(&ordering, scratch);
	return ordering.room;
}
