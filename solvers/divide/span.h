#ifndef DIVIDE_SPAN_H
#define DIVIDE_SPAN_H

#include "model/graph/iteration.h"

/*
 * The first published pass: the least division that brings the span of every
 * operand under the limit of what a core can address.
 *
 * Operands are taken one after the other, reads first; of each the device
 * dimensions from the outermost inwards.  The loops of a dimension are divided
 * by divisors of their sizes, not below what earlier operands fixed; among all
 * combinations on at most `cores` cores the largest span within the limit wins
 * (fewest cores), else the smallest span above it.  What was chosen stays.  A
 * dimension of which a core still touches several elements ends an operand:
 * dividing dimensions inside it cannot shorten its span.
 */
struct span_search {
	int64_t splits[OP_LOOPS_MOST]; /* at least 1 */
	uint32_t considered;           /* loops that a choice was made for, 1 included */
	uint32_t reductions;           /* considered, and not in the output outside its stick */
	uint32_t unmet;                /* bit i: operand i is divided as far as it goes, in vain */
	uint64_t tried;                /* combinations */
};

/* More than one loop in `reductions` is beyond the machine: it can combine one. */
struct span_search span_search(
	struct arena *arena, const struct iteration *iteration, int64_t limit, int64_t cores);

#endif
