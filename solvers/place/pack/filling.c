#include "solvers/place/pack/filling.h"

#include "base/array.h"
#include "base/number.h"

#include <stdlib.h>
#include <string.h>

struct filling {
	struct array(struct item) items; /* all */
	struct array(size_t) open;       /* those of `items` that go on */
	int64_t open_height;
	bool is_likely;
	struct arena *arena;
};

static void begin(struct filling *filling, int section, int64_t size)
{
	struct item item = {.first = section, .size = size, .clear = size, .align = 1, .twin = -1};
	item.shape = -2;
	*array_add(filling->arena, &filling->items) = item;
	*array_add(filling->arena, &filling->open) = filling->items.count - 1;
	filling->open_height += size;
}

/* Number k of the open ones. */
static int64_t end(struct filling *filling, size_t k, int section)
{
	struct item *item = &filling->items.at[filling->open.at[k]];
	item->end = section;
	filling->open_height -= item->size;
	filling->open.count--;
	memmove(filling->open.at + k, filling->open.at + k + 1,
		(filling->open.count - k) * sizeof *filling->open.at);
	return item->size;
}

static int64_t size_of(const struct filling *filling, size_t k)
{
	return filling->items.at[filling->open.at[k]].size;
}

/* One of just this size ends, or two that add up to it; false if there are none. */
static bool end_exactly(struct filling *filling, int section, int64_t size)
{
	size_t count = filling->open.count;
	for (size_t k = count; k-- > 0;)
		if (size_of(filling, k) == size) {
			end(filling, k, section);
			return true;
		}
	for (size_t k = count; k-- > 0;)
		for (size_t m = k; m-- > 0;)
			if (size_of(filling, k) + size_of(filling, m) == size) {
				end(filling, k, section);
				end(filling, m, section);
				return true;
			}
	return false;
}

/* What is open becomes what the section has to spare. */
static void follow(struct filling *filling, int section, int64_t spare)
{
	if (spare > filling->open_height)
		begin(filling, section, spare - filling->open_height);
	if (spare < filling->open_height &&
		end_exactly(filling, section, filling->open_height - spare))
		return;
	while (spare < filling->open_height) {
		filling->is_likely = false;
		end(filling, filling->open.count - 1, section);
	}
	if (spare > filling->open_height)
		begin(filling, section, spare - filling->open_height);
}

static int compare_items(const void *left, const void *right)
{
	const struct item *a = left, *b = right;
	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	if ((a->shape == -1) != (b->shape == -1))
		return a->shape == -1 ? -1 : 1;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	if (a->size != b->size)
		return a->size < b->size ? -1 : 1;
	return (a->shape > b->shape) - (a->shape < b->shape);
}

/* Twins are neighbours in the order; who was a twin before still has one, perhaps another. */
static void find_twins(struct item *items, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct item *before = &items[i ? i - 1 : 0];
		bool is_twin = i > 0 && !items[i].heights && !before->heights &&
			       items[i].shape != -1 && before->shape != -1 &&
			       items[i].first == before->first && items[i].end == before->end &&
			       items[i].size == before->size && items[i].clear == before->clear &&
			       items[i].align == before->align && items[i].low == before->low &&
			       items[i].high == before->high;
		items[i].twin = is_twin ? (int)i - 1 : -1;
	}
}

struct filled pack_filling(const struct room *room, struct arena *arena)
{
	struct filling filling = {.is_likely = true, .arena = arena};
	struct filled none = {NULL, false};
	for (int i = 0; i < room->item_count; i++)
		*array_add(arena, &filling.items) = room->items[i];
	for (int s = 0; s < room->section_count; s++) {
		int64_t spare = room_spare(room, s);
		if (spare < 0)
			return none;
		follow(&filling, s, spare);
	}
	while (filling.open.count)
		end(&filling, filling.open.count - 1, room->section_count);
	if (filling.items.count == (size_t)room->item_count)
		return none;
	for (size_t i = (size_t)room->item_count; i < filling.items.count; i++)
		filling.items.at[i].high = room->height - filling.items.at[i].size;
	qsort(filling.items.at, filling.items.count, sizeof *filling.items.at, compare_items);
	find_twins(filling.items.at, filling.items.count);
	struct room *full = arena_copy(arena, room, sizeof *room);
	full->items = filling.items.at;
	full->item_count = (int)filling.items.count;
	size_t pairs = 0;
	return room_connect(full, &pairs, arena) ? (struct filled){full, filling.is_likely} : none;
}
