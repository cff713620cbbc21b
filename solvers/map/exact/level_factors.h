#ifndef MAP_EXACT_LEVEL_FACTORS_H
#define MAP_EXACT_LEVEL_FACTORS_H

#include "search/nest/completions.h"
#include "solvers/map/exact/frame.h"

/*
 * Temporal bounds that a level may have, dimension by dimension, given what all levels up
 * to it must make together: those of the domain that divide it and leave something that
 * the levels inside can make.  What is left is named by its place among the divisors of
 * the extent.
 */
struct level_factor {
	int64_t bound;
	int64_t rest; /* for the levels inside */
	int at;       /* its place among the divisors */
};

struct level_factor_list {
	int count;
	const struct level_factor *at; /* bounds ascending */
};

struct level_factors {
	const struct completions *completions;
	const struct level_factor_list *lists[ARCH_LEVELS_MOST][SHAPE_DIMENSIONS_MOST];
};

struct level_factors *level_factors_make(struct arena *arena, const struct nest_frame *frame);

/* The place of a divisor. */
int level_factors_place(const struct level_factors *options, int dimension, int64_t divisor);

#endif
