#ifndef JOINT_JOINT_MAKING_H
#define JOINT_JOINT_MAKING_H

#include "base/array.h"
#include "constraints/graph.h"
#include "cost/graph/traffic.h"
#include "model/graph/plan_check.h"
#include "model/graph/planning.h"
#include "search/joint/joint_graph.h"
#include "search/joint/options.h"

/*
 * A joint space while it is built, in this order: divisions of the ops, the views that these need or leave,
 * prices of moves, and options (joint_options.c, joint_run_prices.c), of which drafts keep the best.
 */

/* A division of an op with an order of its loops over the cores. */
struct joint_division {
	const struct mapping *mapping;
	size_t same; /* the first division that splits alike */
	int64_t cores;
	bool partial;                 /* it splits a reduction */
	int views[OP_READS_MOST + 1]; /* by operand: what each core needs or makes; -1: no view */
};

struct joint_divisions {
	struct joint_division *at;
	size_t count, capacity;
};

/* The costs of bringing a tensor into LX, or of writing it back. */
struct joint_transfer {
	bool known, possible;
	int64_t cycles; /* of a phase of its own */
	int64_t hbm_bytes;
	struct moved moved; /* what it reads */
	double energy_pj;
	int cores; /* that its step takes */
	struct arrival_share share;
};

/* The views of a tensor. */
struct joint_views {
	struct view *at;
	int count, capacity;
	int direct; /* those before this one are such that an op asks for or makes; the others serve several */
	int *asked,
		*first_asked; /* by view: the last op that asks for it, or -1; the first, or INT_MAX */
	int *made; /* by view: the first op that may leave the tensor under it, INT_MAX: none so far */
	bool *serves;
	struct joint_transfer *in, *out;
};

/* A tensor that a run uses, and that does not live inside it. */
enum { JOINT_ASKED_MOST = 16 };
struct joint_outer {
	int tensor;
	bool made;  /* by an op of the run */
	bool never; /* some op of it cannot use the tensor in LX */
	bool dies;  /* no op behind the run reads it */
	int view;   /* under which it is left, or which serves all who read it; -1 */
	int asked_count, asked[JOINT_ASKED_MOST]; /* views that ops of the run ask for */
};

/* Tiles of the loops that a run shares, or splits of them over the cores. */
struct run_factors {
	int64_t at[RUN_LOOPS_MOST];
};

/* The division of all ops of a run. */
struct run_division {
	struct run_factors splits;
	int order[RUN_LOOPS_MOST], order_count; /* shared loops that are split, fastest first */
};

/* A run of ops with the tiles of the loops that they share, and one division for all of them. */
struct joint_run {
	struct tile_run loops; /* first and end are ops */
	struct run_division division;
	struct mapping *
		mappings; /* by op of the run, without tiles; while it is priced, and if it is kept */
	bool kept; /* mappings and inside are in the arena of the space: an option has them */
	int64_t cores, room;
	int inside_count, outer_count;
	struct joint_inside *inside;
	struct joint_outer *outers;
};

/* An option while it is chosen, and what it is compared by; uses, outs and parts in the scratch arena. */
struct joint_draft {
	struct joint_option option;
	struct joint_run *run; /* NULL: a single op, or one with clones before it */
	int inside_count;      /* without a run */
	const struct joint_inside *inside;
	const struct joint_part *parts; /* unless option.choice is known */
	uint32_t
		dying; /* uses that are moved in for this op alone: their views matter to no other op */
	int64_t dying_bytes;
	bool waits; /* what it makes lies in LX only for an evict */
	size_t number;
};

struct joint_drafts {
	struct joint_draft *at;
	size_t count, capacity;
};

/* The least value of an op with all that it uses in HBM. */
struct joint_apart {
	bool known;
	int64_t value; /* JOINT_NEVER: it must use something in LX */
};

struct joint_making {
	const struct joint_question *question;
	struct arena *arena;   /* of the space */
	struct arena *scratch; /* of the making */
	struct arena *growing; /* of the options, until all are there */
	struct kept *choices;  /* of options of one op */
	struct kept *kept;
	struct users users;
	const enum stay *stays;
	struct step
		*steps; /* step i is op i; plans of joint_steps share them, and only read them */
	struct joint_divisions *divisions; /* by op */
	struct joint_views *views;         /* by tensor */
	const char *why;
	bool cut_tiles;    /* some list of tiles was not complete: KIND_CUT_TILES */
	bool unproven;     /* of joint_graph */
	bool shares;       /* all views that serve several readers are there */
	bool shares_early; /* and tensors may come early under them */
	bool evicts_late; /* what waits for an evict is of use if it saves no more than a place in a bundle */
	struct array(struct joint_option) options;
	struct array(struct joint_run) runs; /* by their first ops */
	struct joint_apart *apart;           /* by op */
};

static inline bool joint_is_free(const struct joint_making *making, enum joint_kind kind)
{
	return !(making->question->aim.fixed & kind);
}

/* True if a tensor can be relayed in LX. */
static inline bool joint_relays(const struct joint_making *making, int tensor)
{
	return joint_is_free(making, KIND_RELAY) && making->question->arch->data_ring.present &&
	       making->views[tensor].count <= RELAYED_VIEWS_MOST;
}

/* A plan whose step i is op i, for trying runs; its steps are those of all such plans. */
struct plan joint_steps(const struct joint_making *making, int cores);

/* All divisions of an op; false, and making->why. */
bool joint_divisions_make(struct joint_making *making, int op);

/* The number of a view of a tensor; -1: it never lies in LX. */
int joint_views_add(struct joint_making *making, int tensor, const struct view *view, int asked_by);

/* Adds the smallest views that serve several ops at once, closed under that, once all views that an op asks for are
 * there: such a view counts as asked for by all of them.  None if `share` is not, or if there are too many to try. */
void joint_views_share(struct joint_making *making, bool share);

/* True if a view serves all ops behind an op that another view serves. */
bool joint_serves_later(const struct joint_views *views, int view, int op, int other);

/* Fills `serves` and opens the rest, once all views are there; false, and making->why, if the stopper ends it. */
bool joint_views_close(struct joint_making *making, int tensor);

/* Looks at the stopper; false, and making->why, if it ends the making. */
bool joint_goes_on(struct joint_making *making);

/* True if two tensors have the same views, which ops equally far behind their first ones make and ask for. */
bool joint_views_alike(const struct joint_making *making, int a, int b);

bool joint_serves(const struct joint_views *views, int held, int asked);

const struct joint_transfer *joint_move_in(struct joint_making *making, int tensor, int view);
/* From one view to another; JOINT_NEVER where it cannot be done. */
int64_t joint_relay(struct joint_making *making, int tensor, int from, int to);

/* A phase of moves into LX. */
int64_t joint_moves_cycles(
	const struct joint_making *making, const struct moved *moved, bool *fits);

const struct joint_transfer *joint_move_out(struct joint_making *making, int tensor, int view);

/* Returns how often a division of an op would be tried with early moves, under views that serve several or not. */
int64_t joint_early_tries(const struct joint_making *making, bool shared);

/* The options of an op, in making->options; false, and making->why. */
bool joint_options_make(struct joint_making *making, int op);
bool joint_whole_options(struct joint_making *making, int op); /* of an op that is not divided */

/* The choice of an option of one op; equal ones are one. */
const struct joint_choice *joint_choice_of(
	struct joint_making *making, const struct mapping *mapping, const struct op_option *tiles);

/* Keeps as options what no draft with equal places beats: in value, room, cores and what dies with the op. */
void joint_drafts_keep(struct joint_making *making, struct joint_drafts *drafts);

/* An op, or a run that begins with it, may leave the tensor in LX under the view. */
void joint_note_made(struct joint_making *making, int tensor, int view, int op);

/* True if an op may find a tensor in LX as it asks for it, after what was noted of ops before. */
bool joint_may_be_found(const struct joint_making *making, int tensor, int asked, int op);

/* True if plans may bring it there. */
bool joint_may_be_moved(const struct joint_making *making, int tensor);

/* Orders uses, outs and all that begins with the number of a tensor. */
int joint_by_tensor(const void *left, const void *right);

/* True if a tensor may lie in LX at all, as an operand of some op. */
bool joint_may_lie(const struct joint_making *making, int tensor);

/* True if an op reads a tensor only where it writes, in the same layout. */
bool joint_may_take_over(const struct joint_making *making, const struct workload *workload,
	const struct op *op, int tensor);

/* The runs that are in the space, with the views that they ask for; before views are closed. */
void joint_runs_find(struct joint_making *making);

/* Makes the mappings of a run again, and its first iteration, unless that is known. */
void joint_run_open(struct joint_making *making, struct joint_run *run, bool known,
	struct workload *part, struct arena *arena);

/* The options of those that begin with an op, behind those of the op alone. */
void joint_runs_make(struct joint_making *making, int op);

/* The tiles of least value, the first of equals. */
bool joint_tiles(struct joint_making *making, const struct op_question *question, double moved_pj,
	struct op_option *tiles, int64_t *value);

/* The most that the ops of a run cost one by one, each in a bundle of its own between those before and behind;
 * JOINT_NEVER. */
int64_t joint_all_apart(struct joint_making *making, const struct tile_run *run);

/* By the weights; JOINT_NEVER where it cannot be counted. */
int64_t joint_worth(
	const struct joint_making *making, int64_t cycles, double energy_pj, int64_t hbm_bytes);

#endif
