#ifndef GRAPH_TASK_H
#define GRAPH_TASK_H

#include "search/drive/frontier.h"
#include "search/graph/explore.h"
#include "search/graph/plans.h"
#include "search/graph/recipe.h"

/*
 * Goals of the tiles of one recipe: the first goal always gets a plan, so that
 * this plan is no worse than the one with the published tiles in any objective;
 * each other goal is an objective, and gets a plan if that gains in it.
 */
struct goals {
	size_t count;
	enum tile_goal at[TILE_GOALS];
	enum price price;
};

struct goals goals_of(const struct objectives *objectives, const struct planning *planning);

/* True if the tiles of goal g are better in its objective than those of the first. */
bool goals_gain(const struct goals *goals, size_t g, const struct recipe_result *laid_out);

/*
 * True if a graph is one op whose plans can all be enumerated: then the frontier is proven.  If tiles move in boxes
 * these are its divisions over the cores, tiles, their nests and orders; else its nests.
 */
struct exploration;
bool goals_are_all(const struct exploration *exploration);

/* True if plans of the only op may bring what it reads into LX first: then these are not all its plans, and whole
 * plans are asked for as of any graph. */
bool goals_may_clone(const struct exploration *exploration);

/* Keeps the options that no other beats in latency, energy and HBM bytes; of equal
 * ones that of the least estimate. Sorts `options` again. Returns their number. */
size_t goals_sift(struct op_option *options, size_t count, enum price price);

/* Recipes of the points of a frontier, each once, but for whole plans. */
struct recipes {
	size_t count;
	const struct recipe **at;
};
struct recipes recipes_of(const struct frontier *frontier, struct arena *arena);

/*
 * Tasks of the explorer's threads: one candidate, or all divisions of one op; of a broadcast, all staging tiles.
 * The tasks of a round depend on the exploration and on the frontier of the round before, never on the number of
 * threads.
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

/* The plan that the specs bring, or that of the first solvers with all cores; `solver` NULL: steps are whole nests,
 * or only joint solvers take part, and no plan exists before a search. */
struct task task_start(const struct exploration *exploration, struct arena *arena);

/* Whole plans of a graph of several ops that are best in one objective, then every core count with every setting
 * and solver that takes part. */
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
