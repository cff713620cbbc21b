#ifndef SEARCH_PACKING_SEARCH_H
#define SEARCH_PACKING_SEARCH_H

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

#endif
