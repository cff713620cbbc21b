#ifndef SEARCH_EXPLORE_H
#define SEARCH_EXPLORE_H

#include "model/planning.h"
#include "search/evaluate.h"
#include "search/frontier.h"
#include "search/recipe.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The driver: makes candidate plans in rounds of parallel tasks, prices and
 * executes each where it is made, and keeps the frontier.  Of a point it keeps
 * the recipe and what came of it, no plan: recipe_plan makes the plan again.
 *
 *	round 1  the start; every core count x K-fast on, off x clones off, readers x every
 *	         placement solver on the `spyre` division, and the co-optimizer
 *	         `dimflip` for every core count and clone setting
 *	round 2  of a graph with broadcasts: every point of that frontier with less and less LX
 *	         for staging tiles
 *	round 3  `exhaustive`: from every point of the frontier, one op at a time takes
 *	         each of its legal divisions, a broadcast each of its staging tiles
 *	last     every point of the final frontier runs again, with data or
 *	         identities (evaluate_mode)
 *
 * A task sees only the frontier of the round before, writes only its own slot,
 * and slots are merged in order: the result is the same for any number of
 * threads.  `progress` is called between tasks, one thread at a time; `stop` also by any
 * thread amid its task, for every op of a candidate or so, and what it answers once it answers
 * ever after: a candidate that is not finished by then is none.
 */
struct arena;

enum simulate { SIMULATE_ALL, SIMULATE_FRONTIER, SIMULATE_NONE };
extern const char *const simulate_names[];

enum { EXPLORE_NAMES_MOST = 16, EXPLORE_CORES_MOST = 16 };

struct exploration {
	const struct arch *arch;
	const struct workload *workload;
	struct planning planning; /* what a candidate does not vary */
	struct objectives objectives;
	const struct plan *start; /* made elsewhere, known to be legal: offered first; NULL */
	size_t core_count;
	int cores[EXPLORE_CORES_MOST];
	bool vary_k_fast, vary_clones;
	size_t place_count;
	const char *place[EXPLORE_NAMES_MOST]; /* placement solvers */
	bool spyre, exhaustive, dimflip;       /* which of the others take part */
	enum simulate simulate;
	uint64_t simulate_budget; /* events of one execution; 0: no limit */
	uint64_t budget;          /* candidates; 0: no limit */
	uint64_t joint_ticks;     /* of one joint search */
	uint64_t place_ticks;     /* of one placement by a solver that proves; 0: the planning's */
	uint64_t seed;
	int jobs;       /* threads, at least 1 */
	void *listener; /* handed to `stop` and `progress`, which may be NULL */
	bool (*stop)(void *listener);
	void (*progress)(void *listener, int round, size_t done, size_t tasks, uint64_t offered);
};

/* The last execution of a frontier point: as a candidate, in counting mode, and
 * then with data or identities. */
struct execution {
	bool finished; /* false: none asked for, or over the simulation budget */
	enum sim_mode mode;
	bool agrees; /* no fault, all counts are the model's, no result is off */
	int64_t cycles;
	double energy_pj;
	int64_t hbm_bytes;
	int fault_count;
	double worst_ulps; /* SIM_DATA: farthest output from the reference; else -1 */
	const char *worst_tensor;
	const char *off_tensor; /* off by more than it may be (evaluate.h); NULL */
	double off_ulps, off_most;
	const char *why_longer; /* where a large sim_ratio comes from (gap.h); NULL */
};

/* The payload of a frontier point: enough to make its plan again, and what came of it. */
struct found {
	struct recipe recipe; /* with the mappings given */
	const char *solver;   /* "divide/spyre place/greedy" */
	enum proof_status proof;
	double gap; /* of PROOF_BOUND: value - bound */
	struct execution execution;
};

/* How much work an exploration was. */
struct effort {
	uint64_t evaluated; /* plans priced, solvers' inner steps included */
	uint64_t offered;   /* candidates */
	uint64_t refused;   /* candidates that cannot be carried out */
	uint64_t simulated;
	uint64_t unsimulated; /* over the simulation budget */
	uint64_t events;      /* of all executions */
	uint64_t disagreed;   /* executions whose counts are not the model's, or with faults */
	uint64_t pruned;      /* beaten when they were made */
	uint64_t bytes;       /* of scratch memory, over all candidates */
	uint64_t bytes_most;  /* of one */
};

struct explored {
	struct frontier frontier;
	struct effort effort;
	bool stopped;         /* by `stop` */
	bool cut;             /* by the budget */
	bool joint_cut;       /* a joint search ended at its tick limit */
	size_t refusal_count; /* distinct reasons, most frequent first */
	const char **refusals;
	const char *fault; /* the first disagreement, told in full; NULL */
	size_t bytes_kept; /* by the points kept */
};

/* Core counts to try for a machine: powers of two and the machine itself. */
size_t explore_cores(int most, int *out);

struct explored explore(const struct exploration *exploration, struct arena *arena);

#endif
