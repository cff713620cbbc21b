#ifndef MODEL_GRAPH_WORKLOAD_READ_H
#define MODEL_GRAPH_WORKLOAD_READ_H

#include "model/graph/workload.h"
#include "model/machine/arch.h"
#include "spec/reader.h"

/*
 * Reads a `workload:` map:
 *
 *	workload:
 *	  name: softmax
 *	  dimensions: {m: 512, n: 1024}
 *	  dtype: fp16                         # default: the machine's word
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
 *	    - {op: "z[m] = sum(k) w[m,k] * a[k]", roles: [Weights, Inputs, Outputs]}
 *	    - {opaque: topk, reads: [y], writes: ["idx[k]"]}
 *
 * The notation of an op is in op_line.h.  A reduction names its dimensions; a
 * dimension on the right that neither is reduced nor indexes the output is an
 * error.  An output is indexed by dimensions, or by 0 where it has one element.
 * An opaque op may name a known tensor without its indices.  Ops are in
 * execution order.
 *
 * Shapes come from the tensor's first appearance, or from `shape: [m, 7]`; a
 * bare dimension may read a part only of a shape that is given so.  `layout:`
 * names dimensions, or their numbers if an index is not a single dimension.
 * Dimensions of extent 1 stay in the arrays and are not loops.
 *
 * `roles:` are what constraints and machines call the operands, the result last; op_role says what they are
 * unless given.
 *
 * `name:` of an op is its output's unless given.  `type:` is what lists of ops
 * call it: the function's name, but "amax" and "amin" for reductions; for a sum
 * of products of two tensors over one dimension "mm", with more than three loops
 * "bmm", any other "einsum"; "mul" for a product that reduces nothing.
 *
 * `layouts: auto` chooses the layouts that the spec does not give, and restickifies if sticks do not
 * fit (op_fit).  Else sticks_order gives those layouts, and sticks_fit says which sticks fit each
 * other.  An op whose operands' sticks do not fit is refused, with the
 * restickify or the layout that would mend it.  NULL after complaining.
 *
 * `home` is the machine's outermost storage (NULL: one of sticks and words of 16 bits).  Its word is the
 * dtype of tensors about which nothing says it.  Where it has no sticks all layouts are linear: `layout:`
 * is refused, and a restickify is a copy.
 */
extern const struct noun workload_noun;
const struct workload *workload_read(
	const struct reading *reading, const struct node *node, const struct level *home);

/*
 * The workload of one op that a problem is on a machine whose tiles move in boxes: the dataspaces
 * are its tensors, of the type that a word of the home has, in default layouts, or where the sticks of
 * those do not fit each other in some that do.  The op writes the read_write one, with the loops of that
 * in its order, and sums over all others.  What a problem can say and a workload cannot is an error at
 * its line; NULL then.
 */
struct shape;
const struct workload *workload_of_problem(
	const struct reading *reading, const struct shape *shape, const struct level *home);

#endif
