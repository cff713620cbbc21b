#ifndef SEARCH_EVALUATE_H
#define SEARCH_EVALUATE_H

#include "base/array.h"
#include "cost/graph/cost.h"
#include "cost/graph/energy.h"
#include "model/graph/plan.h"
#include "model/machine/execution.h"
#include "sim/graph/sim.h"

/*
 * What becomes of a plan: priced by the analytical model, then carried out by
 * the simulator.  The two share no code; `agrees` is the result of comparing
 * all their integer counts.
 */
struct arena;

struct outcome {
	const struct plan *plan;
	struct plan_cost cost;
	const char *why;      /* the plan cannot be priced or lowered; NULL if it can */
	int why_step;         /* the step that is the cause; -1: none in particular */
	const char *too_long; /* it has more instructions than it may; NULL: it was executed */
	bool simulated;       /* the simulation came to its end */
	enum sim_mode mode;   /* of the simulation */
	const struct program *program;
	struct sim_result sim;
	double sim_energy_pj; /* of the simulator's counts */
	/* Simulated, no fault, all integer counts are equal, and no result is off by more than it
	 * may be. */
	bool agrees;
	double worst_ulps; /* SIM_DATA: see below; else -1 */
	const char *worst_tensor;
	/* A tensor that is off by more than it may be; the worst of them. */
	const char *off_tensor; /* NULL: none */
	double off_ulps, off_most;
};

/*
 * What a workload computes, by the plain loop nests of sim/graph/reference.h; made
 * once and shared.  Tensors are found by name, so it serves every plan of the
 * workload without the clones that passes added.  Every rank has inputs of its own.
 */
struct truth {
	const struct workload *workload;
	int ranks;
	void ***arrays;     /* by rank, then tensor */
	double *ulps_most;  /* by tensor: what the machine may be off by; see below */
	struct names names; /* of tensors */
};
struct truth evaluate_truth(const struct workload *workload, const struct arch *arch, uint64_t seed,
	struct arena *arena);

/* The model's part. */
struct outcome evaluate_cost(const struct plan *plan, struct arena *arena);

/*
 * The same of a plan that somebody wrote: it is lowered, too, as the model takes for granted that every
 * core finds in LX what it uses.  too_long: it has more instructions than this, and nobody knows.
 */
struct outcome evaluate_given(const struct plan *plan, uint64_t steps_most, struct arena *arena);

/*
 * How to add the simulator's part.  SIM_DATA needs the truth: its inputs are
 * what the machine is given, and worst_ulps becomes the largest difference of
 * any tensor left in HBM of any rank from it, in units of the last place of that tensor's
 * largest element.  A tensor may be off by the units that reference_ulps states for its op, and by
 * twice what the truth is off by when every result on the way to it is moved by its own.
 * Each op by itself may be off by what its arithmetic allows, given the operands that the machine has
 * (reference_misfit), at up to OPS_POINTS_MOST points of the loops of all ops.
 */
enum { OPS_POINTS_MOST = 1 << 23 };
struct simulation {
	enum sim_mode mode;
	const struct truth *truth;
	uint64_t steps_most;           /* events: a program of more is not even made; 0: no limit */
	bool trace;                    /* keep when each instruction ran */
	const struct stopper *stopper; /* who stops it, as one who reached a limit; or NULL */
	/* of sim_options: what a test has the machine compute */
	float (*kernel)(const struct primitive *primitive, float a, float b);
};
void evaluate_simulate(struct outcome *outcome, const struct simulation *how, struct arena *arena);

/* The energy of the model's counts, or of the simulator's, by level and tensor. */
struct energy_parts evaluate_energy(
	const struct outcome *outcome, bool from_simulator, struct arena *arena);

/* Fills in what the driver of searches keeps of an execution. */
void evaluate_execution(const struct outcome *outcome, struct execution *out, struct arena *arena);

/*
 * What a run of a plan should be checked with: SIM_DATA up to
 * EVALUATE_DATA_COMPUTES scalar operations and EXECUTION_BYTES_OF_MANY of tensors, of all ranks,
 * SIM_IDENTITY up to EXECUTION_BYTES_MOST, SIM_COUNT above.  Both kinds of
 * contents take memory in proportion to the tensors.
 */
#define EVALUATE_DATA_COMPUTES INT64_C(200000000)

/* Instructions of a plan that a command executes: above that it would take minutes and more. */
enum { EVALUATE_STEPS_MOST = 10000000 };
enum sim_mode evaluate_mode(
	const struct workload *workload, const struct arch *arch, const struct score *score);

#endif
