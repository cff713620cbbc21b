#ifndef MODEL_STICKS_H
#define MODEL_STICKS_H

#include "model/graph/workload.h"

/*
 * Whether the sticks of an op's operands fit together, and the layout of an
 * output that says nothing about it.
 *
 * A compute works on sticks: lane i of the output comes from lane i of the
 * operands, from a stick whose lanes are all reduced, or from one that is the
 * same for all lanes.  An operand's stick runs along one loop (by steps of one,
 * from a multiple of the stick), or along none: sparse, or an index that stays
 * at a stick's first lane.  Let n be the output's stick loop; none if it is
 * sparse.
 *
 *	map         an operand runs along n, or it has no stick loop and n does not index it
 *	reduce      the same; without n a reduced stick fits too
 *	einsum      an operand that n indexes runs along n; the others run along a
 *	            reduced loop or none; without n all that run along a loop do so along
 *	            the same reduced one
 *	restickify  anything
 *	opaque      anything
 *
 * Derived layouts are the default of layout_make, except that an output is
 * sparse when a reduce runs along its operand's stick, and when all operands of a
 * map or reduce that have all of the output's loops are sparse: it then keeps the
 * order of the first of them.
 */
struct stick_misfit {
	int operand;
	int loop;   /* along which the operand's stick runs; -1: none, -2: several or shifted */
	int wanted; /* along which it would fit; -1: sparse would */
};

bool sticks_fit(const struct workload *workload, const struct op *op, struct stick_misfit *misfit);

/*
 * The `order` for layout_make of the op's output of that host size, up to
 * LAYOUT_HOST_RANK_MOST + 1 entries; answers how many, 0 for the default.
 */
int sticks_order(const struct workload *workload, const struct op *op, const int64_t *host_size,
	int host_rank, int *order);

#endif
