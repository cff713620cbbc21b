#ifndef DRIVE_DRIVE_H
#define DRIVE_DRIVE_H

#include "base/array.h"
#include "model/machine/score.h"
#include "search/drive/wishes.h"

#include <stdatomic.h>
#include <stdint.h>

/* An exploration while it runs: drive.c has the rounds, what a task does and the last
 * round. */
struct drive {
	const struct drive_kind *kind;
	void *self;
	const struct wishes *wishes;
	struct explored *explored;
	struct arena *arena;    /* of the result */
	struct arena *own;      /* until it ends; what depends on threads is in here */
	struct arena **scratch; /* by thread: only memory, nothing of it reaches a result */
	int round;
	double best, bound; /* of the first objective, for progress */
	atomic_bool stopped;
	bool last;    /* in the last round */
	bool hurried; /* the search was stopped before it */
};

/* Why candidates were refused, and how many of them for each reason. */
struct arena;

struct refusal {
	const char *why;
	uint64_t count;
};
struct refusals array(struct refusal);

/* A line for each reason: "does not fit (12 candidates)". */
const char **refusals_lines(const struct refusals *refusals, struct arena *arena);

/* Work of an exploration: the counters of run.json. */
struct effort {
	uint64_t evaluated; /* candidates priced, solvers' inner steps included */
	uint64_t ticks;     /* of solvers: evaluations and bounds */
	/* Counters of proofs: choices opened, bounds made, labels kept to go on from. */
	uint64_t states, edges, labels;
	uint64_t offered;      /* candidates */
	uint64_t refused;      /* offers that cannot be carried out */
	uint64_t pruned;       /* beaten when they were made */
	uint64_t simulated;    /* candidates that were executed, at least once */
	uint64_t unsimulated;  /* over the simulation budget, or nothing to compare with */
	uint64_t events;       /* of these executions */
	uint64_t disagreed;    /* executions that are not as the model says */
	uint64_t bytes;        /* of scratch memory, over all candidates */
	uint64_t bytes_most;   /* of one */
	uint64_t asked, known; /* questions about single ops; those that were answered before */
	uint64_t bytes_kept;   /* by what the frontier holds, and by proofs */
};

void effort_add(struct effort *sum, const struct effort *effort);

/*
 * The driver of every exploration.  A kind of input (graphs, problems, networks, recurrences,
 * broadcasts) is a table of functions; what they work on is the kind's own and opaque here.
 *
 *	start    what is known before all work is offered first
 *	rounds   the kind makes tasks from the frontier of the rounds before; they run in parallel,
 *	         each with a slot of its own, and what they offer is priced, executed and kept where
 *	         it is made, if nothing known beats it; slots are merged in the order of tasks
 *	last     what the frontier holds, and what stands beside it for comparison, is executed once
 *	         more, in parallel, as thoroughly as it can be
 *
 * A task sees only the frontier of the rounds before and writes only its slot: the result is the
 * same for any number of threads.  The caller may stop it at any time (`struct asker` in `wishes.h`): what was
 * offered until then is the result.
 */
struct arena;
struct drive;

/* A candidate, and the payload of a frontier point: the first member of the kind's own struct. */
struct found {
	const char *solver; /* "divide/spyre place/greedy", "map/linear"; "start" */
	double estimate; /* of the first objective, before it is executed: today the model's value */
	enum proof_status proof;
	double bound; /* of PROOF_BOUND: of the first objective, or of what the solver minimises */
	double gap;   /* of PROOF_BOUND: what it is above the bound */
	struct execution execution; /* the last one */
};

/* The result. */
struct explored {
	struct frontier frontier; /* payloads: the kind's struct found */
	/* Known solutions to compare with, executed as the
	 * frontier is; a NULL payload: there is none. */
	size_t beside_count;
	struct point *beside;
	struct effort effort;
	bool stopped;  /* by who asked */
	bool complete; /* every task proved that it left out nothing better */
	double bound;  /* not complete, one objective: no candidate is below; 0: none known */
	/* Not complete, several objectives: for every candidate some point is worse by no more than
	 * this factor in each of them; 0: none known. */
	double within;
	/* The same: no candidate is below, in each objective alone, in their order; 0: none known. */
	double bounds[OBJECTIVE_COUNT];
	const char *limit;        /* "budget", or another limit that cut it short; NULL */
	const char *fault;        /* text of the first disagreement; NULL */
	const char *complaint;    /* of a solver: the first; NULL */
	struct refusals refusals; /* distinct reasons, most frequent first */
	const void *more;         /* the kind's own; NULL */
};

/* The result of a task. A kind reads and writes the members above the line. */
struct slot {
	struct drive *drive;
	struct arena *
		arena; /* lives as long as the result, if a point is kept; without `merge`, if `left` is set */
	struct arena *scratch; /* until the task ends */
	uint64_t most;         /* candidates that it may offer */
	struct effort effort;
	bool complete; /* as of struct explored, of the part of this task */
	double bound, within;
	double bounds[OBJECTIVE_COUNT];
	const char *limit;
	void *left; /* for `merge` */
	/* --- */
	const char *fault, *complaint;
	struct refusals refusals;
	struct frontier frontier; /* of what this task offered */
};

/*
 * A kind of input, as the driver sees it.  All but `tasks` and `run` may be NULL.  Functions with a
 * slot are called on any thread and change nothing but the slot and the candidate; the others are
 * called alone.
 */
struct drive_kind {
	/* Offers what is known before all work, so that a stop leaves a result no worse than that. */
	void (*start)(void *self, struct slot *slot);
	/* Makes the tasks of round 1, 2, ..; false after the last round. */
	bool (*tasks)(void *self, int round, struct drive *drive, size_t *count);
	/* Candidates that a task would offer, for the budget; NULL: one. */
	uint64_t (*wants)(void *self, size_t task);
	void (*run)(void *self, size_t task, struct slot *slot);
	/* NULL, or why the candidate cannot be carried out. */
	const char *(*price)(
		void *self, struct found *found, struct slot *slot, struct score *score);
	/* Into found->execution: counts and times of what was just priced; or, in the last round, of
	 * what was kept, as thoroughly as it can be (of a search that was stopped, counts are enough).  NULL, or why
	 * it cannot be. */
	const char *(*execute)(void *self, struct found *found, struct slot *slot, bool last);
	/* Its plan as text: canonical. */
	const char *(*key)(void *self, const struct found *found, struct arena *arena);
	/* Returns its name in messages; NULL: its key. */
	const char *(*label)(void *self, const struct found *found, struct arena *arena);
	/* A copy of it that lives as long as the arena; NULL: of its `size` bytes as they are. */
	size_t size;
	struct found *(*keep)(void *self, const struct found *found, struct arena *arena);
	/* Copies what is wanted of a task's result, in the order of tasks; `left` NULL: nothing, or it was not run. */
	void (*merge)(void *self, void *left);
	/* The best value and the bound to show once task i ended, by one thread at a time; NULL: those of
	 * the slots' frontiers. */
	void (*worth)(void *self, size_t i, const struct slot *slot, double *best, double *bound);
	/* After all rounds; may add points beside the frontier. */
	void (*finish)(void *self, struct explored *explored, struct arena *arena);
	bool executes_kept; /* what is kept is executed in the last round, and nothing else */
	bool counts_offers; /* budget and progress are about candidates offered; else its solvers keep to the budget, and
			     * progress counts their evaluations */
	bool runs_late; /* its tasks run even after a stop, and see to their end themselves */
	bool thrifty;   /* its frontier is (frontier.h) */
};

struct explored drive_explore(const struct drive_kind *kind, void *self,
	const struct wishes *wishes, struct arena *arena);

/* --- for kinds, while it runs */

/* Offers a candidate: it is priced, executed if the request says so, and a copy is kept if nothing known beats it.
 * `found` need not outlive the call. */
void drive_offer(struct slot *slot, struct found *found);

/* Asks a solver for a task: its counters, proof, bounds and first complaint become the slot's. */
struct solver;
struct problem;
struct answer drive_ask(struct slot *slot, const struct solver *solver,
	const struct problem *problem, uint64_t ticks, uint64_t seed, struct arena *arena);

/* A task may be an exploration itself: counters, faults and proof of it become the slot's. */
void drive_nest(struct slot *slot, const struct explored *explored);

/* True if to stop; by any thread.  The parameter is a struct drive, as of callbacks.  In the last round it is the
 * stopper of executions that is called. */
bool drive_stops(void *drive);

/* The frontier of the rounds before. */
const struct frontier *drive_frontier(const struct drive *drive);

/* Returns the asker of a search that is part of a task. */
struct asker drive_asker(struct drive *drive);

#endif
