#ifndef MODEL_GRAPH_OP_LINE_H
#define MODEL_GRAPH_OP_LINE_H

#include "base/array.h"
#include "base/text.h"
#include "model/graph/workload.h"

#include <stdbool.h>

/*
 * Named shapes: ops in one line that stand for several, by the notation of
 *
 *	y[m,n] = softmax(n) x[m,n]                 also layernorm, rmsnorm: over the dimensions in brackets
 *	o[h,q,d] = attention(Q[h,q,d], K[h,k,d], V[h,k,d])
 *	y[m,f] = swiglu(gate[m,f], up[m,f])
 *	y[n,k,p,q] = conv2d(x[n,c,p,q], w[k,c,r,s])   padded to the same size, stride 1
 *	y[h,s,t,d] = rope(x[h,s,t,d], cos[s,d], sin[s,d])   pairs of coordinates t, turned by angles
 *
 * Tensors between them have the output's name and a word behind.
 */
struct arena;
struct named_shape {
	const char *name;
	const char *line; /* to copy */
};

extern const struct named_shape named_shapes[]; /* name NULL ends them */

struct shape_lines array(const char *);

/* Lists the ops of a line, in order; false: it has no named shape.  `extent` returns that of a dimension by
 * name, 0: unknown.  *why: the fault of the operands; then *out is empty. */
bool named_shape_expand(struct arena *arena, const char *text,
	long long (*extent)(const void *of, const char *name), const void *of,
	struct shape_lines *out, const char **why);

/*
 * A line that gives one op, parsed but not yet resolved: names are words,
 * places are byte offsets into the text.
 *
 *	op        = operand "=" right
 *	right     = factor [("+" | "-" | "*" | "/") factor]       map, two operands
 *	          | name "(" factor ["," factor] ")"              map: exp(x[m]), maximum(a[m], 0)
 *	          | operand "*" operand {"*" operand}              einsum without reduction
 *	          | operand                                        a copy: clone
 *	          | "restickify" operand
 *	          | "broadcast" operand | "broadcast" "(" operand ")"
 *	          | reduction "(" word {"," word} ")" product      reduction = sum max min mean
 *	product   = operand {"*" operand}
 *	factor    = operand | number | word                        word: a variable of the spec
 *	operand   = ["pad"] name "[" [index {"," index}] "]"
 *	index     = sum of words times numbers (model/nest/affine.h)
 *
 * "pad": elements outside of the tensor are 0, those of a reduction its identity (of max the least).
 *
 * One reduced operand is a reduce, a sum over a product an einsum.  A constant
 * is the second operand of a map; in first place it may stand where the order
 * does not matter (2 * x).
 */
struct line_operand {
	bool pad; /* its index may leave the tensor */
	struct word tensor;
	size_t at, end; /* with its indices */
	int index_count;
	struct affine_sum indices[LAYOUT_HOST_RANK_MOST];
};

struct op_line {
	const struct primitive *primitive;
	bool has_constant;
	double constant;      /* when variable.text is NULL */
	struct word variable; /* the constant by name */
	struct line_operand output;
	int read_count;
	struct line_operand reads[OP_READS_MOST];
	int reduction_count;
	struct word reductions[OP_LOOPS_MOST];
};

/* Words and messages live in the arena.  False: *fault says where and why. */
bool op_line_parse(
	struct arena *arena, const char *text, struct op_line *out, struct scan_fault *fault);

/* An operand alone, as opaque ops list them: "idx[k]".  A bare name has index_count -1. */
bool line_operand_parse(
	struct arena *arena, const char *text, struct line_operand *out, struct scan_fault *fault);

#endif
