#ifndef MODEL_GRAPH_OP_READ_H
#define MODEL_GRAPH_OP_READ_H

#include "model/graph/draft.h"

/*
 * An op in the making: its loops and the accesses of its operands, from the
 * parsed notation.  Private to the readers of a workload.  All complain and
 * answer false when something is wrong.
 */
struct op_draft {
	struct draft *draft;
	const struct node *text; /* the scalar that was parsed */
	struct op *op;
	int count;
	struct {
		int dimension;
		int loop; /* -1: extent 1 */
	} uses[LAYOUT_HOST_RANK_MOST + OP_LOOPS_MOST];
};

/* The loops: the output's dimensions in order, then the reduced ones as written. */
bool op_draft_enter_loops(struct op_draft *draft_op, const struct einsum_operand *output,
	const struct word *reductions, int reduction_count);

/* Adds an operand to the op's reads; a tensor that is new gets its shape and layout. */
bool op_draft_read(struct op_draft *draft_op, const struct einsum_operand *operand);

/* Makes the op the operand's only writer.  Its layout and linear index wait. */
bool op_draft_write(
	struct op_draft *draft_op, const struct einsum_operand *operand, struct access *out);

/* The linear index, once the tensor has its layout. */
void op_draft_linearise(const struct draft *draft, struct access *access);

/*
 * Complains about an operand whose stick does not fit, and says what would
 * mend it.  `spelled` is the operand as written in the op's text.
 */
struct stick_misfit;
void op_draft_complain_misfit(struct op_draft *draft_op, const struct stick_misfit *misfit,
	const struct einsum_operand *spelled);

#endif
