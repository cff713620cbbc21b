#ifndef MODEL_BOX_NEST_H
#define MODEL_BOX_NEST_H

#include "model/graph/op_mapping.h"
#include "model/nest/shape.h"

/*
 * The mapping of an op whose tiles move in boxes, and the nest that Timeloop's directives and
 * constraints of the same `problem:` are about:
 *
 *	nest                                mapping of the op
 *	temporal loops at the home          streaming tiles: the scratchpad's row
 *	spatial loops of the cores          the division
 *	temporal loops at the scratchpad    what is left of a tile of whole units; where the array is
 *	                                    described, the home's row, which rounds a tile up to whole units
 *	rows inside                         the same rows
 *
 * Loops of an ideal array have no order.  Every operand passes through home and scratchpad.
 * Dimensions are loops of the same name, those of one iteration none; dataspaces are tensors of the
 * same name.
 */
struct arena;

struct mapping box_nest(const struct arch *arch, const struct workload *workload,
	const struct op *op, const struct shape *shape, const struct mapping *mapping);

/* The way back, in *out: NULL, or why no tiles of whole units run so. */
const char *box_mapping(struct arena *arena, const struct arch *arch,
	const struct workload *workload, const struct op *op, const struct shape *shape,
	const struct mapping *nest, struct mapping *out);

#endif
