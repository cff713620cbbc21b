#ifndef SUPPORT_SAMPLE_H
#define SUPPORT_SAMPLE_H

#include "model/graph/workload.h"

/*
 * A workload of one op in a line, loops named by letters:
 *
 *	sample_op(arena, OP_EINSUM, DTYPE_FP16, "mk,kn->mn", "mnk", (int64_t[]){8, 64, 128})
 *
 * Each operand lists the loop that walks each dimension of its host array, '.'
 * a dimension of extent 1.  Loops that the output lacks are reductions; a
 * reduce sums.  Reads are tensors a, b, ...; the output is o.  Layouts are the
 * default ones.
 */
struct arena;

struct workload *sample_op(struct arena *arena, enum op_kind kind, enum dtype dtype,
	const char *operands, const char *loops, const int64_t *extents);

/* Gives operand i another element type or order of dimensions (NULL: default). */
void sample_lay_out(struct workload *workload, int operand, enum dtype dtype, const int *order);

/* Points of an op's loops, at each of which it computes once; 0 for opaque ops and broadcasts. */
int64_t op_points(const struct op *op);

/* The graph with a clone of a tensor right before an op, its last tensor, which ops from there on
 * read instead. */
const struct workload *workload_with_clone(
	struct arena *arena, const struct workload *workload, int tensor, int before);

#endif
