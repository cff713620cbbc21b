#ifndef COST_NEST_DERIVE_H
#define COST_NEST_DERIVE_H

#include "cost/nest/nest_model.h"

/*
 * Time and energy of counts.  `exact`: cycles in exact rationals; `timeloop`:
 * in floating point, in Timeloop's order of operations, so that its ceilings of
 * sums that are a whole number but for rounding come out as its own.  NEST_FITS or NEST_OVERFLOW
 * (cycles beyond an int64_t); all of *score but the verdict and where it applies.
 */
enum nest_verdict nest_derive_counting(const struct nest_model *model, enum counting counting,
	const struct nest_counts *counts, struct nest_score *score);

/* The same, but for the energy of accesses: space_pj is there, and its sum in level_pj.  `waits`: bits of the levels whose
 * ports may be too slow. */
enum nest_verdict nest_derive_rest(const struct nest_model *model, enum counting counting,
	const struct nest_counts *counts, uint32_t waits, struct nest_score *score);

/* May the ports of a level be too slow for this many words, given cycles x instances?  No sum of
 * doubles errs by the margin left. */
static inline bool nest_may_wait(
	const struct level_price *price, double reads, double writes, double capacity)
{
	double most = capacity * (1 - 0x1p-40), both = reads + writes;
	return (reads > price->limit[0] * most) | (writes > price->limit[1] * most) |
	       (both > price->limit[2] * most);
}

#endif
