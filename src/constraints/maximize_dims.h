#ifndef CONSTRAINTS_MAXIMIZE_DIMS_H
#define CONSTRAINTS_MAXIMIZE_DIMS_H

#include "model/nest/shape.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * maximize_dims of the loop-nest rules: the bounds of some loops that make the
 * most of a capacity.  Step by step a prime factor of one dimension that still
 * fits, or, for a dimension larger than what is left of the capacity,
 * ceil(v / ceil(v / capacity)), often imperfect, which ends it.  The objective is
 * the product of the bounds, an imperfect one taken at its mean number of
 * iterations; the first of equal answers wins: earlier dimensions first, the
 * last kind of step before primes, smaller primes first.
 *
 * Timeloop's front end underestimates such a bound if it divides, and so
 * returns 8 where 6 does as much: 12 on a capacity of 8.
 */
struct greedy {
	int count;
	int64_t sizes[SHAPE_DIMENSIONS_MOST];  /* what is left of each dimension; at least 1 */
	int64_t bounds[SHAPE_DIMENSIONS_MOST]; /* the answer */
};

/* False if there are too many ways to try. */
bool greedy_maximize(struct greedy *greedy, int64_t capacity);

#endif
