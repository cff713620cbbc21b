#include "solvers/place/orders.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "model/packing/buffer.h"
#include "solvers/place/packing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Items on top of each other: each lies on the highest of what was put before it and lives with
 * it.  Holes below are not looked for, so that an item costs log(sections).
 * Put in the order of the addresses of a packing, none comes to lie higher than it did there.  For
 * items without fixed addresses, and no reserved ranges.
 */
struct skyline;

/* A tree over the sections; node 1 is the root. */
struct skyline {
	const struct items *items;
	size_t leaves;
	int64_t *highest;  /* by node: of anything in it */
	int64_t *all_over; /* by node: of what was put on just its sections */
};

static struct skyline *skyline_make(const struct items *items, struct arena *arena)
{
	struct skyline *skyline = arena_new(arena, struct skyline);
	*skyline = (struct skyline){.items = items, .leaves = 1};
	while (skyline->leaves < (size_t)items->section_count)
		skyline->leaves *= 2;
	skyline->highest = arena_array(arena, int64_t, 2 * skyline->leaves);
	skyline->all_over = arena_array(arena, int64_t, 2 * skyline->leaves);
	return skyline;
}

static void skyline_clear(struct skyline *skyline)
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

static void skyline_raise(struct skyline *skyline, const struct item_part *part, int64_t top)
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

/* Its address; UNPLACED if it would end above `limit`. */
static int64_t skyline_put(struct skyline *skyline, size_t item, int64_t limit)
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
		skyline_raise(skyline, &parts[k], address + parts[k].size);
	return address;
}

struct interval {
	int64_t start, end;
};

/* Disjoint, not even touching, ascending. */
struct taken {
	struct interval *at;
	int count, capacity;
};

/* A search in one set for room of this many bytes. */
struct look {
	const struct taken *taken;
	int64_t size;
	int next; /* the first interval that ends above the address in question */
};

enum { LEVELS_MOST = 32, LOOKS_MOST = 6 * LEVELS_MOST };

struct fit_tree {
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

struct fit_tree *fit_tree_make(const struct items *items, struct arena *arena)
{
	struct fit_tree *tree = arena_new(arena, struct fit_tree);
	*tree = (struct fit_tree){.items = items, .arena = arena, .leaves = 1};
	while (tree->leaves < items->section_count)
		tree->leaves *= 2;
	size_t nodes = 2 * (size_t)tree->leaves;
	tree->somewhere = arena_array(arena, struct taken, nodes);
	tree->throughout = arena_array(arena, struct taken, nodes);
	tree->touched = arena_array(arena, int, nodes);
	tree->is_touched = arena_array(arena, bool, nodes);
	tree->addresses = arena_array(arena, int64_t, items->count);
	fit_tree_clear(tree);
	return tree;
}

/* The first interval that ends above the address. */
static int find_taken(const struct taken *taken, int64_t address)
{
	size_t at;
	bisect(at, 0, taken->count, taken->at[at].end <= address);
	return (int)at;
}

static void fit_tree_insert(struct fit_tree *tree, struct taken *taken, struct interval added)
{
	int first = find_taken(taken, added.start - 1), end = first;
	while (end < taken->count && taken->at[end].start <= added.end) {
		added.start = number_min(added.start, taken->at[end].start);
		added.end = number_max(added.end, taken->at[end].end);
		end++;
	}
	if (taken->count == taken->capacity && end == first) {
		taken->capacity = taken->capacity ? 2 * taken->capacity : 4;
		struct interval *grown = arena_array(tree->arena, struct interval, taken->capacity);
		if (taken->count)
			memcpy(grown, taken->at, (size_t)taken->count * sizeof *grown);
		taken->at = grown;
	}
	memmove(&taken->at[first + 1], &taken->at[end],
		(size_t)(taken->count - end) * sizeof *taken->at);
	taken->at[first] = added;
	taken->count += 1 - (end - first);
	tree->work += 2;
}

static void fit_tree_touch(struct fit_tree *tree, int node)
{
	if (!tree->is_touched[node])
		tree->touched[tree->touched_count++] = node;
	tree->is_touched[node] = true;
}

static void take_node(struct fit_tree *tree, int node, struct interval added)
{
	fit_tree_insert(tree, &tree->throughout[node], added);
	for (; node; node /= 2) {
		fit_tree_touch(tree, node);
		fit_tree_insert(tree, &tree->somewhere[node], added);
	}
}

static void take_bytes(struct fit_tree *tree, size_t item, int64_t address)
{
	const struct item *it = &tree->items->at[item];
	tree->addresses[item] = address;
	for (size_t k = 0; k < it->part_count; k++) {
		const struct item_part *part = &tree->items->parts[it->first_part + k];
		int low = part->first + tree->leaves, high = part->end + tree->leaves;
		struct interval added = {address, address + part->size};
		for (; low < high; low /= 2, high /= 2) {
			if (low % 2)
				take_node(tree, low++, added);
			if (high % 2)
				take_node(tree, --high, added);
		}
	}
}

static void add_look(struct fit_tree *tree, const struct taken *taken, int64_t size)
{
	if (!taken->count)
		return;
	if (tree->look_count == tree->look_capacity) {
		tree->look_capacity = tree->look_capacity ? 2 * tree->look_capacity : LOOKS_MOST;
		struct look *grown = arena_array(tree->arena, struct look, tree->look_capacity);
		if (tree->look_count)
			memcpy(grown, tree->looks, tree->look_count * sizeof *grown);
		tree->looks = grown;
	}
	tree->looks[tree->look_count++] = (struct look){taken, size, 0};
}

/* The nodes that a life is made of, and all that are above one of them: those above the outermost
 * on either side. */
static void look_at_part(struct fit_tree *tree, const struct item_part *part)
{
	int low = part->first + tree->leaves, high = part->end + tree->leaves;
	int left = 0, right = 0;
	for (; low < high; low /= 2, high /= 2) {
		if (low % 2) {
			left = left ? left : low / 2;
			add_look(tree, &tree->somewhere[low++], part->size);
		}
		if (high % 2) {
			high--;
			right = right ? right : high / 2;
			add_look(tree, &tree->somewhere[high], part->size);
		}
	}
	while (left || right) {
		int node = left > right ? left : right;
		add_look(tree, &tree->throughout[node], part->size);
		left = left == node ? left / 2 : left;
		right = right == node ? right / 2 : right;
	}
}

static int64_t round_up(int64_t address, int64_t step)
{
	return step == 1 ? address : number_align_up(address, step);
}

/* The lowest address from `address` on where all sets have room. */
static int64_t next_gap(
	struct fit_tree *tree, const struct item *item, int64_t address, int64_t most)
{
	size_t agreed = 0, at = 0;
	while (agreed < tree->look_count && address <= most) {
		struct look *look = &tree->looks[at];
		const struct taken *taken = look->taken;
		int64_t before = address;
		while (look->next < taken->count &&
			taken->at[look->next].start < address + look->size) {
			if (taken->at[look->next].end > address)
				address = round_up(taken->at[look->next].end, item->step);
			look->next++;
			tree->work++;
		}
		/* An interval that was passed may end beyond where rounding stopped: none does. */
		agreed = address == before ? agreed + 1 : 1;
		at = at + 1 == tree->look_count ? 0 : at + 1;
		tree->work++;
	}
	return address;
}

/* Bytes between the item, if it lies here, and what is above it. */
static int64_t room_above(const struct fit_tree *tree, int64_t address)
{
	int64_t room = INT64_MAX;
	for (size_t k = 0; k < tree->look_count; k++) {
		const struct look *look = &tree->looks[k];
		if (look->next < look->taken->count)
			room = number_min(
				room, look->taken->at[look->next].start - address - look->size);
	}
	return room;
}

static int64_t fit_tree_choose(
	struct fit_tree *tree, const struct item *item, enum fit_tree_rule fit, int64_t most)
{
	int64_t address = round_up(number_max(item->least, 0), item->step), chosen = UNPLACED;
	int64_t least = INT64_MAX;
	for (size_t k = 0; k < tree->look_count; k++)
		tree->looks[k].next = find_taken(tree->looks[k].taken, address);
	while ((address = next_gap(tree, item, address, most)) <= most) {
		if (fit == FIT_TREE_FIRST)
			return address;
		int64_t room = room_above(tree, address);
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

int64_t fit_tree_put(struct fit_tree *tree, size_t item, enum fit_tree_rule fit, int64_t limit)
{
	const struct item *it = &tree->items->at[item];
	if (tree->addresses[item] != UNPLACED)
		return tree->addresses[item];
	tree->look_count = 0;
	for (size_t k = 0; k < it->part_count; k++)
		look_at_part(tree, &tree->items->parts[it->first_part + k]);
	int64_t address = fit_tree_choose(tree, it, fit, number_min(it->most, limit - it->size));
	if (address != UNPLACED)
		take_bytes(tree, item, address);
	return address;
}

void fit_tree_clear(struct fit_tree *tree)
{
	for (int k = 0; k < tree->touched_count; k++) {
		int node = tree->touched[k];
		tree->somewhere[node].count = tree->throughout[node].count = 0;
		tree->is_touched[node] = false;
	}
	tree->touched_count = 0;
	for (size_t i = 0; i < tree->items->count; i++)
		tree->addresses[i] = UNPLACED;
	for (size_t i = 0; i < tree->items->count; i++)
		if (items_range(tree->items, i))
			take_bytes(tree, i, tree->items->at[i].least);
}

const int64_t *fit_tree_addresses(const struct fit_tree *tree)
{
	return tree->addresses;
}

uint64_t fit_tree_work(const struct fit_tree *tree)
{
	return tree->work;
}

enum { WORK_OF_A_TICK = 64, ITEMS_BETWEEN_CHARGES = 4096 };

struct orders *orders_make(struct run *run, const struct items *items, struct arena *arena)
{
	struct orders *orders = arena_new(arena, struct orders);
	*orders = (struct orders){.run = run,
		.items = items,
		.arena = arena,
		.addresses = arena_array(arena, int64_t, items->count),
		.losses = arena_array(arena, double, items->count)};
	double weights = 0;
	for (size_t i = 0; i < items->count; i++)
		weights += items->at[i].weight;
	for (size_t i = 0; i < items->buffer_count; i++)
		if (items->of[i] >= 0)
			orders->losses[items->of[i]] +=
				(double)(weights > 0 ? items->packing.buffers[i].weight
						     : items->packing.buffers[i].size);
	return orders;
}

size_t *orders_all(const struct orders *orders, size_t *count)
{
	size_t *order = arena_array(orders->arena, size_t, orders->items->count);
	*count = 0;
	for (size_t i = 0; i < orders->items->count; i++)
		if (!items_range(orders->items, i))
			order[(*count)++] = i;
	return order;
}

static void open_engine(struct orders *orders, int fit)
{
	if (fit == ORDERS_SKYLINE) {
		if (!orders->skyline)
			orders->skyline = skyline_make(orders->items, orders->arena);
		skyline_clear(orders->skyline);
	} else {
		if (!orders->tree)
			orders->tree = fit_tree_make(orders->items, orders->arena);
		fit_tree_clear(orders->tree);
	}
}

static int64_t orders_put(struct orders *orders, size_t item, int fit, int64_t limit)
{
	return fit == ORDERS_SKYLINE
		       ? skyline_put(orders->skyline, item, limit)
		       : fit_tree_put(orders->tree, item, (enum fit_tree_rule)fit, limit);
}

static bool orders_charge(struct orders *orders, uint64_t placed)
{
	uint64_t work = (orders->tree ? fit_tree_work(orders->tree) : 0) / WORK_OF_A_TICK;
	orders->over |= !run_spend(orders->run, work - orders->charged + placed);
	orders->charged = work;
	return !orders->over;
}

double orders_try(struct orders *orders, const size_t *order, size_t count, int fit, double worst,
	uint64_t work)
{
	bool spill = orders->items->packing.goal == PACKING_SPILL;
	int64_t limit = PACKING_BYTES_MOST;
	if (spill)
		limit = orders->items->packing.capacity;
	else if (worst < (double)limit)
		limit = (int64_t)worst;
	open_engine(orders, fit);
	uint64_t before = orders->tree ? fit_tree_work(orders->tree) : 0;
	double cost = 0;
	for (size_t k = 0; k < count && cost <= worst; k++) {
		size_t item = order[k];
		int64_t address = orders_put(orders, item, fit, limit);
		orders->addresses[item] = address;
		if (spill)
			cost += address == UNPLACED ? orders->losses[item] : 0;
		else if (address == UNPLACED)
			cost = INFINITY;
		else
			cost = fmax(cost, (double)(address + orders->items->at[item].size));
		bool heavy = work && orders->tree && fit_tree_work(orders->tree) - before > work;
		if (heavy || (k % ITEMS_BETWEEN_CHARGES == 0 &&
				     !orders_charge(orders, k > 0 ? ITEMS_BETWEEN_CHARGES : 1)))
			cost = INFINITY;
	}
	orders_charge(orders, 0);
	return cost > worst ? INFINITY : cost;
}

struct sort_key {
	double value;
	size_t item;
};

static int compare_keys(const void *left, const void *right)
{
	const struct sort_key *a = left, *b = right;
	if (a->value != b->value)
		return a->value > b->value ? -1 : 1;
	return (a->item > b->item) - (a->item < b->item);
}

void orders_sort(struct orders *orders, size_t *order, size_t count, const double *keys)
{
	struct arena_mark mark = arena_mark(orders->arena);
	struct sort_key *sorted = arena_array(orders->arena, struct sort_key, count);
	for (size_t k = 0; k < count; k++)
		sorted[k] = (struct sort_key){keys[order[k]], order[k]};
	if (count)
		qsort(sorted, count, sizeof *sorted, compare_keys);
	for (size_t k = 0; k < count; k++)
		order[k] = sorted[k].item;
	arena_release(orders->arena, mark);
}

static double key_of(const struct orders *orders, size_t i, enum orders_key key)
{
	const struct items *items = orders->items;
	const struct item *item = &items->at[i];
	if (items->packing.goal != PACKING_SPILL && items_fixed(items, i))
		return INFINITY;
	switch (key) {
	case ORDERS_SIZE:
		return (double)item->size;
	case ORDERS_LIFE:
		return (double)item->life;
	case ORDERS_AREA:
		return item->area;
	case ORDERS_START:
		return -(double)items->parts[item->first_part].first;
	case ORDERS_WORTH:
		return orders->losses[i] / fmax(item->area, 1);
	}
	return 0;
}

void orders_by(struct orders *orders, size_t *order, size_t count, enum orders_key key)
{
	struct arena_mark mark = arena_mark(orders->arena);
	double *keys = arena_array(orders->arena, double, orders->items->count);
	for (size_t k = 0; k < count; k++)
		keys[order[k]] = key_of(orders, order[k], key);
	orders_sort(orders, order, count, keys);
	arena_release(orders->arena, mark);
}

void orders_by_address(struct orders *orders, size_t *order, size_t count, const int64_t *addresses)
{
	struct arena_mark mark = arena_mark(orders->arena);
	double *keys = arena_array(orders->arena, double, orders->items->count);
	for (size_t i = 0; i < orders->items->count; i++)
		keys[i] = addresses[i] == UNPLACED ? -INFINITY : -(double)addresses[i];
	orders_sort(orders, order, count, keys);
	arena_release(orders->arena, mark);
}

void orders_offer(struct run *run, const struct packing *packing, const struct items *items,
	const int64_t *addresses)
{
	struct placement *placement = packing_open(run, packing);
	items_place(items, addresses, placement);
	for (size_t i = 0; i < packing->count; i++)
		if (placement->addresses[i] > packing->capacity - packing->buffers[i].size)
			placement->addresses[i] = UNPLACED;
	packing_offer(run, packing, placement);
}

const struct placement *start_hinted(struct run *run, const struct packing *packing)
{
	for (size_t i = 0; i < packing->count; i++)
		if (!packing->buffers[i].has_hint)
			return NULL;
	if (!packing->count)
		return NULL;
	struct placement *placement = packing_open(run, packing);
	for (size_t i = 0; i < packing->count; i++)
		placement->addresses[i] = packing->buffers[i].hint;
	placement_note(packing, placement);
	return packing_check(packing, placement).a < 0 ? placement : NULL;
}

/* The lower of two; NULL: none. */
static const struct placement *lower_placement(
	const struct packing *packing, const struct placement *a, const struct placement *b)
{
	if (!a || !b)
		return a ? a : b;
	return placement_peak(packing, a) <= placement_peak(packing, b) ? a : b;
}

const struct placement *start_layout(struct run *run, const struct packing *packing)
{
	const struct placement *hinted = start_hinted(run, packing);
	static const enum orders_key keys[] = {ORDERS_LIFE, ORDERS_AREA, ORDERS_SIZE, ORDERS_START};
	struct arena *arena = arena_open();
	struct items *items = items_make(packing, arena);
	struct orders *orders = orders_make(run, items, arena);
	struct placement *placement = packing_open(run, packing);
	double load = (double)packing_load(packing, arena), best = (double)packing->capacity + 1;
	size_t count;
	size_t *order = orders_all(orders, &count);
	for (size_t way = 0; way < 2 * sizeof keys / sizeof *keys && best > load; way++) {
		orders_by(orders, order, count, keys[way / 2]);
		int fit = way % 2 ? FIT_TREE_BEST : FIT_TREE_FIRST;
		double cost = orders_try(orders, order, count, fit, best - 1, 0);
		if (cost == INFINITY)
			continue;
		items_place(items, orders->addresses, placement);
		best = cost;
	}
	arena_close(arena);
	if (best > (double)packing->capacity)
		return hinted;
	placement_note(packing, placement);
	for (size_t i = 0; i < packing->count; i++)
		if (placement->addresses[i] == UNPLACED)
			return hinted;
	return lower_placement(packing, hinted, placement);
}
