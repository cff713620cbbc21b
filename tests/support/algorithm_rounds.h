#ifndef SUPPORT_ALGORITHM_ROUNDS_H
#define SUPPORT_ALGORITHM_ROUNDS_H

#include <stdint.h>

/*
 * Rounds of the algorithms over a full topology with one port, in closed form.  With N ranks, C
 * chunks, q = ceil(log2 N):
 *
 *	flat            (N - 1) C
 *	chain           C + N - 2
 *	binomial        q C
 *	binary_tree     2 (C - 1) + h, h the longest way down where each left step is 1 and each
 *	                right one 2; C for two ranks
 *	round_optimal   C - 1 + q      (Johnsson and Ho 1989; Traff and Ripke 2008)
 *
 * -1 for another name.  One rank needs none.
 */
int64_t algorithm_rounds(const char *algorithm, int ranks, int64_t chunks);

#endif
