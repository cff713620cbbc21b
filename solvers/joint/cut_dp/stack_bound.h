#ifndef JOINT_CUT_DP_STACK_BOUND_H
#define JOINT_CUT_DP_STACK_BOUND_H

#include "solvers/joint/cut_dp/ladder.h"

struct run;

/*
 * Raises a lower bound of the answers of a stack, by value iteration over its blocks (stack.h), from the last to the first.
 *
 * Let V(h) be what is still to come before a block, in each state, if h is still to come behind it.  A
 * block is relaxed between two gates, so what is looked at is a window of one block, however many follow.
 * What lies above the window is bounded by its edge.  If V(h) >= h + c for a constant c in all states, then
 * V(V(h)) >= V(h) + c, too (MacQueen 1966): each further equal block costs at least c.
 */
void stack_bound(struct run *run, const struct frame *frame, struct ladder *ladder, size_t width,
	int64_t *bound);

#endif
