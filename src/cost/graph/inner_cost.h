#ifndef COST_INNER_COST_H
#define COST_INNER_COST_H

#include "cost/nest/nest.h"
#include "model/graph/inner_nest.h"

/*
 * The inner nest of an op (model/graph/inner_nest.h), counted by cost/nest: once, since all tiles on all
 * cores have one shape.
 */
struct inner_cost {
	struct inner_nest nest;
	const struct nest_model *model;
	int home, scratchpad;           /* levels of the hierarchy; -1: it does not reach so far */
	int64_t tiles;                  /* times that a core carries it out; 1 for a whole op */
	struct nest_counts counts, all; /* of one time; of all tiles and cores */
	struct nest_score score;        /* of one time */
	const char *why;                /* what stands against it; NULL */
};

/* NULL where the computes of the op are no nests.  Counts are 0 where there is no model, and with
 * a verdict that has none. */
struct arena;
const struct inner_cost *inner_cost_make(
	const struct inner_question *question, struct arena *arena);

/* Words of the output's tile in the scratchpad, and its updates and reads there. */
struct inner_sums {
	int64_t words, updates, reads;
};
struct inner_sums inner_cost_sums(const struct inner_cost *inner);

#endif
