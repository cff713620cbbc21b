#ifndef PLACE_SPILL_FINISH_H
#define PLACE_SPILL_FINISH_H

#include "search/drive/solver.h"
#include "solvers/place/spill_moves.h"

/*
 * Makes a packing fuller: what was wanted and is not there, and then whatever has room in the rows,
 * finds a place between what is there, or is made one (spill_mend.h).  Where nothing is handed over.
 */
struct spill_finishing {
	const struct spill_set *wanted; /* all of the set, and perhaps more */
	int64_t least; /* gain: once hardly more can be hoped for, nothing more is tried */
	bool *failed; /* by item, false: afterwards true if it was wanted and no try found a place */
	uint64_t work; /* in the packer's nodes, about; is added */
};

/* The set packs at these addresses, by item, and gains no less afterwards. */
void spill_finish(struct run *run, struct spill_moves *moves, struct spill_finishing *finishing,
	struct spill_set *set, int64_t *at);

#endif
