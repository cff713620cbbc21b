#ifndef SEARCH_JOINT_MAKING_H
#define SEARCH_JOINT_MAKING_H

#include "base/array.h"
#include "constraints/graph.h"
#include "model/graph/planning.h"
#include "model/graph/users.h"
#include "search/joint/joint_graph.h"

/*
 * A joint space in the making: what the ops can be (joint_divisions.c), the views that come of it
 * (joint_views.c), what moving costs (joint_moves.c), and the options (joint_options.c).
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

/* What bringing a tensor into LX, or writing it back, adds. */
struct joint_transfer {
	bool known, possible;
	int64_t cycles;          /* of a phase of its own */
	int64_t hbm_bytes, fill; /* at HBM, into LX of core 0 */
	double energy_pj;
	int cores; /* that its step takes */
};

/* The views of a tensor. */
struct joint_views {
	struct view *at;
	int count, capacity;
	int *asked; /* by view: the last op that asks for it, or -1 */
	bool *made; /* somebody so far may leave the tensor under it */
	bool *serves;
	struct joint_transfer *in, *out;
};

struct joint_making {
	const struct joint_question *question;
	struct arena *arena;   /* of the space */
	struct arena *scratch; /* of the making */
	struct kept *kept;
	struct users users;
	const enum stay *stays;
	struct joint_divisions *divisions; /* by op */
	struct joint_views *views;         /* by tensor */
	const char *why;
	bool unproven; /* of joint_graph */
	struct array(struct joint_option) options; /* in the arena */
};

static inline bool joint_is_free(const struct joint_making *making, enum joint_kind kind)
{
	return !(making->question->aim.fixed & kind);
}

/* All divisions of an op; false, and making->why. */
bool joint_divisions_make(struct joint_making *making, int op);

/* The number of a view of a tensor; -1: it never lies in LX. */
int joint_views_add(struct joint_making *making, int tensor, const struct view *view, int asked_by);

/* Fills `serves` and opens the rest, once all views are there. */
void joint_views_close(struct joint_making *making, int tensor);
bool joint_serves(const struct joint_views *views, int held, int asked);

const struct joint_transfer *joint_move_in(struct joint_making *making, int tensor, int view);
const struct joint_transfer *joint_move_out(struct joint_making *making, int tensor, int view);

/* The options of an op, in making->options; false, and making->why. */
bool joint_options_make(struct joint_making *making, int op);

/* By the weights; JOINT_NEVER where it cannot be counted. */
int64_t joint_worth(
	const struct joint_making *making, int64_t cycles, double energy_pj, int64_t hbm_bytes);

#endif
