#ifndef MODEL_SCORE_H
#define MODEL_SCORE_H

#include "model/machine/arch.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The results of a candidate of any kind: its score, the claim about it, its execution.
 *
 * Fields of a score that do not apply are 0.  A plan's score follows from its counts
 * (model/graph/plan.h) and the architecture's tables, a problem's from those of nests.
 *
 * A graph has two latencies: `cycles`, a bound that no execution comes below, and `estimate_cycles`, which
 * tracks execution.  The price says which of them the objectives latency and edp mean.
 */
enum price { PRICE_BOUND, PRICE_ESTIMATE };
extern const char *const price_names[]; /* NULL ends them */

struct score {
	bool feasible;
	const char *rejected; /* the constraint or rule that rejects it; NULL: feasible */
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

/* The claim of a search about its answer. */
enum proof_status {
	PROOF_NONE,    /* a heuristic's answer */
	PROOF_OPTIMAL, /* over the space that was searched */
	PROOF_BOUND,   /* bound known, gap left */
	PROOF_INFEASIBLE,
	PROOF_BUDGET, /* the search was cut */
};

extern const char *const proof_names[]; /* in the order of proof_status, NULL ends them */

/*
 * The execution of a candidate of any kind on its simulator.
 *
 *	SIM_COUNT     times and counts alone
 *	SIM_IDENTITY  every stick of memory has a name that is checked (sim/graph/sim.h)
 *	SIM_DATA      real values as well
 */
enum sim_mode { SIM_COUNT, SIM_IDENTITY, SIM_DATA };
extern const char *const sim_mode_names[]; /* "count", "identity", "data" */

/*
 * Bytes that an execution with contents takes at most: the one that a command is about; each of the
 * many of an exploration, which run on all cores at once, so that 16 of them take no more than that
 * one.
 */
enum { EXECUTION_BYTES_MOST = 1 << 30, EXECUTION_BYTES_OF_MANY = 1 << 26 };

struct execution {
	bool finished; /* false: not asked for, too long, or ended by a fault */
	bool agrees;   /* every count equals the model's and every value the reference's */
	enum sim_mode mode;
	int64_t cycles;
	double energy_pj;
	int64_t hbm_bytes;  /* of the outermost storage, read and written */
	int64_t link_bytes; /* of a broadcast */
	int64_t ticks;      /* of a broadcast: cycles in finer units */
	uint64_t events;    /* instructions, steps or messages that ran */
	const char *fault;  /* the first disagreement; NULL: none, or counts that differ */
	double worst_ulps;  /* of a graph, SIM_DATA: farthest output from the reference */
	const char *worst_tensor;
	/* A tensor that is off by more than is stated of its op (search/graph/evaluate.h); NULL: none. */
	const char *off_tensor;
	double off_ulps, off_most;
	const char *why_longer; /* the cause of a large ratio to the model's cycles; NULL */
};

/* True if the model and the simulator disagree. */
static inline bool execution_disagrees(const struct execution *execution)
{
	return execution->fault || (execution->finished && !execution->agrees);
}

/* Simulated cycles over those of the model. */
static inline double execution_ratio(const struct execution *execution, int64_t cycles)
{
	return cycles ? (double)execution->cycles / (double)cycles : 1;
}

/* "data", "count", ..; "" when it was not executed. */
static inline const char *execution_name(const struct execution *execution)
{
	return execution->finished ? sim_mode_names[execution->mode] : "";
}

#endif
