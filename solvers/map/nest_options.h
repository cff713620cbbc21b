#ifndef MAP_NEST_OPTIONS_H
#define MAP_NEST_OPTIONS_H

#include "search/nest/completions.h"
#include "solvers/map/nest_frame.h"

/*
 * Temporal bounds that a level may have, dimension by dimension, given what all levels up
 * to it must make together: those of the domain that divide it and leave something that
 * the levels inside can make.  What is left is named by its place among the divisors of
 * the extent.
 */
struct nest_option {
	int64_t bound;
	int64_t rest; /* for the levels inside */
	int at;       /* its place among the divisors */
};

struct nest_option_list {
	int count;
	const struct nest_option *at; /* bounds ascending */
};

struct nest_options {
	const struct completions *completions;
	const struct nest_option_list *lists[ARCH_LEVELS_MOST][SHAPE_DIMENSIONS_MOST];
};

struct nest_options *nest_options_make(struct arena *arena, const struct nest_frame *frame);

/* The place of a divisor. */
int nest_options_place(const struct nest_options *options, int dimension, int64_t divisor);

#endif
