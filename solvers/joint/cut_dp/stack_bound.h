#ifndef JOINT_CUT_DP_STACK_BOUND_H
#define JOINT_CUT_DP_STACK_BOUND_H

#include "solvers/joint/cut_dp/ladder.h"

struct chain;
struct run;

/*
 * Raises a lower bound of the answers of a stack, by value iteration over its blocks (stack.h), from the last to the first.
 *
 * Let V(h) be what is still to come before a block, in each state, if h is still to come behind it.  A
 * block is relaxed between two gates, so what is looked at is a window of one block, however many follow.
 * What lies above the window is bounded by its edge.  If V(h) >= h + c for a constant c in all states, then
 * V(V(h)) >= V(h) + c, too (MacQueen 1966): each further equal block costs at least c.
 */
struct chain *stack_bound(struct run *run, const struct frame *frame, struct ladder *ladder,
	size_t width, int64_t *bound, struct arena *arena);

/*
 * What is still to come from a state, as a guide for beams: a lower bound of what lies inside the windows.  NULL: it
 * lies outside.  NULL instead of a chain: there is no stack, or no time.  Good until the next call.
 */
const int64_t *chain_tolls(struct chain *chain, int cut, const uint16_t *codes);

#endif
