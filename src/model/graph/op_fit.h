#ifndef MODEL_OP_FIT_H
#define MODEL_OP_FIT_H

#include "model/graph/op_read.h"

/*
 * `layouts: auto`: the layout of an op's output, of inputs that no op has read yet, and restickifies of other
 * operands, chosen so that all sticks fit and the fewest bytes are copied.  Outputs are tried in their default
 * layout first, then with the stick along each of their dimensions, then sparse.
 */

/* The op has its accesses, and its output no layout yet.  Restickifies come before it in the draft.  False after
 * complaining: no layout fits. */
bool op_fit(struct op_draft *draft_op, const struct einsum *einsum);

#endif
