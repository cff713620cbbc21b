#ifndef MODEL_SCORE_H
#define MODEL_SCORE_H

#include "model/machine/arch.h"

/*
 * What a candidate of any kind costs: what it has no part of is 0.  A plan's follows from its
 * counts (model/graph/counts.h) and the architecture's tables, a problem's from those of nests.
 *
 * A graph has two latencies: `cycles`, a bound that no execution comes below, and `estimate_cycles`, which
 * tracks execution.  The price says which of them the objectives latency and edp mean.
 */
enum price { PRICE_BOUND, PRICE_ESTIMATE };
extern const char *const price_names[]; /* NULL ends them */

struct score {
	bool feasible;
	const char *rejected; /* the constraint or rule that says no; NULL when feasible */
	enum price price;
	int64_t cycles;          /* of the reference clock, overheads included */
	int64_t estimate_cycles; /* the same; never less */
	double energy_pj;
	int64_t hbm_bytes;     /* read + written */
	int64_t lx_peak_bytes; /* highest resident address in use on any core */
	int64_t cores;         /* of the widest step */
	int64_t computes;
	/* For a problem: words read, filled and updated at the levels that an objective names. */
	int64_t accesses[ARCH_LEVELS_MOST];
	/* For a projection: PEs, registers of all of them, places where values enter or leave, and the
	 * steps that all channels of a PE take through the array.  For a broadcast: bytes over links,
	 * of staging, and rounds.  For a graph: bytes over links, and the most of staging in a step. */
	int64_t pes, registers, ports, wire, link_bytes, buffer_bytes, rounds;
	double utilization; /* 0 to 1: computes / (cycles * what all cores could do), each op on
			     * the unit that it runs on */
};

#endif
