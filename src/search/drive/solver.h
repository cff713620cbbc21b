#ifndef DRIVE_SOLVER_H
#define DRIVE_SOLVER_H

#include "model/machine/score.h"
#include "search/drive/drive.h"
#include "search/drive/wishes.h"

#include <stdint.h>

/*
 * Questions to solvers, and their answers.  A stage is a kind of question; a problem is a question of it, and a
 * candidate answers it.
 */
struct arch;
struct capture_answer;
struct capture_question;
struct folding;
struct joint_answer;
struct joint_space;
struct kept;
struct mapping;
struct nest_search;
struct packing;
struct placement;
struct plan;
struct planning;
struct project_search;
struct projection;
struct send_schedule;
struct solver;
struct synthesis;
struct workload;

enum stage {
	STAGE_DIVIDE,
	STAGE_PLACE,
	STAGE_MAP,
	STAGE_JOINT,
	STAGE_PROJECT,
	STAGE_BROADCAST,
	STAGE_SCATTER,
	STAGE_MENU,
	STAGE_COUNT
};
extern const char *const stage_names[]; /* the folders of solvers/ */

/* The objective of the plan of a whole workload: a sum of
 * cycles (as planning->price says), energy and HBM bytes. */
struct joint_aim {
	int64_t cycles, energy, hbm_bytes; /* weights of a cycle, of 2^-10 pJ, of a byte */
	unsigned
		fixed; /* what is not decided: a set of enum joint_kind (search/joint/joint_graph.h) */
	bool brief;    /* for a first plan: few divisions and short runs; nothing is proven */
	const struct solver *map; /* of nests; NULL: as for problems */
	uint64_t nest_ticks; /* of a whole nest; 0: NEST_JOINT_TICKS (search/joint/options.h) */
	struct kept *kept;   /* what is known of ops; NULL: nothing */
};

struct problem {
	enum stage stage;
	const struct arch *arch;
	const struct workload *workload; /* divide, joint */
	const struct planning *planning; /* divide, joint */
	int op;                          /* divide: this op alone; -1 all */
	const struct packing *packing;   /* place */
	const struct mapping *division;  /* joint: the mappings to start from, by op */
	const struct solver *place;      /* joint: who places what it divides */
	const struct joint_space
		*joint;              /* joint: of those for plans; NULL: it follows from the aim */
	const struct joint_aim *aim; /* joint: of those for plans, without a space */
	const struct nest_search *nest;           /* map: nest_search.h */
	const struct project_search *projections; /* project: project_search.h */
	const struct synthesis *synthesis;        /* broadcast, scatter */
	const struct capture_question *menu;      /* menu: model/packing/capture.h */
	uint64_t first, end;                      /* map: this share of the work, see solver.h */
};

struct candidate {
	enum stage stage;
	const struct mapping *mappings; /* divide, joint: one per op (or of the one op); map: one */
	const struct placement *placement;    /* place */
	const struct joint_answer *joint;     /* joint: of a joint space */
	const struct plan *plan;              /* joint: of an aim */
	const struct projection *projection;  /* project */
	const struct folding *folding;        /* project: of an einsum, in place of a projection */
	const struct send_schedule *schedule; /* broadcast, scatter */
	const struct capture_answer *menu;    /* menu */
};

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

/* Rule by which the work of a solver is divided between tasks, which know nothing of each other. */
enum sharing {
	SHARING_NONE,        /* one task, with the whole budget */
	SHARING_ENUMERATION, /* map: ranges [first, end) of the space's choices of factors;
	                      * divide: all divisions of one op, problem->op, in each task */
	SHARING_DRAWS,       /* ranges [first, end) of numbered draws */
	SHARING_CHAINS,      /* chain `first` of `end` chains, each with its part of the budget */
};

/* Uses of a solver for which it need not be named. */
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
	bool proves;      /* it ends with a proof, and gets no budget unless the user sets one */
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

/* Adds the work of a proof. */
void run_looked(struct run *run, const struct effort *effort);

/*
 * Runs independent parts of a solver's work on the threads of the caller: part(its run, context, i) for each i
 * below count.  Every part has a run of its own: an arena, an equal share of the ticks that are left, and a stream
 * of random numbers of its own; it changes nothing that another part reads.  Afterwards, in the order of parts,
 * `run` has all their offers and counts, and their arenas go to its arena.  So nothing depends on the number of
 * threads.  False if a part's ticks were spent, or if the stopper said so.
 */
bool run_parts(struct run *run, size_t count,
	void (*part)(struct run *run, void *context, size_t i), void *context);

/* Calls another solver, in this thread and within these ticks: it stops when `run` does.
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
 * Keeps an offer; the candidate must live in run_arena.  `value` is what the solver minimises, for its own
 * comparisons; the caller scores candidates again.  Offers keep their order.
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
