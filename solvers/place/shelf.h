#ifndef PLACE_SHELF_H
#define PLACE_SHELF_H

#include "solvers/place/items.h"

/*
 * First fit and best fit for many items.  A tree over the sections keeps, of every range of
 * sections that is a node, which bytes are taken somewhere in it, and which are taken
 * throughout, each as few long intervals as there can be.  An item's free addresses are looked
 * up in the nodes that make up its life and those above: some log(sections), independent of what lives beside
 * it.  Cost of an item: about log^2, more where many small gaps are passed over.
 */
struct shelf;

enum shelf_fit { SHELF_FIRST, SHELF_BEST };

struct shelf *shelf_make(const struct items *items, struct arena *arena);

/* Empty, but for the reserved ranges; the addresses of all other items are UNPLACED. */
void shelf_clear(struct shelf *shelf);

/* Places an item at an address so that it ends at `limit` at most; UNPLACED if it cannot. */
int64_t shelf_put(struct shelf *shelf, size_t item, enum shelf_fit fit, int64_t limit);

const int64_t *shelf_addresses(const struct shelf *shelf); /* by item */
uint64_t shelf_work(const struct shelf *shelf);            /* intervals looked at, ever */

#endif
