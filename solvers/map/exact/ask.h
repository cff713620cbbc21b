#ifndef MAP_EXACT_ASK_H
#define MAP_EXACT_ASK_H

#include "search/drive/solver.h"
#include "search/nest/nest_search.h"

/*
 * Another solver of mappings is asked, for `ticks` at most, as chain number `chain` of
 * `chains` where it works in chains.  What it does counts as done by `run`; its answer lives in the
 * arena, and nothing of it is offered yet.
 */
struct answer nest_ask(struct run *run, const char *solver, const struct nest_search *search,
	uint64_t chain, uint64_t chains, uint64_t ticks, struct arena *arena);

#endif
