#ifndef SEARCH_TASK_H
#define SEARCH_TASK_H

#include "search/graph/explore.h"
#include "search/graph/goals.h"
#include "search/graph/plans.h"
#include "search/graph/recipe.h"

/*
 * What the explorer hands to its threads: one candidate, or all divisions of one
 * op; of a broadcast, all staging tiles.  The tasks of a round depend on the exploration and on the frontier of the
 * round before, never on the number of threads.
 */
struct task {
	struct recipe recipe;
	const char *solver; /* who is asked, as results name it */
	int op; /* the op that takes each of its divisions or tiles; -1: the recipe as it is */
	const struct solver *varies; /* enumerates the divisions; NULL: of a broadcast, or op -1 */
};

struct tasks {
	struct task *at;
	size_t count, capacity;
};

/* Whole plans, by each solver of joint spaces that takes part. */
void tasks_plans(struct tasks *tasks, const struct exploration *exploration,
	const struct plan_aims *aims, struct arena *arena);

/* The plan that the specs bring, or that of the first solvers with all cores; `solver` NULL: steps are whole nests, or
 * only joint solvers take part, and there is no such plan before a search. */
struct task task_start(const struct exploration *exploration, struct arena *arena);

/* Whole plans of a graph of several ops that are best in one objective, then every core count with every setting and solver that takes part. */
struct tasks tasks_first(const struct exploration *exploration, struct arena *arena);

/* From every recipe, with less and less LX for staging tiles. */
struct tasks tasks_staging(
	const struct exploration *exploration, const struct recipes *from, struct arena *arena);

/* From every recipe, or once with all cores, each op in turn. */
struct tasks tasks_varying(const struct exploration *exploration, const struct recipes *from,
	bool once, struct arena *arena);

/* Candidates of a task. */
uint64_t task_wants(const struct task *task, struct arena *arena);

#endif
