#ifndef SEARCH_CAPTURE_SEARCH_H
#define SEARCH_CAPTURE_SEARCH_H

#include "model/packing/capture.h"
#include "search/drive/solver.h"

/* What came of one capture: the best answer that passed the checker. */
struct capture_found {
	const struct capture_answer *answer;
	bool is_proven;  /* no legal answer has a lower cost */
	int64_t bound;   /* no legal answer spills fewer bytes */
	uint64_t ticks;  /* of the search: divisions tried */
	bool is_stopped; /* by the caller or the budget */
	const char *
		reason; /* why the search ended without a proof; NULL: it did not, or was stopped */
};

/*
 * Asks the solver of captures, within `budget` ticks (0: no limit).  The result lives in the arena.
 * A stop leaves the best answer so far: there always is one, with everything in HBM.
 */
struct capture_found capture_explore(const struct asker *asker,
	const struct capture_question *question, uint64_t budget, struct arena *arena);

#endif
