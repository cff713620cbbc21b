#ifndef DIVIDE_DISTRIBUTE_H
#define DIVIDE_DISTRIBUTE_H

#include "model/graph/workload.h"

/*
 * The second published pass: gives all cores to the loops of one op.
 *
 * Loops that the first pass divided get just that.  The others get the largest
 * divisor of their size that the cores left over allow: output loops first, the
 * larger before the smaller, then at most one reduction loop, the one that can
 * use most cores, unless a reduction loop is divided already.  Sizes of stick
 * loops are in sticks.
 */
struct priorities {
	int output_count, reduction_count;
	int output[OP_LOOPS_MOST], reduction[OP_LOOPS_MOST];
};

struct distribution {
	int64_t splits[OP_LOOPS_MOST];
	int64_t cores;    /* their product */
	uint32_t dropped; /* loops whose least split no longer fitted on the cores */
};

/* The largest divisor of `size` that is at most `cores`; `cores` when size is 0. */
int64_t core_split(int64_t size, int64_t cores);

/* The loops with least[l] == 1 in the order in which they get cores. */
struct priorities priorities_make(
	int loop_count, const int64_t *size, uint32_t output_loops, const int64_t *least);

struct distribution distribute(int loop_count, const int64_t *size, uint32_t output_loops,
	const int64_t *least, int64_t cores);

#endif
