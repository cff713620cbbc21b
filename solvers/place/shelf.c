#include "solvers/place/shelf.h"

#include "base/arena.h"
#include "base/bisect.h"
#include "base/number.h"

#include <string.h>

struct interval {
	int64_t start, end;
};

/* Disjoint, not even touching, ascending. */
struct taken {
	struct interval *at;
	int count, capacity;
};

/* What is asked of one set: room for this many bytes. */
struct look {
	const struct taken *taken;
	int64_t size;
	int next; /* the first interval that ends above the address in question */
};

enum { LEVELS_MOST = 32, LOOKS_MOST = 6 * LEVELS_MOST };

struct shelf {
	const struct items *items;
	struct arena *arena;
	int leaves;               /* a power of two; node 1 is the root */
	struct taken *somewhere;  /* by node */
	struct taken *throughout; /* by node: what was put at this very node */
	int *touched;             /* nodes with something in them */
	int touched_count;
	bool *is_touched;
	int64_t *addresses;
	struct look *looks;
	size_t look_count, look_capacity;
	uint64_t work;
};

struct shelf *shelf_make(const struct items *items, struct arena *arena)
{
	struct shelf *shelf = arena_new(arena, struct shelf);
	*shelf = (struct shelf){.items = items, .arena = arena, .leaves = 1};
	while (shelf->leaves < items->section_count)
		shelf->leaves *= 2;
	size_t nodes = 2 * (size_t)shelf->leaves;
	shelf->somewhere = arena_array(arena, struct taken, nodes);
	shelf->throughout = arena_array(arena, struct taken, nodes);
	shelf->touched = arena_array(arena, int, nodes);
	shelf->is_touched = arena_array(arena, bool, nodes);
	shelf->addresses = arena_array(arena, int64_t, items->count);
	shelf_clear(shelf);
	return shelf;
}

/* The first interval that ends above the address. */
static int find(const struct taken *taken, int64_t address)
{
	size_t at;
	bisect(at, 0, taken->count, taken->at[at].end <= address);
	return (int)at;
}

static void insert(struct shelf *shelf, struct taken *taken, struct interval added)
{
	int first = find(taken, added.start - 1), end = first;
	while (end < taken->count && taken->at[end].start <= added.end) {
		added.start = number_min(added.start, taken->at[end].start);
		added.end = number_max(added.end, taken->at[end].end);
		end++;
	}
	if (taken->count == taken->capacity && end == first) {
		taken->capacity = taken->capacity ? 2 * taken->capacity : 4;
		struct interval *grown =
			arena_array(shelf->arena, struct interval, taken->capacity);
		if (taken->count)
			memcpy(grown, taken->at, (size_t)taken->count * sizeof *grown);
		taken->at = grown;
	}
	memmove(&taken->at[first + 1], &taken->at[end],
		(size_t)(taken->count - end) * sizeof *taken->at);
	taken->at[first] = added;
	taken->count += 1 - (end - first);
	shelf->work += 2;
}

static void touch(struct shelf *shelf, int node)
{
	if (!shelf->is_touched[node])
		shelf->touched[shelf->touched_count++] = node;
	shelf->is_touched[node] = true;
}

static void take_node(struct shelf *shelf, int node, struct interval added)
{
	insert(shelf, &shelf->throughout[node], added);
	for (; node; node /= 2) {
		touch(shelf, node);
		insert(shelf, &shelf->somewhere[node], added);
	}
}

static void take(struct shelf *shelf, size_t item, int64_t address)
{
	const struct item *it = &shelf->items->at[item];
	shelf->addresses[item] = address;
	for (size_t k = 0; k < it->part_count; k++) {
		const struct item_part *part = &shelf->items->parts[it->first_part + k];
		int low = part->first + shelf->leaves, high = part->end + shelf->leaves;
		struct interval added = {address, address + part->size};
		for (; low < high; low /= 2, high /= 2) {
			if (low % 2)
				take_node(shelf, low++, added);
			if (high % 2)
				take_node(shelf, --high, added);
		}
	}
}

static void add_look(struct shelf *shelf, const struct taken *taken, int64_t size)
{
	if (!taken->count)
		return;
	if (shelf->look_count == shelf->look_capacity) {
		shelf->look_capacity = shelf->look_capacity ? 2 * shelf->look_capacity : LOOKS_MOST;
		struct look *grown = arena_array(shelf->arena, struct look, shelf->look_capacity);
		if (shelf->look_count)
			memcpy(grown, shelf->looks, shelf->look_count * sizeof *grown);
		shelf->looks = grown;
	}
	shelf->looks[shelf->look_count++] = (struct look){taken, size, 0};
}

/* The nodes that a life is made of, and all that are above one of them: those above the outermost
 * on either side. */
static void look_at_part(struct shelf *shelf, const struct item_part *part)
{
	int low = part->first + shelf->leaves, high = part->end + shelf->leaves;
	int left = 0, right = 0;
	for (; low < high; low /= 2, high /= 2) {
		if (low % 2) {
			left = left ? left : low / 2;
			add_look(shelf, &shelf->somewhere[low++], part->size);
		}
		if (high % 2) {
			high--;
			right = right ? right : high / 2;
			add_look(shelf, &shelf->somewhere[high], part->size);
		}
	}
	while (left || right) {
		int node = left > right ? left : right;
		add_look(shelf, &shelf->throughout[node], part->size);
		left = left == node ? left / 2 : left;
		right = right == node ? right / 2 : right;
	}
}

static int64_t round_up(int64_t address, int64_t step)
{
	return step == 1 ? address : number_align_up(address, step);
}

/* The lowest address from `address` on where all sets have room. */
static int64_t next_gap(struct shelf *shelf, const struct item *item, int64_t address, int64_t most)
{
	size_t agreed = 0, at = 0;
	while (agreed < shelf->look_count && address <= most) {
		struct look *look = &shelf->looks[at];
		const struct taken *taken = look->taken;
		int64_t before = address;
		while (look->next < taken->count &&
			taken->at[look->next].start < address + look->size) {
			if (taken->at[look->next].end > address)
				address = round_up(taken->at[look->next].end, item->step);
			look->next++;
			shelf->work++;
		}
		/* An interval that was passed may end beyond where rounding stopped: none does. */
		agreed = address == before ? agreed + 1 : 1;
		at = at + 1 == shelf->look_count ? 0 : at + 1;
		shelf->work++;
	}
	return address;
}

/* Bytes between the item, if it lies here, and what is above it. */
static int64_t room_above(const struct shelf *shelf, int64_t address)
{
	int64_t room = INT64_MAX;
	for (size_t k = 0; k < shelf->look_count; k++) {
		const struct look *look = &shelf->looks[k];
		if (look->next < look->taken->count)
			room = number_min(
				room, look->taken->at[look->next].start - address - look->size);
	}
	return room;
}

static int64_t choose(
	struct shelf *shelf, const struct item *item, enum shelf_fit fit, int64_t most)
{
	int64_t address = round_up(number_max(item->least, 0), item->step), chosen = UNPLACED;
	int64_t least = INT64_MAX;
	for (size_t k = 0; k < shelf->look_count; k++)
		shelf->looks[k].next = find(shelf->looks[k].taken, address);
	while ((address = next_gap(shelf, item, address, most)) <= most) {
		if (fit == SHELF_FIRST)
			return address;
		int64_t room = room_above(shelf, address);
		if (chosen == UNPLACED || room < least) {
			chosen = address;
			least = room;
		}
		if (room == INT64_MAX)
			break;
		address = round_up(address + room + 1, item->step);
	}
	return chosen;
}

int64_t shelf_put(struct shelf *shelf, size_t item, enum shelf_fit fit, int64_t limit)
{
	const struct item *it = &shelf->items->at[item];
	if (shelf->addresses[item] != UNPLACED)
		return shelf->addresses[item];
	shelf->look_count = 0;
	for (size_t k = 0; k < it->part_count; k++)
		look_at_part(shelf, &shelf->items->parts[it->first_part + k]);
	int64_t address = choose(shelf, it, fit, number_min(it->most, limit - it->size));
	if (address != UNPLACED)
		take(shelf, item, address);
	return address;
}

void shelf_clear(struct shelf *shelf)
{
	for (int k = 0; k < shelf->touched_count; k++) {
		int node = shelf->touched[k];
		shelf->somewhere[node].count = shelf->throughout[node].count = 0;
		shelf->is_touched[node] = false;
	}
	shelf->touched_count = 0;
	for (size_t i = 0; i < shelf->items->count; i++)
		shelf->addresses[i] = UNPLACED;
	for (size_t i = 0; i < shelf->items->count; i++)
		if (items_range(shelf->items, i))
			take(shelf, i, shelf->items->at[i].least);
}

const int64_t *shelf_addresses(const struct shelf *shelf)
{
	return shelf->addresses;
}

uint64_t shelf_work(const struct shelf *shelf)
{
	return shelf->work;
}
