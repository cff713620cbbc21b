#ifndef MODEL_GRAPH_OP_MAPPING_H
#define MODEL_GRAPH_OP_MAPPING_H

#include "model/graph/workload.h"
#include "model/machine/mapping.h"
#include "model/nest/shape.h"

/* The mapping of an op of a graph: its loops are the op's, its operands op_operand's. */
struct arena;

/* All factors 1, orders 0, 1, 2, ..., operands kept at HBM and LX. */
struct mapping mapping_make(const struct arch *arch, const struct op *op);

/* The product of the reduction loops' core splits. */
int64_t mapping_reduction_split(
	const struct arch *arch, const struct op *op, const struct mapping *mapping);

/*
 * Returns the reason why a mapping cannot run, or NULL: a fan-out that is too small, factors that do
 * not divide a loop's units, an output loop inside a reduction loop, more than one reduction split
 * over cores, an operand without a home.  On machines whose tiles do not move in boxes a mapping is a
 * whole nest, checked by nest_mapping_check and for fan-outs.
 */
const char *mapping_check(struct arena *arena, const struct arch *arch,
	const struct workload *workload, const struct op *op, const struct mapping *mapping);

/*
 * One line: "core: k4 n8 | LX: n2 k16 | keep LX: 2".  Loops are named; factors
 * of 1 are left out; the order written is the row's order, spatial fastest
 * first, temporal outermost first.
 *
 *	core:          the spatial row of a container or compute level
 *	LX:            the temporal row of a storage level
 *	LX spatial:    the other row of a level
 *	core temporal:
 *	LX inside:     where a tile has a nest (box_nest.h): the loops at LX inside a tile
 *	n8@y           this spatial factor runs along Y
 *	k1=4           for a loop whose name ends in a digit
 *	keep HBM: 0 1; LX: 2
 *	               where operands are kept, by operand number; those kept at HBM
 *	               and LX, the default, are left out; "nowhere" is a place too
 *	undivided      stands for a mapping that is all defaults
 *
 * `parse` returns NULL, or what is wrong with the text, and leaves *out alone
 * then.
 */
const char *mapping_print(struct arena *arena, const struct arch *arch, const struct op *op,
	const struct mapping *mapping);
const char *mapping_parse(struct arena *arena, const struct arch *arch, const struct op *op,
	const char *text, struct mapping *out);

/* The loops and operands of an op: loop l is dimension l, operand i dataspace i, of its tensor's name. */
struct shape *op_shape(struct arena *arena, const struct workload *workload, const struct op *op);

/*
 * The same as a nest of a machine: dataspaces have names and words of their own.  NULL for ops that are not
 * such a loop nest: opaque ones, restickifies, indices that run backwards.
 */
const struct shape *op_nest_shape(struct arena *arena, const struct arch *arch,
	const struct workload *workload, const struct op *op);

#endif
