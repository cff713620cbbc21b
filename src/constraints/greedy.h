#ifndef CONSTRAINTS_GREEDY_H
#define CONSTRAINTS_GREEDY_H

#include "model/shape.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * maximize_dims of the loop-nest rules: the bounds of some loops that make the
 * most of a capacity.  Step by step a prime factor of one dimension that still
 * fits, or, for a dimension larger than what is left of the capacity, the
 * imperfect bound ceil(v / ceil(v / capacity)), which ends it.  What counts is
 * the product of the bounds, an imperfect one taken at its mean number of
 * iterations; of equal ones the first found wins: earlier dimensions first,
 * smaller primes first.
 */
struct greedy {
	int count;
	int64_t sizes[SHAPE_DIMENSIONS_MOST];  /* what is left of each dimension; at least 1 */
	int64_t bounds[SHAPE_DIMENSIONS_MOST]; /* the answer */
};

/* False if there are too many ways to try. */
bool greedy_maximize(struct greedy *greedy, int64_t capacity);

#endif
