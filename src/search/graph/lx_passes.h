#ifndef SEARCH_LX_PASSES_H
#define SEARCH_LX_PASSES_H

#include "constraints/graph.h"
#include "model/graph/plan.h"
#include "model/graph/plan_check.h"
#include "model/graph/planning.h"

#include <stddef.h>

/*
 * The graph that LX planning works on, and the passes before and after the placement solver that
 * change it, or the plan.  To add one, write src/search/graph/lx_<name>.c and call it in lx_plan.c.
 */
struct arena;

/* Why a tensor stays in HBM; of the tensors of the workload that the passes left. */
struct lx_reason {
	int tensor;
	const char *text;
};

struct lx_graph {
	const struct arch *arch;
	const struct planning *planning;
	struct arena *arena;
	const struct workload *workload;
	const struct mapping *mappings; /* by op */
	struct users users;             /* of the workload */
	const enum stay *stays;         /* by tensor: what constraints want */
	const char **reasons;           /* by tensor; NULL: none yet */
	struct staging **stagings; /* by op, once the passes are done: of broadcasts; else NULL */
	bool crowded;              /* what lives beside what must live in LX gives way */
};

struct lx_graph lx_graph_open(const struct arch *arch, const struct workload *workload,
	const struct mapping *mappings, const struct planning *planning, struct arena *arena);

/* Finds users and stays of the workload that the graph has now. */
void lx_graph_look(struct lx_graph *graph);

/* A clone that the planner put in and may lay out as its readers wish. */
bool lx_is_moved(const struct lx_graph *graph, int tensor);

/*
 * The published CloneInputNodesPass: a graph input that is read more than once
 * and fits the budget, the LX capacity at first, gets a clone right before its
 * first reader, and all readers read the clone.
 *
 * As published (CLONE_NONE) the clone is not divided, so on several cores it
 * never matches its readers and only costs a pass.  With CLONE_READERS it is
 * divided as they are; being a move it can leave a slice on several cores.
 */
void lx_clone_inputs(struct lx_graph *graph);

/*
 * Bundles before anybody plans them: greedy in order, each with at most arch.bundle_tensors
 * distinct tensors in HBM; tensors in LX are no arguments of a bundle.  An
 * opaque op is the last of its bundle.  Moves and the op that they feed stay
 * together.
 */
void lx_bundle_steps(const struct lx_graph *graph, struct plan *plan);

#endif
