#ifndef COST_NEST_PASSAGE_H
#define COST_NEST_PASSAGE_H

#include "cost/nest/nest_loops.h"

/* One dataspace on its way into one level: what the parts of exact counting ask about. */
struct nest_passage {
	const struct nest_model *model;
	const struct nest_loops *loops;
	int space;
	int child; /* level that it enters; -1: the multipliers */
	int pace;  /* innermost loop whose iterations are move steps; loops->count: none */
	/* Turn false where a number does not fit, and where counting takes too long. */
	bool *fits, *countable;
};

#endif
