#include "solvers/place/orders.h"

#include "base/arena.h"
#include "base/number.h"
#include "solvers/place/packing.h"
#include "solvers/place/skyline.h"

#include <math.h>
#include <stdlib.h>

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
		if (!orders->shelf)
			orders->shelf = shelf_make(orders->items, orders->arena);
		shelf_clear(orders->shelf);
	}
}

static int64_t put(struct orders *orders, size_t item, int fit, int64_t limit)
{
	return fit == ORDERS_SKYLINE ? skyline_put(orders->skyline, item, limit)
				     : shelf_put(orders->shelf, item, (enum shelf_fit)fit, limit);
}

static bool charge(struct orders *orders, uint64_t placed)
{
	uint64_t work = (orders->shelf ? shelf_work(orders->shelf) : 0) / WORK_OF_A_TICK;
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
	uint64_t before = orders->shelf ? shelf_work(orders->shelf) : 0;
	double cost = 0;
	for (size_t k = 0; k < count && cost <= worst; k++) {
		size_t item = order[k];
		int64_t address = put(orders, item, fit, limit);
		orders->addresses[item] = address;
		if (spill)
			cost += address == UNPLACED ? orders->losses[item] : 0;
		else if (address == UNPLACED)
			cost = INFINITY;
		else
			cost = fmax(cost, (double)(address + orders->items->at[item].size));
		bool heavy = work && orders->shelf && shelf_work(orders->shelf) - before > work;
		if (heavy || (k % ITEMS_BETWEEN_CHARGES == 0 &&
				     !charge(orders, k > 0 ? ITEMS_BETWEEN_CHARGES : 1)))
			cost = INFINITY;
	}
	charge(orders, 0);
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
