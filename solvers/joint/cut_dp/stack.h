#ifndef JOINT_CUT_DP_STACK_H
#define JOINT_CUT_DP_STACK_H

#include "solvers/joint/cut_dp/gate.h"

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

#endif
