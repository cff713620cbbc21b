#ifndef PLACE_ORDERS_H
#define PLACE_ORDERS_H

#include "search/drive/solver.h"
#include "solvers/place/packing.h"

/*
 * First fit and best fit for many items.  A tree over the sections keeps, of every range of
 * sections that is a node, which bytes are taken somewhere in it, and which are taken
 * throughout, each as few long intervals as there can be.  An item's free addresses are looked
 * up in the nodes that make up its life and those above: some log(sections), independent of what lives beside
 * it.  Cost of an item: about log^2, more if many small gaps are skipped.
 */
struct fit_tree;

enum fit_tree_rule { FIT_TREE_FIRST, FIT_TREE_BEST };

struct fit_tree *fit_tree_make(const struct items *items, struct arena *arena);

/* Empty, but for the reserved ranges; the addresses of all other items are UNPLACED. */
void fit_tree_clear(struct fit_tree *tree);

/* Places an item at an address so that it ends at `limit` at most; UNPLACED if it cannot. */
int64_t fit_tree_put(struct fit_tree *tree, size_t item, enum fit_tree_rule fit, int64_t limit);

const int64_t *fit_tree_addresses(const struct fit_tree *tree); /* by item */
uint64_t fit_tree_work(const struct fit_tree *tree);            /* intervals looked at, ever */

/*
 * Placement of items one after the other, for searches over orders.  The cost is what the goal minimises: the peak,
 * also if it only must stay below the capacity; or the weight of the buffers without a place, their bytes without
 * weights.
 */
enum {
	ORDERS_SKYLINE = 2
}; /* beside the two of enum fit_tree_rule: on top, without a look at holes */

struct orders {
	struct run *run;
	const struct items *items;
	struct arena *arena;
	struct fit_tree *tree;   /* NULL until it is needed */
	struct skyline *skyline; /* same */
	int64_t *addresses;      /* by item, of the last order tried */
	double *losses;          /* by item: what is lost without it */
	uint64_t charged;        /* work that became ticks */
	bool over;               /* the run is spent */
};

struct orders *orders_make(struct run *run, const struct items *items, struct arena *arena);

/* All items but the reserved ranges, as given; *count of them. */
size_t *orders_all(const struct orders *orders, size_t *count);

/*
 * The cost of an order; INFINITY, and addresses that mean nothing, if it is more than `worst`, if it takes more
 * work than `work` (0: any) or the run is spent.  Work: intervals looked at.
 */
double orders_try(struct orders *orders, const size_t *order, size_t count, int fit, double worst,
	uint64_t work);

/* Sorts by falling keys, by item; equal ones by number. */
void orders_sort(struct orders *orders, size_t *order, size_t count, const double *keys);

/* Sorts by a property of items, the most of it first; fixed items come first if all must be placed. */
enum orders_key {
	ORDERS_SIZE,
	ORDERS_LIFE,
	ORDERS_AREA,
	ORDERS_START, /* the earliest */
	ORDERS_WORTH, /* what is lost without it, for its area */
};
void orders_by(struct orders *orders, size_t *order, size_t count, enum orders_key key);

/* Sorts by rising address, those without one last. */
void orders_by_address(
	struct orders *orders, size_t *order, size_t count, const int64_t *addresses);

/* Offers a placement with these addresses, by item; what ends above the capacity is left out. */
void orders_offer(struct run *run, const struct packing *packing, const struct items *items,
	const int64_t *addresses);

/*
 * A first layout of all buffers, quickly: first and best fit of the longest lives first, the
 * largest areas, the largest sizes, the earliest; or where hints say, if that is no higher.  NULL if
 * none of them ends within the capacity.  The placement lives in run_arena; its peak is
 * placement_peak.
 */
const struct placement *start_layout(struct run *run, const struct packing *packing);

/* Places every buffer at its hint; NULL if some have none or the result is not a layout. */
const struct placement *start_hinted(struct run *run, const struct packing *packing);

#endif
