#ifndef GRAPH_LX_PASSES_H
#define GRAPH_LX_PASSES_H

#include "constraints/graph.h"
#include "model/graph/plan.h"
#include "model/graph/plan_check.h"
#include "model/graph/planning.h"
#include "model/packing/buffer.h"

#include <stddef.h>

/*
 * The graph that LX planning works on, and the passes before and after the placement solver that change it, or
 * the plan. lx_plan.c calls them in this order: clones of inputs, staging tiles, buffers; then bundles.
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
	bool gives_way;            /* what lives beside what must live in LX gives way */
};

struct lx_graph lx_graph_open(const struct arch *arch, const struct workload *workload,
	const struct mapping *mappings, const struct planning *planning, struct arena *arena);

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
 * Bundles of a plan that no solver has bundled: greedy in order, each with at most
 * arch.bundle_tensors distinct tensors in HBM; tensors in LX are not arguments of a bundle.  An
 * opaque op is the last of its bundle.  Moves and the op that they feed stay
 * together.
 */
void lx_bundle_steps(const struct lx_graph *graph, struct plan *plan);

/*
 * The question to the placement solver: the tensors of a graph that may live in LX, as buffers with sizes per core
 * and lifetimes in steps.  A tensor may live in LX if it is the output of an op on the list and not a graph output.
 * Its writer and readers must agree on the slice of each core, and no opaque op may run while it lives.  The others
 * get their reason in graph->reasons.
 *
 * A buffer's parents are tensors whose bytes it may take: its op is on the
 * in-place list and reads the parent last, element by element as it writes, in
 * the same layout and size.
 */
struct lx_buffers {
	struct packing packing;
	size_t tensor_count;      /* the buffers behind are staging tiles */
	const int *tensors;       /* by buffer */
	const struct view *views; /* by buffer */
};

struct lx_buffers lx_buffers(const struct lx_graph *graph);

/*
 * Staging tiles of broadcasts: menus, choice and addresses.  Tiles are buffers of the packing, alive in their step;
 * they must be placed.
 */

/*
 * Lists the staging options of each broadcast, in at most 4096 chunks: whole tensors, and halves of
 * halves of their rows and sticks, in one, two or three tiles, or in as many as `tiles` says if it
 * is not 0 (as there are chunks, if those are fewer).  Of options that take as many bytes the
 * fastest, and only those that are faster than all that take fewer.
 */
const struct staging_menu *staging_menus(
	const struct arch *arch, const struct workload *workload, int tiles, struct arena *arena);

/* Returns the number of options that a broadcast has on the menus; 0 for any other op. */
size_t staging_option_count(const struct planning *planning, const char *op);

/*
 * Menus with one option for every broadcast: of `op` number `option`, of the others what the
 * planning takes now.  NULL if that is what `op` takes as well, or if `limits` does not allow it.
 */
const struct staging_menu *staging_menus_with(const struct planning *planning,
	const struct planning *limits, const char *op, size_t option, struct arena *arena);

/* True if two numbers of bytes for staging would have the same options taken. */
bool staging_limits_alike(const struct planning *planning, int64_t bytes, int64_t other);

/* The fastest option that the planning allows for every broadcast of graph->workload into
 * graph->stagings, without addresses; NULL, or why there is none for one of them. */
const char *lx_staging_choose(struct lx_graph *graph);

/* The bytes of the largest step's tiles, one on the other; and puts all tiles so, from `base`. */
int64_t lx_staging_most(const struct lx_graph *graph);
void lx_staging_stack(const struct lx_graph *graph, int64_t base);

/* As the packing's solver placed them: addresses of the buffers behind those of tensors. */
void lx_staging_take(const struct lx_graph *graph, const int64_t *addresses);

#endif
