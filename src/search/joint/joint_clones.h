#ifndef SEARCH_JOINT_CLONES_H
#define SEARCH_JOINT_CLONES_H

#include "search/joint/joint_making.h"

/*
 * Clones that a graph has itself and that bring something into LX: in a plan they are of one phase with the op behind
 * them (model/graph/plan.h, point 7), so an option has them and that op; or they end their bundle and have an option
 * of their own.  A row of more than CLONES_MOST makes too many options: then, and where clones stand before an opaque
 * op, nothing is proven (joint_graph.unproven); nor where the op could take over the bytes of what a clone brings for it alone, which no option says.
 */
enum { CLONES_MOST = 3, EARLY_MOST = 2 };

/* A tensor that an op reads, by one operand or more. */
struct joint_reading {
	int tensor;
	uint32_t operands;
	bool dies; /* no later op reads it */
};

/* The options of an op in the making, with clones before it or without. */
struct joint_choosing {
	struct joint_making *making;
	int number;
	int first;              /* of the clones; without any the op */
	int views[CLONES_MOST]; /* under which they leave what they bring */
	const struct op *op;
	int read_count;
	struct joint_reading reads[OP_READS_MOST];
	const struct joint_division *division;
	struct joint_use uses[OP_READS_MOST];
	struct joint_out out;
	int early_count; /* moved in for later ops */
	struct joint_use early[EARLY_MOST];
	struct joint_drafts drafts;
};

/* An op that may move something into LX, and no more. */
bool joint_may_clone(const struct joint_making *making, int op);

/* True if such a clone by itself need not end its bundle: it is of no phase with the op behind it, or nothing is
 * proven.  Where it can be both, its price by itself is no less than what a plan takes. */
bool joint_stands_alone(struct joint_making *making, int op);

/* The clone of the row that makes a tensor; -1. */
int joint_clone_of(const struct joint_choosing *choosing, int tensor);

/* What clone c brings. */
int joint_cloned(const struct joint_choosing *choosing, int c);

/* True if the op reads a tensor. */
bool joint_op_reads(const struct joint_choosing *choosing, int tensor);

/* What the op and its clones have from outside; false if a tensor would be in two places. */
bool joint_clone_uses(const struct joint_choosing *choosing, struct joint_draft *draft);

/* What is left: what the op makes, and what somebody reads later; the rest of what clones bring lives inside. */
void joint_clone_outs(const struct joint_choosing *choosing, struct joint_draft *draft);

/* The clones, then the op. */
void joint_clone_parts(const struct joint_choosing *choosing, const struct op_option *tiles,
	struct joint_draft *draft);

#endif
