#ifndef COST_NEST_MODEL_H
#define COST_NEST_MODEL_H

#include "cost/nest.h"

/*
 * What does not depend on the mapping, found once.  Rows of a mapping are rows
 * of the architecture; the model lists those that the hierarchy's levels use,
 * innermost level first.
 */
struct nest_model {
	const struct hierarchy *hierarchy;
	const struct shape *shape;
	enum counting counting;
	bool fits;        /* the multiply-adds fit an int64_t */
	int64_t computes; /* multiply-adds */
};

#endif
