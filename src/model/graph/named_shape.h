#ifndef MODEL_NAMED_SHAPE_H
#define MODEL_NAMED_SHAPE_H

#include "base/array.h"

#include <stdbool.h>

/*
 * Named shapes: ops in one line that stand for several, by the notation of
 *
 *	y[m,n] = softmax(n) x[m,n]                 also layernorm, rmsnorm: over the dimensions in brackets
 *	o[h,q,d] = attention(Q[h,q,d], K[h,k,d], V[h,k,d])
 *	y[m,f] = swiglu(gate[m,f], up[m,f])
 *	y[n,k,p,q] = conv2d(x[n,c,p,q], w[k,c,r,s])   padded to the same size, stride 1
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

/* The ops of a line, in order; false: it has no named shape.  `extent` of a dimension by name, 0: unknown.
 * *why: what is wrong with the operands; then there are no lines. */
bool named_shape_expand(struct arena *arena, const char *text,
	long long (*extent)(const void *of, const char *name), const void *of,
	struct shape_lines *out, const char **why);

#endif
