#ifndef COST_CHECKED_H
#define COST_CHECKED_H

#include "base/number.h"

/*
 * Sums and products that remember whether everything fitted: `*fits` turns
 * false for good, and the results are worthless from then on.  The caller asks
 * once, at the end.
 */
static inline int64_t checked_mul(bool *fits, int64_t a, int64_t b)
{
	int64_t product = 0;
	if (!number_mul(a, b, &product))
		*fits = false;
	return product;
}

static inline int64_t checked_add(bool *fits, int64_t a, int64_t b)
{
	int64_t sum = 0;
	if (!number_add(a, b, &sum))
		*fits = false;
	return sum;
}

#endif
