#ifndef PLACE_SPILL_MEND_H
#define PLACE_SPILL_MEND_H

#include "search/drive/solver.h"
#include "solvers/place/spill_set.h"

/*
 * Puts one more item into a packing: what lives near it may move anywhere, all else keeps its order
 * (pack_order.h), and may yet give way.
 */

/* The set packs at these addresses, by item; the item is not kept.  True: it is now, and the
 * addresses are new.  At most so many tries; their work, in the packer's nodes, about, is added.
 * Where nothing is handed over. */
bool spill_mend(
	struct run *run, struct spill_set *set, int64_t *at, int item, int tries, uint64_t *work);

#endif
