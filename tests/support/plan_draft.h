#ifndef SUPPORT_PLAN_DRAFT_H
#define SUPPORT_PLAN_DRAFT_H

#include "model/graph/plan.h"

/*
 * A plan in pieces that can be changed one by one: decisions about the ops of a workload as its spec gives it, moves
 * beside them, and runs.  What follows from them is made by draft_plan: the workload with its moves, bundles by
 * number, lives of tensors, addresses.  It knows nothing of any solver; the nouns of model/ are all that it has
 * in common with them.
 */
struct arena;

enum {
	DRAFT_OPS_MOST = 16,
	DRAFT_MOVES_MOST = 10,
	DRAFT_RUNS_MOST = 3,
};

/* Residence of a tensor. A view follows the division of an op that uses the tensor, so that it
 * changes with it, or is given. */
enum view_rule { VIEW_OF_OP, VIEW_WHOLE, VIEW_GIVEN };
struct draft_stay {
	bool in_lx;
	enum view_rule rule;
	int op;           /* VIEW_OF_OP */
	struct view view; /* VIEW_GIVEN; of VIEW_WHOLE the cores */
};

struct draft_op {
	struct mapping mapping;
	bool begins_bundle;
	int in_place_of; /* a read whose bytes the output takes over, plus 1; 0: none */
	struct draft_stay stay;
};

struct draft_move {
	enum move_kind kind;
	int tensor;       /* of the workload */
	int from;         /* what is moved: what this move made; -1: the tensor */
	int before;       /* right before this op of the workload; op_count: behind all of them */
	uint32_t readers; /* ops of the workload that use what it makes */
	bool begins_bundle;
	struct draft_stay stay;
	uint32_t tiles[OP_LOOPS_MOST];
	uint8_t order[OP_LOOPS_MOST]; /* outermost first */
};

struct plan_draft {
	const struct arch *arch;
	const struct workload *workload;
	int cores;
	struct draft_op ops[DRAFT_OPS_MOST];
	int move_count; /* in the order of execution */
	struct draft_move moves[DRAFT_MOVES_MOST];
	int run_count;
	struct tile_run runs[DRAFT_RUNS_MOST]; /* of ops, in order */
};

/* The pieces of a plan; false where it has more of them than fit. */
bool draft_take(const struct plan *plan, const struct workload *given, struct plan_draft *draft,
	struct arena *arena);

/* The plan; NULL where the pieces contradict each other, or no addresses were found.  Nothing of it is checked. */
struct plan *draft_plan(const struct plan_draft *draft, struct arena *arena);

/* The run of ops that an op is of; NULL. */
const struct tile_run *draft_run(const struct plan_draft *draft, int op);

/* Ops of the workload that read a tensor, as a set. */
uint32_t draft_readers(const struct workload *workload, int tensor);

#endif
