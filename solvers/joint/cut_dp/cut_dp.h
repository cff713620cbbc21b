#ifndef JOINT_CUT_DP_CUT_DP_H
#define JOINT_CUT_DP_CUT_DP_H

#include "base/tuning.h"
#include "search/joint/joint_space.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CUT_DP_OPTIONS(OPTION)                                                                     \
	OPTION(CUT_BEAM_FIRST, 500, 1, 1 << 24, "labels of a cut that the first beams keep")       \
	OPTION(CUT_WIDTH_FIRST, 4000, 1, 1 << 24,                                                  \
		"states and labels of a cut that the first pass keeps")                            \
	OPTION(CUT_WIDTH_TIMES, 8, 2, 1000, "times as many in each pass after")                    \
	OPTION(CUT_COARSE_TIMES, 200, 2, 1 << 30,                                                  \
		"times as many combinations of views in each finer relaxation")                    \
	OPTION(CUT_MENUS_MIB, 256, 1, 1 << 20,                                                     \
		"MiB of menus of a cut that are kept: with more they are made again")              \
	OPTION(CUT_POTENTIAL_STATES, 4096, 1, 1 << 20,                                             \
		"states of a cut between blocks of a stack")                                       \
	OPTION(CUT_BLOCK_WINDOW, 4, 1, 1000,                                                       \
		"part of a block's bound by which what is looked at next may be above it")         \
	OPTION(CUT_BLOCK_LAST, 16, 1, 1000, "the same, if all views are distinct")                 \
	OPTION(CUT_BLOCK_TIMES, 4, 1, 1000, "equal blocks that are looked at, one by one")         \
	OPTION(CUT_ROOM_PARTS, 8, 2, 1000, "parts of LX of which fewer are used if nothing packs")

OPTIONS(CUT_DP_OPTIONS)

/*
 * A joint space, prepared for a search over its cuts.  Cut c lies before op c; cut op_count is the end.
 *
 * A tensor has a slot at each cut between the first and the last option that mention it, an output up to the
 * end.  Its code there says where it is: bit 0: valid in HBM; the rest: its view + 1, 0: not in LX.
 *
 * A tensor is dropped from LX only where room is wanted: to keep it costs nothing.  But where nothing can need
 * it in LX any more, it is taken out of the state, so that equal futures are equal states.
 */
enum { CUT_SLOTS_MOST = 64, CUT_VALID = 1 };
#define CUT_NO_SLOT (-1)

struct cut {
	int slot_count;
	const int *tensors;          /* by slot, ascending */
	const uint16_t *const *kept; /* [slot][code]: without a view that nothing needs */
	uint64_t mentions;           /* slots whose tensor may still be used in HBM */
};

struct frame {
	const struct joint_space *space;
	struct arena *arena;
	int cut_count; /* op_count + 1 */
	const struct cut *cuts;
	const int8_t *slots; /* [cut * tensor_count + tensor]; CUT_NO_SLOT */
	const int64_t *
		over; /* what a bundle of this width costs; JOINT_NEVER: more than can be counted */
	int width_most;
	int rank_count;    /* of different widths of steps */
	const int *widths; /* by rank, ascending */
	const int *ranks;  /* by width: rank of the largest width up to it */
	int args_most;     /* of a bundle; 0: any number */
	/* By tensor: the first cut behind an option that mentions it in HBM; that has it among its arguments. */
	const int *hbm_from, *argued_from;
};

/* NULL after saying in *why what cannot be searched. */
const struct frame *frame_make(
	const struct joint_space *space, struct arena *arena, const char **why);

/*
 * The same, but a tensor takes no more room, and costs no more to evict, than under any view that it can be
 * relayed to: so no relay comes early.  The frame itself if nothing can be relayed.
 */
const struct frame *frame_with_less_room(const struct frame *frame, struct arena *arena);

/* The same without relays. */
const struct frame *frame_without_relays(const struct frame *frame, struct arena *arena);

/* True if some tensor can be relayed. */
bool frame_relays(const struct frame *frame);

/* The codes of the first cut. */
void frame_start(const struct frame *frame, uint16_t *codes);

/* Is this the end, where all outputs are valid in HBM? */
bool frame_is_complete(const struct frame *frame, const uint16_t *codes);

static inline int frame_slot(const struct frame *frame, int cut, int tensor)
{
	return frame->slots[(size_t)cut * (size_t)frame->space->tensor_count + (size_t)tensor];
}

/* Is an option of ops from `first` on certainly the first to use this tensor in HBM?  What was made before may have
 * been evicted. */
static inline bool frame_is_fresh(const struct frame *frame, int first, int tensor)
{
	int producer = frame->space->tensors[tensor].producer;
	return frame->hbm_from[tensor] > first && (producer < 0 || producer >= first);
}

static inline uint16_t cut_code(bool valid, int view)
{
	return (uint16_t)((view + 1) << 1 | valid);
}

static inline int cut_view(uint16_t code)
{
	return (code >> 1) - 1;
}

/* The bytes in LX of a tensor with this code. */
static inline int64_t cut_bytes(const struct joint_tensor *tensor, uint16_t code)
{
	return cut_view(code) < 0 ? 0 : tensor->bytes[cut_view(code)];
}

/* A sum of what is not negative; JOINT_NEVER where it is more than can be counted. */
static inline int64_t cut_add(int64_t a, int64_t b)
{
	int64_t sum;
	return __builtin_add_overflow(a, b, &sum) ? JOINT_NEVER : sum;
}

/*
 * The states of one cut, each with the labels that end in it.
 *
 * A label is a path from the first op.  Its bundle part has the tensors of the open bundle so far.  A label
 * dominates another if every continuation costs it no more.  Let a and b be labels of one state, F the tensors that
 * their bundles have in HBM.  If b goes on in its bundle with tensors R, it has args_b + |R \ F_b| of them in the
 * end, and a would have args_a + |R \ F_a|. The latter is no more than the former if args_a + |F_b \ F_a| <=
 * args_b.  Widening costs a at most core_value x max(0, widest_b - widest_a) more.  Or a begins a bundle where b
 * goes on: that costs at most what a bundle of width widest_b costs.
 */
#define LABEL_NONE UINT32_MAX /* no enumerator: those are ints */
enum { LABEL_CLOSED = UINT16_MAX };

struct bundle {
	uint64_t in_hbm; /* slots whose tensor it has in HBM already */
	uint16_t args;   /* tensors in HBM; LABEL_CLOSED: the next step begins a bundle */
	uint16_t widest;
};

struct label {
	int64_t cost;  /* of all steps and bundles, the open one included as wide as it is */
	int64_t bound; /* no answer that goes on from it is below */
	struct bundle bundle;
	bool dominated, begins_bundle;
	bool is_chosen, is_changed; /* for evictions and relays; they were made */
	uint8_t kind;               /* enum joint_step_kind: how it came here */
	uint16_t parent_cut;
	uint32_t parent;      /* LABEL_NONE: it is the first */
	uint32_t step;        /* an option; or a tensor */
	uint16_t view;        /* of a relay */
	uint32_t state, next; /* next of the same state */
};

struct cut_layer;
struct cut_layer *layer_open(const struct frame *frame, int cut, struct arena *arena);

/* The number of a state, by its codes; it is added if it is new. */
uint32_t layer_state(struct cut_layer *layer, const uint16_t *codes);
bool layer_find(const struct cut_layer *layer, const uint16_t *codes, uint32_t *state);
uint32_t layer_state_count(const struct cut_layer *layer);
const uint16_t *layer_codes(const struct cut_layer *layer, uint32_t state);
uint32_t layer_first(const struct cut_layer *layer, uint32_t state); /* label */
int64_t layer_bytes(const struct cut_layer *layer, uint32_t state);  /* in LX */

void layer_clear(struct cut_layer *layer); /* of labels; states stay */

/* Adds a label unless another dominates it; those that it dominates are marked.  LABEL_NONE if not added. */
uint32_t layer_add(struct cut_layer *layer, const struct label *label);
uint32_t layer_append(struct cut_layer *layer, const struct label *label); /* of no state's list */
void layer_forget(struct cut_layer *layer); /* labels that are marked as dominated */
uint32_t layer_label_count(const struct cut_layer *layer);
struct label *layer_label(const struct cut_layer *layer, uint32_t i);

/* The steps to a label of a cut. */
struct joint_answer *layers_trace(
	struct cut_layer *const *layers, int cut, uint32_t at, struct arena *arena);

/* States or labels by a value: the least first, of equal ones the first. */
struct cut_ranked {
	int64_t value;
	uint32_t number;
};
void cut_rank(struct cut_ranked *ranked, size_t count);

struct menus;

/*
 * Steps that can be taken from a state, with the states that they lead to.
 *
 * The effects of the options of a cut depend on the codes of few slots only, those that they use.  So each choice
 * of these has a menu: the options that can be taken, with their effects and their room, without those that another
 * one does as well.  If room is short, a step drops tensors: each minimal set.
 */
enum { STEP_RELAYS_MOST = 8 };

struct step_relay {
	int slot, view, cores;
	int64_t value;
};

struct cut_step {
	enum joint_step_kind kind;
	uint32_t which; /* an option; or a tensor */
	int view;       /* of a relay */
	int64_t value;
	int cores;
	bool ends_bundle, alone;
	int fresh;            /* tensors that no step before can have used in HBM */
	int args;             /* tensors that it uses in HBM */
	uint64_t args_before; /* those that have slots at the cut before, at the one after */
	uint64_t args_after;
	int cut;         /* where it leads to */
	int relay_count; /* relays right before it, of a lazy option: their values are in `value` */
	struct step_relay relays[STEP_RELAYS_MOST];
	uint16_t codes[CUT_SLOTS_MOST];
};

/* Called for each step; false: no more. */
typedef bool step_visit(void *context, const struct cut_step *step);

/*
 * Lazy relays come only right before an option that reads what they made, as one step with it.
 * With bundles, or where relays free room, that may miss the best.  `roomless`: relays take no room for two
 * views.
 */
struct steps;
/* It has the menus of `own` if those are of the same frame, and is closed first; NULL: menus of its own. */
struct steps *steps_open(const struct frame *frame, const struct steps *own, struct arena *arena);
void steps_be_lazy(struct steps *steps, bool lazy, bool roomless);
void steps_close(struct steps *steps);
void steps_leave_room(struct steps *steps, int64_t capacity); /* less than LX has */

/* Options that can be taken from a state at a cut, which has these bytes in LX. */
bool steps_options(struct steps *steps, int cut, const uint16_t *codes, int64_t bytes,
	step_visit *visit, void *context);

/* Evictions and relays, which lead to the same cut. */
bool steps_changes(struct steps *steps, int cut, const uint16_t *codes, int64_t bytes,
	step_visit *visit, void *context);

/* The slots at `to` whose tensors are in this set of slots at `from`. */
uint64_t steps_slots(const struct steps *steps, int from, int to, uint64_t slots);

/*
 * Lower bounds, one for each condition that a bundle can be in: how wide it is, by rank, and how many tensors it
 * has.  The relaxation counts only tensors that no step before can have used in HBM (frame_is_fresh).  The last
 * condition is that of a bundle that has ended.
 *
 * Completion bounds are lower bounds of the steps that follow; costs are those of the steps before.  A bundle may
 * be paid for before it is as wide, so a step as wide as `cores` is taken in bundles of at least that width.
 */
#define BOUND_NEVER (INT64_MAX / 4)

size_t condition_count(const struct frame *frame);

/* Returns the number of the condition of a bundle with so many tensors that is `widest` wide. */
size_t condition_index(const struct frame *frame, int args, int widest);

/*
 * A coarse space: the views of some tensors are joined (state-space relaxation, Christofides, Mingozzi and Toth
 * 1981).  Such a tensor has one view, which serves every use of any of them, takes no room, and is as cheap and
 * narrow as the best of them.  Each answer of the space is one of the coarse space, and costs no more there.
 */
struct coarse_space {
	const struct frame *frame; /* its tensors have the same slots */
	const bool *is_coarse;     /* by tensor; NULL: none is */
	int distinct;              /* tensors that are not */
};

/*
 * Tells the views apart of the tensors of which `before` does (NULL: none), and of as many more as give at most
 * `states` combinations at each cut, those with the shortest lives first.
 */
struct coarse_space coarse_make(const struct frame *frame, const struct coarse_space *before,
	double states, struct arena *arena);

/* The state of the coarse space that a state of the space belongs to. */
void coarse_codes(
	const struct coarse_space *coarse, int cut, const uint16_t *codes, uint16_t *image);

/* Visits the states that have less in LX than this one: tensors may have been dropped. */
typedef void coarse_visit(void *context, const uint16_t *codes);
void coarse_less(const struct coarse_space *coarse, int cut, const uint16_t *codes,
	coarse_visit *visit, void *context);

/*
 * A potential: a number for each state that a cut can have and each condition that a bundle can be in.
 */
struct potential {
	const struct frame *frame;
	int cut;
	struct cut_layer *states;
	int64_t *bounds; /* [state * condition_count + condition] */
};

/* All are BOUND_NEVER.  NULL: there are more than `most` states. */
struct potential *potential_open(
	const struct frame *frame, int cut, size_t most, struct arena *arena);

size_t potential_count(const struct potential *potential); /* states */
size_t potential_size(const struct potential *potential);  /* numbers */
const uint16_t *potential_codes(const struct potential *potential, size_t state);
int64_t *potential_row(const struct potential *potential, size_t state);

/*
 * A relaxation: lower bounds of the rest of an answer, from shortest paths over the states of a coarse space, first
 * forward, then backward.  A coarser relaxation, if there is one, excludes states.
 */
struct run;

/* State space of relaxations, shared by all of one coarse space. */
struct state_space;

struct relaxation;

/* `coarser`: NULL: it is the first.  It ends, and is of no more use, where its limit falls below the floor. */
struct relaxation *relax_open(struct run *run, const struct state_space *states,
	struct relaxation *coarser, int64_t floor, struct arena *arena);

/*
 * Only from one cut to another: it begins in each state of a potential, after these costs, and at the end
 * what the other potential says is still to come.  NULL: the potential of a whole answer.
 */
void relax_between(struct relaxation *relaxation, int from, int to, const struct potential *costs,
	const struct potential *bounds);

/*
 * Goes on from at most `width` states that options lead to at each cut, and from none that is sure to end above the
 * limit; where there are more, the limit falls.  False: the budget is spent.
 */
bool relax_run(struct relaxation *relaxation, size_t width, int64_t limit, bool is_free);
int64_t relax_limit(const struct relaxation *relaxation);

/* The least that any path costs, or the least above the limit. */
int64_t relax_least(const struct relaxation *relaxation);

/*
 * The bounds of a state of the space, or of a finer one: what goes on from it costs no less, or ends above the limit.
 * NULL: it does that in any case.
 */
size_t relax_condition_count(const struct relaxation *relaxation);
const int64_t *relax_bounds(struct relaxation *relaxation, int cut, const uint16_t *codes);

enum { RELAXATIONS_MOST = 8 };

/* State spaces of relaxations, from coarse to fine: the first joins
 * all views, the last one none. Each is made at its first use. */
struct relaxations {
	struct arena *arena;
	const struct steps *own; /* of the search */
	const struct frame *relaxed;
	struct coarse_space before;
	double states;
	int count;
	bool is_whole; /* the last one is made */
	struct state_space *spaces[RELAXATIONS_MOST];
};

/* `own`: the steps of the search, which are closed later; NULL. */
struct relaxations relaxations_open(
	const struct frame *frame, const struct steps *own, struct arena *arena);
void relaxations_close(struct relaxations *relaxations);

/* The levels are asked for in order. */
const struct state_space *relaxations_space(struct relaxations *relaxations, int level);
bool relaxations_ends(
	const struct relaxations *relaxations, int level); /* of one that is made: it is the last */

/*
 * A space that consists of segments, one after the other, as a network does of blocks.  No option has ops of two
 * segments.  Segments are equal if one is the other by other numbers of ops and tensors: their cuts have the same
 * states, their ops the same options at the same price.  Names do not matter.
 */
struct stack {
	int count;           /* segments; 0: it is none */
	const int *cuts;     /* count + 1; segment i has the ops from cuts[i] on */
	const bool *repeats; /* by segment: it is equal to the one behind it */
};

/* With at most so many states at each cut between segments, and there with as few tensors as can be. */
struct stack stack_find(const struct frame *frame, size_t states, struct arena *arena);

/*
 * Raises a lower bound of the answers of a stack, by value iteration over its blocks, from the last to the first.
 *
 * Let V(h) be the completion bounds before a block, in each state, if h are those behind it.  A block is relaxed
 * between two potentials, so that the search sees one block at a time, however many follow.  Values above its
 * window are bounded by the edge of the window.  If V(h) >= h + c for a constant c in all states, then V(V(h)) >=
 * V(h) + c, too (MacQueen 1966): each further equal block costs at least c.
 */
void stack_bound(struct run *run, const struct frame *frame, struct relaxations *relaxations,
	size_t width, int64_t *bound);

#endif
