#ifndef PLACE_SPILL_GROW_H
#define PLACE_SPILL_GROW_H

#include "search/solver.h"
#include "solvers/place/spill_pack.h"

/*
 * Packs a set section by section: from some sections on it adds one more at a time, to either side.
 * What began long before keeps its order (pack_order.h) or, farther off, its address; all else may
 * move.  Between tries that fail something farther back is packed anew, and where all tries fail
 * some sections are given up again.  It finds packings of sets that are too hard for one question,
 * and never that there is none.  Where nothing is handed over.
 */
struct spill_growth {
	uint64_t nodes; /* of the packer, at most so many; afterwards, so many */
	int64_t at;     /* a step at which to begin; afterwards, unless it fits, where it ended */
};

/* PACK_FITS: the addresses are in `at`, by item. */
enum pack_status spill_grow(struct run *run, const struct spill_question *question,
	struct spill_growth *growth, int64_t *at);

#endif
