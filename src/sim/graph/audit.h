#ifndef SIM_GRAPH_AUDIT_H
#define SIM_GRAPH_AUDIT_H

#include "sim/graph/memory.h"
#include "sim/graph/nests.h"
#include "sim/graph/order.h"

/*
 * Follows every instruction on the memories of one rank and says what it does wrong:
 * where its boxes lie, whether they are what its loops touch, what it finds there, who
 * else uses the place without being ordered, and whether a finished output holds the
 * whole reduction.
 */
struct arena;
struct audit;

/* NULL after a fault: nothing can be said where tensors have no places in HBM. */
struct audit *audit_open(const struct program *program, int rank, struct race *race,
	const struct nests *nests, const struct sim_options *options, struct faults *faults,
	struct arena *arena);

/* Instruction i, which the race has begun, runs on the rank; false when it cannot be carried out
 * at all. */
bool audit_run(struct audit *audit, uint32_t i);

/* After the last: every tensor that belongs in HBM is there. */
void audit_end(struct audit *audit);

int audit_sampled(const struct audit *audit); /* tiles computed for real */

#endif
