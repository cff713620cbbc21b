#include "base/arena.h"
#include "base/number.h"
#include "solvers/place/load.h"
#include "solvers/place/orders.h"
#include "solvers/place/packing.h"

#include <math.h>
#include <string.h>

/*
 * Simulated annealing over orders (Imanishi and Xu, "A heuristic for periodic memory allocation
 * with little fragmentation to train neural networks", ISMM 2024, do so from a first fit): a chain
 * begins with the layout that first fit or best fit makes of buffers with short lives first, or of
 * large ones first; its order of addresses is disturbed by moving one item to an earlier place, most
 * often one that reaches the top or was left out; items are placed anew, by the same fit.
 *
 * Half of the chains leave some children apart from their parents, whose places they could take.
 * Chains know nothing of each other.
 */
enum { CHAINS = 8, CHAIN_WORK = 60000000, MOVES_MOST = 200000 };

/* Temperatures, as parts of the first cost. */
static const double hot = 0.01, cold = 0.00005;

struct chain {
	const struct items *items;
	double cost;
	int64_t *addresses; /* by item, of the best */
};

struct annealing {
	const struct packing *packing;
	const struct items *items; /* every child where it can be */
	double least;              /* no cost is below */
	struct chain chains[CHAINS];
};

/* A random number in (0, 1]. */
static double fraction(struct run *run)
{
	return (double)(run_random(run, 1 << 30) + 1) / (1 << 30);
}

static const struct items *loosen(struct run *run, const struct items *items)
{
	int *parents = arena_copy(
		run_arena(run), items->parents, items->packing.count * sizeof *items->parents);
	bool changed = false;
	for (size_t i = 0; i < items->buffer_count; i++)
		if (parents[i] >= 0 && !items->packing.buffers[i].must_take_over &&
			run_random(run, 4) == 0) {
			parents[i] = -1;
			changed = true;
		}
	return changed ? items_with(items, parents, run_arena(run)) : items;
}

/* One that reaches the top or is left out, if it is drawn soon; else any. */
static size_t draw_item(struct run *run, const struct orders *orders, const size_t *order,
	size_t count, const int64_t *addresses, double cost)
{
	bool spill = orders->items->packing.goal == PACKING_SPILL;
	size_t start = 1 + run_random(run, count - 1);
	if (run_random(run, 4) == 0)
		return start;
	for (size_t n = 0; n < count; n++) {
		size_t k = start + n < count ? start + n : start + n - count;
		size_t item = order[k];
		bool out = addresses[item] == UNPLACED;
		if (!spill && !out)
			out = (double)(addresses[item] + orders->items->at[item].size) >=
			      cost * 0.98;
		if (out && k > 0)
			return k;
	}
	return start;
}

static void move_earlier(struct run *run, size_t *order, size_t from)
{
	size_t item = order[from], to = run_random(run, from);
	memmove(&order[to + 1], &order[to], (from - to) * sizeof *order);
	order[to] = item;
}

static void anneal_from(struct run *run, struct orders *orders, const struct annealing *annealing,
	size_t *order, size_t count, int fit, struct chain *chain)
{
	size_t bytes = count * sizeof *order, items = orders->items->count;
	size_t *other = arena_array(orders->arena, size_t, count);
	int64_t *now =
		arena_copy(orders->arena, orders->addresses, items * sizeof *orders->addresses);
	double cost = chain->cost, first = fmax(cost, 1);
	uint64_t begin = shelf_work(orders->shelf), moves = 0;
	while (!orders->over && count > 1 && chain->cost > annealing->least &&
		moves++ < MOVES_MOST) {
		double passed = (double)(shelf_work(orders->shelf) - begin) / CHAIN_WORK;
		if (passed >= 1)
			break;
		double heat = first * hot * pow(cold / hot, passed);
		memcpy(other, order, bytes);
		move_earlier(run, other, draw_item(run, orders, order, count, now, cost));
		double worst = cost - heat * log(fraction(run));
		double tried = orders_try(orders, other, count, fit, worst, 0);
		if (tried == INFINITY)
			continue;
		memcpy(order, other, bytes);
		memcpy(now, orders->addresses, items * sizeof *now);
		cost = tried;
		if (cost >= chain->cost)
			continue;
		chain->cost = cost;
		memcpy(chain->addresses, now, items * sizeof *now);
	}
}

static void run_chain(struct run *run, void *context, size_t i)
{
	struct annealing *annealing = context;
	struct chain *chain = &annealing->chains[i];
	struct arena *arena = run_arena(run);
	int fit = i % 2 ? SHELF_BEST : SHELF_FIRST;
	chain->items = i < CHAINS / 2 ? annealing->items : loosen(run, annealing->items);
	struct orders *orders = orders_make(run, chain->items, arena);
	size_t count, *order = orders_all(orders, &count);
	chain->addresses = arena_array(arena, int64_t, chain->items->count);
	orders_by(orders, order, count, i / 2 % 2 ? ORDERS_SIZE : ORDERS_SHORT);
	chain->cost = orders_try(orders, order, count, fit, INFINITY, 0);
	if (chain->cost == INFINITY)
		return;
	memcpy(chain->addresses, orders->addresses, chain->items->count * sizeof *chain->addresses);
	orders_by_address(orders, order, count, chain->addresses);
	anneal_from(run, orders, annealing, order, count, fit, chain);
}

static void anneal_run(struct run *run, const struct problem *problem)
{
	const struct packing *packing = problem->packing;
	if (!packing_declared(run, packing) || !packing_whole(run, packing))
		return;
	struct annealing annealing = {
		.packing = packing, .items = items_make(packing, run_arena(run))};
	if (packing->goal == PACKING_PEAK)
		annealing.least = (double)packing_load(packing, run_arena(run));
	else if (packing->goal == PACKING_FIT)
		annealing.least = (double)packing->capacity;
	for (int i = 0; i < CHAINS; i++)
		annealing.chains[i].cost = INFINITY;
	run_parts(run, CHAINS, run_chain, &annealing);
	const struct chain *best = &annealing.chains[0];
	for (int i = 1; i < CHAINS; i++)
		if (annealing.chains[i].cost < best->cost)
			best = &annealing.chains[i];
	if (best->cost == INFINITY)
		packing_offer(run, packing, packing_open(run, packing));
	else
		orders_offer(run, packing, best->items, best->addresses);
}

const struct solver place_anneal_solver = {
	.stage = STAGE_PLACE,
	.name = "anneal",
	.summary = "simulated annealing over orders, from first fit and best fit",
	.run = anneal_run,
};
