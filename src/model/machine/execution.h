#ifndef MODEL_EXECUTION_H
#define MODEL_EXECUTION_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What became of a candidate of any kind on its simulator.
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
	bool finished; /* false: it was not wanted, too long, or ended by a fault */
	bool agrees;   /* every count and every value is what the model and the reference say */
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
	const char *why_longer; /* where a large ratio to the model's cycles comes from; NULL */
};

/* True if it tells against the model or the simulator. */
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
