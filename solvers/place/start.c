#include "solvers/place/start.h"

#include "base/arena.h"
#include "model/packing/packing_sums.h"
#include "solvers/place/load.h"
#include "solvers/place/orders.h"
#include "solvers/place/packing.h"

#include <math.h>

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
static const struct placement *lower(
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
		int fit = way % 2 ? SHELF_BEST : SHELF_FIRST;
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
	return lower(packing, hinted, placement);
}
