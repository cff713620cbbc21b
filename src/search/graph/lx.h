#ifndef GRAPH_LX_H
#define GRAPH_LX_H

#include "constraints/graph.h"
#include "model/graph/plan.h"
#include "model/graph/plan_check.h"
#include "model/graph/planning.h"
#include "model/graph/view.h"
#include "model/graph/workload.h"
#include "model/packing/buffer.h"
#include "search/drive/solver.h"
#include "search/graph/recipe.h"

#include <stddef.h>

/*
 * Views: the slice of a tensor that each core needs.  An access under a mapping has a per-core view when every
 * divided loop that indexes the tensor walks one device dimension alone, from end to end, and cuts it into equal
 * parts of whole sticks; else a core does not touch a slice, and `why` says so.
 *
 * If the published code finds a view (by the loop's coefficient among the strides of the layout), and that view has
 * the bytes that a core touches, it is this one.  If two dimensions have one stride, the published code takes the
 * wrong one or stops at an assertion; here the view is right.
 */
struct arch;
struct arena;
struct mapping;

bool lx_view(const struct arch *arch, const struct workload *workload, const struct op *op,
	const struct mapping *mapping, int operand, struct arena *arena, struct view *out,
	const char **why);

/* Moves the view of the output of a divided reduction to its owners: the core of each sum whose part of the loop is
 * the first.  Nothing changes if no reduction is divided. */
void lx_leave_to_owners(const struct arch *arch, const struct op *op, const struct mapping *mapping,
	struct view *view);

/* One access of a tensor by an op. */
struct lx_use {
	int op, operand;
	bool write;
	bool opaque, broadcast; /* it uses the tensor in HBM */
	bool partial;           /* the op divides a reduction: cores hold parts of a sum */
	const char *why;        /* no view; NULL if there is one */
	int64_t cores;          /* of the op */
	struct view view;       /* cores: those of the op */
};

struct lx_uses {
	size_t count;
	const struct lx_use *at; /* in the order of ops, reads of an op before its write */
};

struct lx_uses lx_uses(const struct arch *arch, const struct workload *workload,
	const struct users *users, const struct mapping *mappings, int tensor, struct arena *arena);

/* The same device dimensions, cut alike, handed to cores alike; core counts aside. */
bool lx_same_slices(const struct view *a, const struct view *b);

/*
 * The published number of cores that share a tensor (get_ncores), -1 where its
 * users do not agree (core_div_mismatch).  It takes the largest user and so
 * takes for shared what one core alone has written; plans go by lx_residence.
 */
enum { LX_MISMATCH = -1 };
int64_t lx_core_count(const struct lx_uses *uses, int cores);

/*
 * The view under which a tensor can live in LX: its writer leaves every slice
 * whole on the cores that the view names, and every reader finds all it needs
 * on its own core.  `moved` says that the writer is a move, which can leave any
 * slice on any core: the readers then decide.  False, and *why, when there is
 * none.
 */
bool lx_residence(const struct arch *arch, const struct workload *workload,
	const struct mapping *mappings, const struct lx_uses *uses, bool moved, struct arena *arena,
	struct view *out, const char **why);

/* "m/4 n/2 on 8 cores": how an op is divided, for messages. */
const char *lx_division(struct arena *arena, const struct arch *arch, const struct op *op,
	const struct mapping *mapping);

/*
 * The graph that LX planning works on, and the passes before and after the placement solver that change it, or
 * the plan. lx_plan.c calls them in this order: clones of inputs, staging tiles, buffers; then bundles.
 */

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

/*
 * LX planning: a workload and its division in, a plan out.
 *
 *	clones of inputs -> buffers -> placement solver -> checker -> plan -> bundles
 *
 * The solver's layout is checked by packing_check; a layout that fails is a bug of the solver and ends the program.
 * Staging tiles of broadcasts are among its buffers; if it leaves one out, tensors are packed again below them.  A
 * solver that keeps parts of lives gets uses with the buffers, and the plan gets evictions and reloads.  With
 * planning->lx_planning off, all tensors stay in HBM. The streaming tiles are chosen afterwards (stream.h).
 */
struct lx_layout {
	struct lx_graph graph; /* as the passes left it */
	struct lx_buffers buffers;
	const struct placement *placement; /* by buffer */
	const char *impossible; /* why staging tiles have no room: nothing is placed; NULL */
	const char *silent;     /* why the solver has no answer: nothing is placed; NULL */
	uint64_t ticks;
};

/* Up to the checker.  Once planning->stopper has said yes, what is not done by then is left out. */
struct lx_layout lx_layout(const struct arch *arch, const struct workload *workload,
	const struct mapping *mappings, const struct planning *planning,
	const struct solver *solver, struct arena *arena);

/* Device bytes of all op outputs that got no address; inserted clones do not count. */
int64_t lx_unplaced_bytes(const struct lx_layout *layout);

struct lx_plan_result {
	struct plan *plan; /* NULL: a mapping cannot be carried out */
	const char *why;
	uint64_t ticks;
	size_t reason_count;
	const struct lx_reason *reasons; /* one for each tensor in HBM, by tensor */
};

struct lx_plan_result lx_plan(const struct arch *arch, const struct workload *workload,
	const struct mapping *mappings, const struct planning *planning,
	const struct solver *solver, struct arena *arena);

/*
 * Decides by trying if one more tensor of a plan could lie in LX: the same mappings, the tensor under the view of
 * its writer, or else of a reader, all of LX packed again.  A tensor that must lie in HBM, an input or an output,
 * is copied into LX before its first reader.  If tiles do not move in boxes, copies are not tried: their nests are
 * chosen with all others.  The plan that results is lowered, packed and checked, and priced; `text` says what
 * broke, or what it gains:
 *
 *	  the view is illegal: op 'S' on core 3 uses 0..7 of device dimension 1 of 'KT', whose slice there is 2..3
 *	  in step 'P' LX would hold 1835008 bytes on a core, 157287 more than the 1677721 there are
 *	  the opaque op 'sort' uses it in HBM
 *	  it would fit, with 1024 cycles less (3.2 %), 12.3 uJ less, 256 KiB of HBM less
 */

struct lx_trial {
	const char *text;
	const struct plan *plan; /* with the tensor, or its copy, in LX; NULL: it is illegal */
};

/* The tensor lies in HBM in the plan.  Constraints of the planning bind the trial as they bind any plan. */
struct lx_trial lx_try(
	const struct plan *plan, const struct planning *planning, int tensor, struct arena *arena);

/*
 * The price of constraints `residency: lx`: the whole plan of the recipe without them, and what comes of it
 * when their tensors are put into LX by trying, one after the other (lx_trial.c).
 */
struct lx_price {
	const char *tensors; /* "'K', 'V'"; NULL: no constraint asks for LX, nothing else is set */
	const struct plan *free;  /* NULL: none was found */
	const struct plan *start; /* keeps all constraints; NULL: a trial failed */
};

/* The recipe is of a whole plan (recipe_is_whole), with all constraints. */
struct lx_price lx_price_find(const struct recipe *recipe, struct arena *arena);

#endif
