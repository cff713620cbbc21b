#ifndef SEARCH_LX_PASSES_H
#define SEARCH_LX_PASSES_H

#include "constraints/graph.h"
#include "model/graph/plan.h"
#include "model/graph/planning.h"
#include "model/graph/users.h"

#include <stddef.h>

/*
 * Passes around the placement solver.  `before` may change the graph and its
 * mappings; `after` sees the plan with every tensor placed and may change that.
 * They run in the order of the table in lx_passes.c.
 *
 * To add one, write src/search/lx_<name>.c, define `const struct lx_pass
 * lx_<name>_pass = {...};` in it, and name it in the table.
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

struct lx_pass {
	const char *name;
	void (*before)(struct lx_graph *graph);                         /* or NULL */
	void (*after)(const struct lx_graph *graph, struct plan *plan); /* or NULL */
};

extern const struct lx_pass *const lx_passes[]; /* NULL ends them */

/* Finds users and stays of the workload that the graph has now. */
void lx_graph_look(struct lx_graph *graph);

/* A clone that the planner put in and may lay out as its readers wish. */
bool lx_is_moved(const struct lx_graph *graph, int tensor);

#endif
