#ifndef COST_NEST_DERIVE_H
#define COST_NEST_DERIVE_H

#include "cost/nest_model.h"

/*
 * Time and energy of counts.  `exact`: cycles in exact rationals; `timeloop`:
 * in floating point, in Timeloop's order of operations, so that its ceilings of
 * sums that are a whole number but for rounding come out as its own.  NEST_FITS or NEST_OVERFLOW
 * (cycles beyond an int64_t); all of *score but the verdict and where it applies.
 */
enum nest_verdict nest_derive_counting(const struct nest_model *model, enum counting counting,
	const struct nest_counts *counts, struct nest_score *score);

/* The same, but for the energy of accesses: space_pj is there. */
enum nest_verdict nest_derive_rest(const struct nest_model *model, enum counting counting,
	const struct nest_counts *counts, struct nest_score *score);

#endif
