#ifndef SEARCH_NEST_SEARCH_H
#define SEARCH_NEST_SEARCH_H

#include "constraints/constraints.h"
#include "cost/nest.h"
#include "search/explore.h"
#include "search/space.h"
#include "sim/nest.h"

enum { NEST_SEQUENCES_MOST = 1 << 16 };

/* To be worse by more than this part of the best says nothing. */
#define NEST_EPSILON_MOST 1e6

/* When a sequence of draws ends by itself, as a thread of Timeloop does; 0: it does not. */
struct patience {
	uint64_t victory;   /* mappings in a row that fit and are no better */
	uint64_t timeout;   /* mappings in a row that do not fit */
	uint64_t sequences; /* so many, each with its part of the budget; 0: one; up to the most */
};

/*
 * Explores the mappings of one shape: shares of the mapspace go to a solver of the
 * stage `map`, each in a task of its own; what the solver offers is checked against
 * every constraint, priced anew, executed where it was made, and kept if nothing
 * beats it.  The points of the frontier run once more with numbers and timing.
 *
 * Without a solver's name the whole mapspace is enumerated (`linear`) if it has no
 * more mappings than the budget; a frontier that was enumerated to the end is proven: no
 * mapping of the space beats it.  Else `exact` proves it without pricing them all; cut short
 * by the budget, it leaves a bound and a gap for a single objective.
 */
struct nest_search {
	const struct arch *arch;
	const struct shape *shape;
	const struct hierarchy *hierarchy;
	const struct constraints *constraints;
	const struct domain *domain;
	const struct space *space;
	enum counting counting;         /* asked for */
	const struct nest_model *model; /* of that counting */
	const struct nest_model *exact; /* what the simulator must agree with */
	struct objectives objectives;
	const char *solver; /* of the stage; NULL: chosen as above */
	/* Known to fit: offered first, and every solver begins with it as the best known.  NULL:
	 * none is known. */
	const struct mapping *start;
	enum simulate simulate;
	uint64_t simulate_budget; /* steps x instances of one execution; 0: no limit */
	uint64_t budget;          /* mappings evaluated; of proofs: ticks, 0: no limit */
	struct patience patience; /* of draws */
	uint64_t seed;
	double epsilon; /* of proofs: points may be worse than the best by this part, which is
			 * below NEST_EPSILON_MOST */
	int jobs;       /* threads, at least 1 */
	void *listener; /* as in struct exploration */
	bool (*stop)(void *listener); /* by any thread */
	void (*progress)(void *listener, int round, size_t done, size_t tasks, uint64_t evaluated);
	/* Of a solver with a bound: the best value of the first objective and the least that is not
	 * excluded.  Called by one thread at a time if there is one task. */
	void (*report)(void *listener, double value, double bound, uint64_t evaluated);
};

enum { NEST_BUDGET = 1000000 }; /* what a search without a budget gets */

/* The payload of a frontier point. */
struct nest_found {
	struct mapping mapping;
	struct nest_counts counts; /* of the counting asked for */
	struct nest_score score;
	const char *solver; /* "map/linear"; "start" of search->start */
	enum proof_status proof;
	double gap; /* of PROOF_BOUND: value - bound, of the first objective */
	struct nest_execution {
		bool finished;
		bool data;   /* with numbers, which came out right */
		bool agrees; /* every count is the exact model's */
		int64_t cycles;
		double energy_pj;
		int64_t outer_bytes;
	} execution;
};

struct nest_explored {
	struct frontier frontier;
	uint64_t evaluated; /* mappings priced */
	uint64_t ticks;     /* of the solvers: evaluations and bounds */
	/* Of proofs: choices opened, bounds made, labels kept to go on from. */
	uint64_t states, edges, labels;
	uint64_t offered; /* by the solvers */
	uint64_t refused; /* offers that break a constraint or do not fit */
	uint64_t simulated,
		unsimulated; /* unsimulated: over the budget, or nothing to compare with */
	uint64_t events;     /* of all executions */
	uint64_t disagreed;
	bool stopped;  /* by `stop` */
	bool complete; /* every mapping of the space was evaluated, or cannot be better */
	double bound;  /* not complete, one objective: no mapping is below; 0: none known */
	/* Not complete, several objectives: for every mapping some point is worse by no more than this
	 * factor in each of them; 0: none known. */
	double within;
	/* The same: no mapping is below, in each objective alone, in their order; 0: none known. */
	double bounds[OBJECTIVE_COUNT];
	size_t cell_count; /* outer choices that the proof looked into, as the solver told them */
	const struct cell *cells;
	const char *fault;     /* the first disagreement, in a sentence; NULL */
	const char *refusal;   /* why the first offer was refused; NULL */
	const char *complaint; /* of a solver: the first; NULL */
};

/* No mapping is below, because of its multiplications alone.  0: they bound nothing. */
double nest_floor(const struct nest_search *search, enum objective objective);

/* A frontier of mappings: of those equal in all objectives the one of least energy x latency. */
struct frontier nest_frontier(const struct nest_search *search);

struct nest_explored nest_explore(const struct nest_search *search, struct arena *arena);

/* What the frontier compares: cycles, energy, bytes of the outermost storage, accesses of the
 * levels that the objectives name. */
struct score nest_summary(const struct nest_search *search, const struct nest_counts *counts,
	const struct nest_score *score);

/* Whether an objective means anything for a problem. */
bool nest_objective(enum objective objective);

#endif
