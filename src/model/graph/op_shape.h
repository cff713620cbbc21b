#ifndef MODEL_OP_SHAPE_H
#define MODEL_OP_SHAPE_H

#include "model/graph/op_mapping.h"
#include "model/nest/shape.h"

/*
 * A graph's op, with the extents that the busiest core gets under a mapping (NULL: the whole
 * op).  Dataspace i is operand i; loop l dimension l.  NULL for ops that are no loop nest of
 * this kind: opaque ones, restickifies, indices that run backwards.
 */
struct arena;
const struct shape *shape_of_op(struct arena *arena, const struct arch *arch,
	const struct workload *workload, const struct op *op, const struct mapping *mapping);

#endif
