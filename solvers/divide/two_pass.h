#ifndef DIVIDE_TWO_PASS_H
#define DIVIDE_TWO_PASS_H

#include "solvers/divide/coefficients.h"
#include "solvers/divide/distribute.h"
#include "solvers/divide/span.h"

/*
 * The published division of one op: the least division for the span, then
 * K-fast or the distribution of all cores, each stored by coefficients (and so
 * sometimes losing a split) before the next reads it.
 */
struct stored_splits {
	bool stored; /* false: all were 1, nothing was written */
	struct keyed_splits keyed;
	int64_t splits[OP_LOOPS_MOST]; /* as read back */
};

struct two_pass {
	struct span_search search;
	bool refused; /* two reduction loops would have to be divided: nothing below is set */
	struct stored_splits least;
	bool k_fast;
	int64_t given[OP_LOOPS_MOST]; /* the division before it was stored */
	uint32_t dropped;             /* least splits that did not fit on the cores */
	struct stored_splits final;
	uint32_t overlong; /* bit i: the span of operand i is above the limit in the end */
};

struct two_pass two_pass_divide(struct arena *arena, const struct iteration *iteration,
	int64_t limit, int64_t cores, bool k_fast);

#endif
