#ifndef PACKING_PACKING_SEARCH_H
#define PACKING_PACKING_SEARCH_H

#include "model/packing/capture.h"
#include "search/drive/drive.h"
#include "search/drive/solver.h"

/*
 * Asks a solver for the layout of a packing (drive.h): one task, whose offers are layouts.  What
 * they cost, in bytes of weights, follows from the goal:
 *
 *	fit       nothing; only layouts that have a place for all are kept
 *	minimize  the peak; the same
 *	spill     the weights of what is not kept
 */
struct packing;
struct placement;

struct packing_search {
	struct wishes wishes; /* the goal says what the objective is; the budget is of nodes */
	const struct packing *packing;
	const struct solver *solver; /* of the stage `place` */
};

/* The payload of the one frontier point, if a layout was found: its proof is of the cost. */
struct packing_found {
	struct found common;
	const struct placement *placement;
};

/* `more` is the solver's answer, a struct answer. */
struct explored packing_explore(const struct packing_search *search, struct arena *arena);

/* The result of one capture: the best answer that passed the checker. */
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
