#ifndef DIVIDE_PADDING_H
#define DIVIDE_PADDING_H

#include "model/graph/iteration.h"

/*
 * The smallest padding of one loop that brings the span of an operand under
 * the limit: the least larger size with a divisor that is large enough.  769
 * sticks are prime and cannot be shared at all; 770 can be, 2, 5, 7, ... ways.
 */
struct span_padding {
	int loop;       /* the loop that makes the span, padded or not; -1: none does */
	int64_t extent; /* elements after padding; 0: no padding of it helps */
	int64_t size;   /* the same, in sticks of a stick loop */
	int64_t split;  /* the division that it allows */
};

/* `least`: the division that the other loops need anyway. */
struct span_padding padding_find(struct arena *arena, const struct iteration *iteration,
	int operand, const int64_t *least, int64_t limit, int64_t cores);

#endif
