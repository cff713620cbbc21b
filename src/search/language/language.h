#ifndef LANGUAGE_LANGUAGE_H
#define LANGUAGE_LANGUAGE_H

#include "base/array.h"
#include "base/random.h"
#include "constraints/graph.h"
#include "model/graph/plan.h"
#include "model/graph/plan_check.h"
#include "model/graph/planning.h"

/*
 * Steps of plans, enumerated from the rules of plans alone.  A step is a sequence of choices, each a number below
 * some count; a `choices` walks through all sequences in turn, or draws them.
 *
 * The rules, by point of model/graph/plan.h:
 *
 *	1, 2   divisions: every split of every loop that mapping_check accepts on the cores of the planning, every
 *	       order of the loops over the cores, spans as the planning limits them; tiles in every order
 *	3, 4   an operand in HBM: always
 *	5, 14  an operand in LX: under any view of which each core's slice has all that the core touches
 *	7      moves before the op: clones of inputs and reloads of others, under any view, of what the op reads and
 *	       of what only later ops do
 *	10     the output in LX under the view that its cores make, for later ops that it serves
 */
struct arena;

/* Kinds of decisions that are free. */
struct language_kinds {
	bool evict, reload, clone, few_cores, narrow_runs, reduction, many_loops, orders, owners,
		early, both, shared, fused_loops, small_runs;
};

/* A sequence of numbers, each below a count. */
enum { CHOICES_MOST = 256 };
struct choices {
	struct random *random; /* of drawn ones; NULL: all in turn */
	int depth, length;
	int64_t at[CHOICES_MOST], count[CHOICES_MOST];
};

/* Returns the next number of the sequence, below count. */
int64_t choose_below(struct choices *choices, int64_t count);

/* Returns a divisor of a number. */
int64_t choose_divisor(struct choices *choices, int64_t number);

/* Goes on to the next sequence; false after the last. */
bool choices_next(struct choices *choices);

/* The intervals of device dimensions, without the stick, of an operand that each core of an op touches. */
struct touched {
	int64_t cores;
	int rank;                  /* without the stick */
	const int64_t *low, *high; /* [core * rank + d], the last is within */
	const bool *owns;          /* by core: it writes; of a read always */
	bool is_view;              /* equal slices that a view can name: */
	struct view view;
};

/* The parts of a tensor that an op needs under some division, by one operand or several. */
struct asked {
	int op, touch_count;
	bool is_even; /* all of them are views */
	const struct touched *touches[OP_READS_MOST];
};

struct division {
	struct mapping mapping;
	int64_t cores;
	bool partial;                                     /* cores hold parts of a sum */
	const struct touched *touches[OP_READS_MOST + 1]; /* by operand */
	int asked[OP_READS_MOST]; /* by read: number of `asked` of its tensor */
};

struct language_op {
	const struct op *op;
	size_t division_count;
	const struct division *divisions;
};

struct language_tensor {
	bool may_lie;
	enum stay stay;
	int first, last;                  /* ops that use it */
	struct array(struct asked) asked; /* all that is different, by op */
	size_t view_count;
	const struct view *views; /* under which a move can bring it */
	bool views_cut;           /* some of them are left out: too many */
	struct op clone;          /* that moves it */
};

struct language {
	const struct arch *arch;
	const struct workload *workload;
	const struct planning *planning;
	struct language_kinds kinds;
	struct arena *arena;
	const struct arch *roomy; /* the machine with room for tile buffers of any size */
	struct users users;
	struct language_op *ops;
	struct language_tensor *tensors;
};

/* False, and *why: an op has no coordinates, or nothing to begin with. */
bool language_open(struct language *language, struct arena *arena, const char **why);

/* Divisions of one op with what they ask for. */
bool language_divide(struct language *language, int op, const char **why);

/* The views of a tensor, once all ops are divided. */
void language_list_views(struct language *language, int tensor);

/* True if every core that touches something finds it in its slice. */
bool view_serves(const struct layout *layout, const struct view *view, const struct touched *touch);
bool view_serves_asked(
	const struct layout *layout, const struct view *view, const struct asked *asked);

/* True if each core finds its slice of `asked` in its slice of `held`. */
bool view_has(const struct layout *layout, const struct view *held, const struct view *asked);

/* Finds the intervals of an operand that the cores of an op touch. */
struct touched touched_make(const struct arch *arch, const struct workload *workload,
	const struct op *op, const struct mapping *mapping, int operand, struct arena *arena);

/* The view of a touch: is_view. */
void touch_find_view(const struct layout *layout, struct touched *touch);

/* --- one step: an op with the moves of its phase */

enum place_of_use { USE_HBM, USE_RESIDENT, USE_MOVED };

struct step_use {
	int tensor;
	uint32_t operands; /* bit i: read i; 0: moved early */
	enum place_of_use place;
	int asked;               /* of the tensor; -1: early */
	const struct view *view; /* USE_MOVED */
	int later_count;
	int later[16]; /* what later ops ask of it, of the tensor's list: they find it there */
};

struct language_step {
	int op;
	const struct division *division;
	int use_count;
	struct step_use uses[OP_READS_MOST + 2];
	bool out_in_lx;
	int out_later_count, out_later[16];
	int in_place_of; /* the use whose bytes the output takes over; -1 */
	bool ends_bundle;
	struct mapping mapping; /* with tiles */
};

/* Chooses all of a step but its tiles; false: the rules of plans do not allow them. */
bool language_choose(const struct language *language, int op, struct choices *choices,
	struct language_step *step);

/* Chooses the tiles of a division of an op, and their order. */
void language_tile(const struct arch *arch, const struct workload *workload, const struct op *op,
	struct choices *choices, struct mapping *mapping);

/* The price of a step by the model. */
struct language_price {
	int64_t cycles, estimate, hbm_bytes;
	double energy_pj;
	int64_t cores; /* of its widest part */
};
/* With undivided tiles where `least`: of these the cycles are no more than those of any others. */
bool language_price(const struct language *language, const struct language_step *step, bool least,
	struct arena *arena, struct language_price *out);

/* The same for an evict of a tensor from a view. */
bool language_price_evict(const struct language *language, int tensor, const struct view *view,
	struct arena *arena, struct language_price *out);

/* The step in words. */
const char *language_print(
	const struct language *language, const struct language_step *step, struct arena *arena);

/* --- runs of ops (point 12): language_run.c says which */

struct language_run {
	int first, end;           /* ops of the graph */
	struct tile_run tiles;    /* of steps of `plan` */
	struct workload workload; /* of these ops alone */
	struct users users;
	struct plan plan;
	int64_t cores, room, splits[RUN_LOOPS_MOST]; /* by shared loop */
	int order_count, order[RUN_LOOPS_MOST];
};

bool language_choose_run(const struct language *language, int first, struct choices *choices,
	struct arena *arena, struct language_run *run);
bool language_price_run(
	const struct language_run *run, struct arena *arena, struct language_price *out);
const char *language_print_run(
	const struct language *language, const struct language_run *run, struct arena *arena);

#endif
