#ifndef GRAPH_EVALUATE_H
#define GRAPH_EVALUATE_H

#include "base/array.h"
#include "cost/graph/cost.h"
#include "model/graph/plan.h"
#include "model/machine/score.h"
#include "sim/graph/sim.h"

/*
 * The outcome of a plan: priced by the analytical model, then executed by the simulator.
 * The two share the nouns of src/model alone; `agrees` is the result of comparing all their integer counts.
 * gap_explain finds out why a plan takes longer on the simulator than in the model.
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
 * The results of a workload, by the plain loop nests of sim/graph/reference.h; computed once and shared.  Tensors
 * are found by name, so it serves every plan of the workload without the clones that passes added.  Every rank has
 * inputs of its own.
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

/* The same with host arrays of inputs by tensor, NULL for those that are drawn. */
struct truth evaluate_truth_of(const struct workload *workload, const struct arch *arch,
	uint64_t seed, void *const *given, struct arena *arena);

/* The model's part. */
struct outcome evaluate_cost(const struct plan *plan, struct arena *arena);

/*
 * The same of a plan that a user wrote: it is lowered, too, because the model assumes that every core finds
 * in LX the data that it uses. too_long: it has more instructions than this, and is not lowered.
 */
struct outcome evaluate_given(const struct plan *plan, uint64_t steps_most, struct arena *arena);

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

/* Instructions of a plan that a command executes: above that it would take minutes and more. */
enum { EVALUATE_STEPS_MOST = 10000000 };
enum sim_mode evaluate_mode(
	const struct workload *workload, const struct arch *arch, const struct score *score);

/* The simulator takes over GAP_RATIO times the model's cycles, and those are
 * longer than GAP_NANOSECONDS. */
bool gap_is_large(const struct arch *arch, int64_t cycles, int64_t simulated_cycles);

/* One sentence, from an execution with a trace; NULL if it cannot be lowered. */
struct arena;
const char *gap_explain(const struct outcome *outcome, struct arena *arena);

#endif
