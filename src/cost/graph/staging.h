#ifndef COST_STAGING_H
#define COST_STAGING_H

#include "model/graph/plan.h"

/*
 * Broadcasts of a graph, in closed form (cost/transfer/broadcast.h): the two queues of the root load and
 * store chunk by chunk.  A rate is the least of that of the queue, of HBM, of LX's fill port and,
 * between ranks, of a link.
 */
struct arena;

/* Cycles of the step of a broadcast `op` with these tiles; false when they cannot be counted. */
bool staging_cycles(const struct arch *arch, const struct workload *workload, const struct op *op,
	const struct staging *staging, struct arena *arena, int64_t *cycles);

/* Links that a byte crosses on its ways from the root to all ranks, added up. */
int64_t staging_hops(const struct arch *arch, int root);

#endif
