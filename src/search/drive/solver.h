#ifndef SEARCH_SOLVER_H
#define SEARCH_SOLVER_H

#include "model/machine/proof.h"
#include "search/drive/asker.h"
#include "search/drive/candidate.h"
#include "search/drive/drive.h"

#include <stdint.h>

/*
 * A solver answers the questions of one stage.  It starts no thread (run_parts does), reads no
 * clock, prints nothing, keeps no state outside its run, and draws random
 * numbers only from the run's stream.  It charges its work in ticks and
 * returns soon after run_spend says no.  Equal problem and seed give equal
 * offers.
 *
 * To add one, write solvers/<stage>/<name>.c and define
 *
 *	const struct solver <stage>_<name>_solver = {...};
 *
 * in it; the build finds it.
 */
struct arena;
struct run;

/* How the work of a solver is shared out between tasks, which know nothing of each other. */
enum sharing {
	SHARING_NONE,        /* one task, with the whole budget */
	SHARING_ENUMERATION, /* map: ranges [first, end) of the space's choices of factors;
	                      * divide: all divisions of one op, problem->op, in each task */
	SHARING_DRAWS,       /* ranges [first, end) of numbered draws */
	SHARING_CHAINS,      /* chain `first` of `end` chains, each with its part of the budget */
};

/* What a solver is asked for although nobody named it. */
enum purpose {
	FOR_GRAPHS = 1 << 0, /* divide, place, joint: plans of a workload graph */
	FOR_OPS = 1 << 1,    /* divide: all that one op of a plan can be */
	FOR_PACKINGS = 1 << 2,
	FOR_LARGE_PACKINGS = 1 << 3, /* of more than PACKING_MANY buffers */
	FOR_PROBLEMS = 1 << 4,
	FOR_STARTS = 1 << 5, /* map: something good that a proof begins with */
	FOR_RECURRENCES = 1 << 6,
	FOR_FOLDINGS = 1 << 7, /* of a recurrence onto an array of a fixed size */
	FOR_SCHEDULES = 1 << 8,
	FOR_PLANS = 1 << 9, /* joint: of a joint space (search/joint/joint_space.h) */
	FOR_CAPTURES = 1 << 10,
};

/* Callers name no solver: they find one by what it is for, or get what the user chose. */
struct solver {
	enum stage stage;
	const char *name;     /* as given to --solver; the file's name */
	const char *summary;  /* one line for `lxplore list solvers` */
	unsigned purposes;    /* a set of enum purpose; 0: it is asked by name alone */
	enum sharing sharing; /* what problem->first and end mean */
	bool proves;      /* it ends with a proof, and is given no budget that nobody asked for */
	bool plans_all;   /* joint: it searches joint spaces, whole plans; else divisions */
	bool keeps_parts; /* place: a buffer with uses may be there for a part of its life */
	void (*run)(struct run *run, const struct problem *problem);

	/* The problem in the LP format, for other programs to solve; NULL: and *why.  No function: it
	 * is none of linear programs. */
	const char *(*program)(
		const struct problem *problem, struct arena *arena, const char **why);
};

extern const struct solver *const solvers[]; /* by stage, then name; NULL ends them */
const struct solver *solver_find(enum stage stage, const char *name);

/* The first solver of a stage for a purpose, or of a sharing; there must be one. */
const struct solver *solver_for(enum stage stage, enum purpose purpose);
const struct solver *solver_sharing(enum stage stage, enum sharing sharing);

/* "map/exact", as results name a solver. */
const char *solver_label(struct arena *arena, const struct solver *solver);

/* The solvers of one stage that take part in an exploration. */
enum { PORTFOLIO_MOST = 32 };
struct portfolio {
	size_t count;
	const struct solver *at[PORTFOLIO_MOST];
};
struct portfolio portfolio_for(enum stage stage, unsigned purposes); /* any of them */

/* Each at most once. */
void portfolio_add(struct portfolio *portfolio, const struct solver *solver);

struct arena *run_arena(struct run *run);        /* lives as long as the answer */
bool run_spend(struct run *run, uint64_t ticks); /* false once the budget is spent */

/* For work that no budget counts, about as much as this many ticks: false once it is to stop.  All
 * that may take long asks one or the other often. */
bool run_go_on(struct run *run, uint64_t ticks);

/* The same for work that belongs to every answer: counted as far as the budget goes, never cut by it. */
bool run_count(struct run *run, uint64_t ticks);

uint64_t run_random(struct run *run, uint64_t bound);

/* Mappings or plans that were priced, apart from the ticks. */
void run_evaluated(struct run *run, uint64_t count);

/* What a proof looked at, added up. */
void run_looked(struct run *run, const struct effort *effort);

/*
 * Independent parts of a solver's work, on the threads of whoever asked: part(its run, context,
 * i) for each i below count.  Every part has a run of its own: an arena, an equal
 * share of the ticks that are left, and a stream of random numbers of its own; it
 * changes nothing that another part reads.  Afterwards, in the order of parts, all that they
 * offered and counted is as if `run` had, and their arenas go to its arena.  So nothing depends on
 * the number of threads.  False if a part's ticks were spent, or if someone asked to stop.
 */
bool run_parts(struct run *run, size_t count,
	void (*part)(struct run *run, void *context, size_t i), void *context);

/* Asks another solver, in this thread and within these ticks: it is told to stop when `run` is.
 * Nothing of it counts as done by `run`; the answer lives in the arena. */
struct answer run_ask(struct run *run, const struct solver *solver, const struct problem *problem,
	uint64_t ticks, uint64_t seed, struct arena *arena);

/* Tells who asked how far it is: the best value and the least that is not excluded, of the first
 * objective.  Not from a part. */
void run_report(struct run *run, double value, double bound);

void run_prove(struct run *run, enum proof_status status, double bound);

/* For several objectives: for every mapping some offer is worse by no more than this factor in
 * each of them. */
void run_prove_within(struct run *run, double factor);

/* For several objectives: no mapping is below these, in each alone. */
void run_prove_each(struct run *run, const double *bounds, size_t count);

/* With PROOF_INFEASIBLE of a packing: buffers that do not fit even alone. */
void run_core(struct run *run, size_t count, const int *buffers);

/*
 * Keeps an offer; the candidate must live in run_arena.  `value` is what the
 * solver minimises, for its own comparisons; whoever asked scores candidates
 * anew.  Offers keep their order.
 */
void run_offer(struct run *run, const struct candidate *candidate, double value);

/* A hindrance that a person should read: which op or buffer, and why. */
void run_complain(struct run *run, bool error, int op, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

struct complaint {
	bool error; /* no legal answer under strict settings */
	int op;     /* -1: none in particular */
	const char *text;
};

struct answer {
	enum proof_status status;
	double bound;
	double within;        /* PROOF_NONE: the factor of run_prove_within; 0: none */
	const double *bounds; /* of run_prove_each, in the arena; NULL: none */
	uint64_t ticks, evaluated;
	bool cut;             /* the budget ended it, or who asked */
	bool stopped;         /* who asked did */
	struct effort effort; /* of proofs */
	size_t core_count;
	const int *core; /* 0: none was looked for */
	size_t candidate_count;
	const struct candidate *candidates;
	const double *values;
	size_t complaint_count;
	const struct complaint *complaints;
};

/*
 * Asks a solver, in the caller's thread and budget (0: none).  The answer
 * lives in the arena.
 */
struct answer solve_for(const struct asker *asker, const struct solver *solver,
	const struct problem *problem, uint64_t ticks, uint64_t seed, struct arena *arena);

/* The same for one who has one thread and waits. */
struct answer solve(const struct solver *solver, const struct problem *problem, uint64_t ticks,
	uint64_t seed, struct arena *arena);

#endif
