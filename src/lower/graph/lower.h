#ifndef LOWER_GRAPH_LOWER_H
#define LOWER_GRAPH_LOWER_H

#include "lower/graph/program.h"
#include "model/graph/plan.h"

/*
 * Plan to program.  NULL when the plan cannot be carried out (tile buffers
 * that do not fit the reserve, a slice that its view cannot hold); *why then
 * says so in one sentence.
 */
struct arena;
const struct program *lower_plan(const struct plan *plan, struct arena *arena, const char **why);

/* Why a plan cannot be carried out, and at which of its steps (-1: at none in particular). */
struct lower_refusal {
	const char *why; /* NULL: nothing stands against it */
	int step;
};

/*
 * The same if the program has no more than `most` instructions (and can be numbered): else
 * NULL, refusal->why NULL, and no more work and memory than those take.
 */
const struct program *lower_within(
	const struct plan *plan, uint64_t most, struct arena *arena, struct lower_refusal *refusal);

#endif
