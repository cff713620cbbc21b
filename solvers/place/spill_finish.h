#ifndef PLACE_SPILL_FINISH_H
#define PLACE_SPILL_FINISH_H

#include "search/solver.h"
#include "solvers/place/spill_moves.h"

/*
 * Makes a packing fuller: what was wanted and is not there, and then whatever has room in the rows,
 * finds a place between what is there, or is made one (spill_mend.h).  Where nothing is handed over.
 *
 * The set packs at these addresses, by item, and gains no less afterwards.  Wanted are all of the
 * set, and perhaps more.
 */
void spill_finish(struct run *run, struct spill_moves *moves, const struct spill_set *wanted,
	struct spill_set *set, int64_t *at);

#endif
