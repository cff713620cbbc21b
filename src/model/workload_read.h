#ifndef MODEL_WORKLOAD_READ_H
#define MODEL_WORKLOAD_READ_H

#include "model/workload.h"
#include "spec/reader.h"

/*
 * Reads a `workload:` map:
 *
 *	workload:
 *	  name: softmax
 *	  dimensions: {m: 512, n: 1024}
 *	  dtype: fp16                         # for tensors that say nothing
 *	  tensors:                            # only what differs from the default
 *	    x: {dtype: fp16, layout: [m, n]}  # stick dimension last; "sparse" as a last entry
 *	  inputs: [x]                         # default: all that no op writes
 *	  outputs: [y]                        # default: all that no op reads
 *	  ops:
 *	    - mx[n] = max(m) x[m,n]
 *	    - s[m,n] = x[m,n] - mx[n]
 *	    - e[m,n] = exp(s[m,n])
 *	    - {op: "d[n] = sum(m) e[m,n]", name: total, type: sum}
 *	    - y[m,n] = e[m,n] / d[n]
 *	    - {opaque: topk, reads: [y], writes: ["idx[k]"]}
 *
 * A right side is an operation of two operands (`+ - * /`, maximum(a, b)), a
 * function of one, `restickify x[..]`, a reduction `sum(k) ..` of one operand
 * or of a product.  An index is affine: `2*p + r`, `k`, `3`.  Ops are in
 * execution order.  Shapes come from the tensor's first appearance.
 *
 * A derived layout is the default of layout_make, except that an output whose
 * op reduces along its inputs' stick is sparse: one element per stick.
 *
 * An op whose operands' sticks do not fit is refused, with the restickify that
 * would mend it.  NULL after complaining.
 */
const struct workload *workload_read(const struct reading *reading, const struct node *node);

#endif
