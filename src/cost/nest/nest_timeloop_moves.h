#ifndef COST_NEST_TIMELOOP_MOVES_H
#define COST_NEST_TIMELOOP_MOVES_H

#include "cost/nest/nest_loops.h"

/*
 * How the tile of one child moves while the temporal loops around it run, by
 * Timeloop's rules.  A loop of bound n is looked at twice, at its first
 * iteration and at its second, which stands for the n - 1 others; so between two
 * iterations of loop j all loops inside it fall back by one step, not by n - 1.
 *
 * Symbols: t_j the step of loop j in the dataspace's ranks, tau_j = t_j - sum of
 * t_i over the loops i inside j: what the tile moves when j advances.  Loop a is the innermost
 * with t_a != 0.  The words that an advance of j brings:
 *
 *	j = a:            what the tile at t_a does not share with the tile at 0
 *	tau_j = 0:        none
 *	tau_j = t_a:      as for a; the direction has not changed
 *	any other tau_j:  the whole tile: a change of direction drops what is left
 *
 * For every j > a the move before was one by t_a, or followed one; that is why
 * tau_j is compared with t_a alone.  An advance of j happens (n_j - 1) * product
 * of the bounds outside j times, and the first tile comes once.
 */
enum { NEST_MOVES_MOST = 64 };

struct timeloop_move {
	double times;                   /* advances of this loop */
	int64_t words;                  /* that each brings */
	int64_t step[SHAPE_RANKS_MOST]; /* tau */
};

struct timeloop_moves {
	int64_t tile;      /* words */
	int count;         /* temporal loops around the child */
	double iterations; /* of the innermost of them, without the first: bound - 1; 0 if none */
	struct timeloop_move at[NEST_MOVES_MOST]; /* innermost first */
};

/* `whole`: nothing is kept from one iteration to the next. */
void nest_moves_find(const struct nest_loops *loops, const struct dataspace *space,
	int dimension_count, int block, bool whole, struct timeloop_moves *out);

/* The step of a loop in one rank. */
static inline int64_t nest_step(
	const struct dataspace *space, int rank, const struct nest_loop *loop)
{
	return space->ranks[rank].coefficient[loop->dimension] * loop->stride;
}

#endif
