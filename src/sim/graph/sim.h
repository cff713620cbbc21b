#ifndef SIM_GRAPH_SIM_H
#define SIM_GRAPH_SIM_H

#include "base/stopper.h"
#include "lower/graph/program.h"
#include "model/graph/plan.h"
#include "model/machine/score.h"
#include "sim/machine/order.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Executes a program on the machine: engines with in-order queues, one HBM
 * shared by all, LX ports, the reduce ring, byte-addressed memories.  It counts
 * bytes and cycles from what it moves; nothing comes from the analytical model.
 * With several ranks, each has memories of its own, in which all that happens to it is followed; the
 * clock is one for all of them, since between broadcasts they do the same.
 * Deterministic: ties go to the lower instruction, then the lower core.
 *
 *	SIM_COUNT     times and counts; no memory contents; a deadlock still shows
 *	SIM_IDENTITY  every stick of memory has a name: which stick of which
 *	              tensor, or which part of its reduction, and who wrote it;
 *	              wrong addresses, stale or unwritten bytes and races show;
 *	              one output tile per op is computed for real
 *	SIM_DATA      real bytes and arithmetic as well
 */
enum sim_fault_kind {
	FAULT_OVERLAP,    /* two live buffers share bytes */
	FAULT_UNWRITTEN,  /* a read of bytes before any write */
	FAULT_STALE,      /* bytes of another tensor or stick, or left by an earlier step */
	FAULT_BOUNDS,     /* outside a memory */
	FAULT_DEPENDENCE, /* two accesses not ordered by happens-before */
	FAULT_DEADLOCK,
	FAULT_VALUE, /* identity mode: the tile computed for real comes out wrong */
	FAULT_COUNT,
};
extern const char *const sim_fault_names[];

struct sim_fault {
	enum sim_fault_kind kind;
	int step, op, instruction, core; /* core -1: HBM */
	int rank;                        /* whose */
	int64_t address, cycle;          /* bytes; reference cycles, rounded down */
	const char *text;                /* a sentence with all of it */
};

enum { SIM_FAULTS_MOST = 16 }; /* the simulation stops there */

struct sim_options {
	enum sim_mode mode;
	uint64_t seed;                 /* of the input data */
	bool small_integers;           /* inputs drawn from {-2 .. 2}: sums are exact */
	uint64_t steps_most;           /* events; steps x multipliers of all nests; 0: no limit */
	const struct stopper *stopper; /* asked now and then; a yes is a limit reached; or NULL */
	bool trace;                    /* keep when each instruction ran */
	void *const *inputs;           /* host arrays per tensor, or NULL: drawn from the seed */
	/* of several ranks, by rank: the same in place of `inputs`; or NULL */
	void *const *const *rank_inputs;
	/* A test's function in place of kernel_apply; NULL: that. */
	float (*kernel)(const struct primitive *primitive, float a, float b);
	/* Fault that a test plants in each nest (enum nest_sim_fault), at its occasion number .. */
	int nest_fault;
	uint64_t nest_fault_at;
};

struct sim_result {
	bool finished;        /* false: limit reached, or a fault stopped it */
	const char *too_long; /* why its nests were not executed, and nothing else; NULL */
	uint64_t events;      /* instructions that ran */
	int64_t nest_tiles;   /* computes that carry a nest out */
	int nests;            /* different ones, each executed once for its counts */
	int64_t cycles;       /* of the reference clock, overheads included */
	struct counts counts;
	int tiles_computed;    /* SIM_IDENTITY: for real */
	int64_t lx_peak_bytes; /* highest resident byte touched on any core */
	int fault_count;
	struct sim_fault faults[SIM_FAULTS_MOST];
	const int64_t *step_ends; /* by step: the cycle by which all of it is done */
	int64_t ticks_per_cycle;
	const struct run_time *trace; /* by instruction; NULL unless asked for */
	void **outputs; /* SIM_DATA: host array of every tensor in HBM at the end, NULL else */
	void ***rank_outputs; /* the same by rank; outputs are those of rank 0 */
	void ***rank_made; /* SIM_DATA: by rank and tensor: what its op has made, as it was then; NULL: none has */
};

struct arena;
struct sim_result sim_run(
	const struct program *program, const struct sim_options *options, struct arena *arena);

#endif
