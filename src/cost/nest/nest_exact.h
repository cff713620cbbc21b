#ifndef COST_NEST_EXACT_H
#define COST_NEST_EXACT_H

#include "cost/nest/nest_loops.h"

/*
 * Exact counts of a compiled nest, perfect or not, as specs/counting.md defines
 * them: NEST_FITS with all of *counts filled in, for dataspaces of `spaces`, but the
 * capacities, which the caller has; else NEST_OVERFLOW or NEST_UNCOUNTABLE, with the dataspace in
 * score->space.
 */
enum nest_verdict nest_exact_counts(const struct nest_model *model, const struct nest_loops *loops,
	uint32_t spaces, struct nest_counts *counts, struct nest_score *score);

#endif
