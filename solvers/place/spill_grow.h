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
struct spill_growth;

/* Of the packer's nodes at most so many, about; it begins at this step.  The question and the arena
 * last as long as it does. */
struct spill_growth *spill_growth_open(struct run *run, const struct spill_question *question,
	uint64_t nodes, int64_t at, struct arena *arena);

/* One try more, unless it is over; returns its nodes. */
uint64_t spill_growth_try(struct run *run, struct spill_growth *growth);
bool spill_growth_is_over(const struct spill_growth *growth);

/* Once it is over.  If the set fits, its addresses, by item. */
bool spill_growth_fits(const struct spill_growth *growth, int64_t *at);

/* Unless it fits: a step where it ended. */
int64_t spill_growth_stuck(const struct spill_growth *growth);

#endif
