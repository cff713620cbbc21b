#ifndef CUT_DP_STACK_H
#define CUT_DP_STACK_H

#include "solvers/joint/cut_dp/relax.h"

/*
 * A space that consists of segments, one after the other, as a network does of blocks.  No option has ops of two
 * segments.  Segments are equal if one is the other by other numbers of ops and tensors: their cuts have the same
 * states, their ops the same options at the same price.  Names do not matter.
 */
struct stack {
	int count;           /* segments; 0: it is none */
	const int *cuts;     /* count + 1; segment i has the ops from cuts[i] on */
	const bool *repeats; /* by segment: it is equal to the one behind it */
};

/* With at most so many states at each cut between segments, and there with as few tensors as can be. */
struct stack stack_find(const struct frame *frame, size_t states, struct arena *arena);

struct run;

/*
 * Raises a lower bound of the answers of a stack, by value iteration over its blocks, from the last to the first.
 *
 * Let V(h) be the completion bounds before a block, in each state, if h are those behind it.  A block is relaxed
 * between two potentials, so that the search sees one block at a time, however many follow.  Values above its
 * window are bounded by the edge of the window.  If V(h) >= h + c for a constant c in all states, then V(V(h)) >=
 * V(h) + c, too (MacQueen 1966): each further equal block costs at least c.
 */
void stack_bound(struct run *run, const struct frame *frame, struct relaxations *relaxations,
	size_t width, int64_t *bound);

#endif
