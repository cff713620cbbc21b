#ifndef COST_NEST_NEST_EXACT_H
#define COST_NEST_NEST_EXACT_H

#include "cost/nest/nest_home.h"

/*
 * Offsets of children from the first of them: each spatial loop adds its index x
 * stride x coefficient to the ranks of its dimension.
 */
enum { NEST_OFFSETS_MOST = 4096, NEST_SPATIAL_MOST = 64 };

struct nest_offsets {
	const struct dataspace *space;
	int loop_count;
	const struct nest_loop *loops[NEST_SPATIAL_MOST];
};

/* How many different offsets the loops make.  False where no formula is known and they are more
 * than NEST_OFFSETS_MOST; *fits turns false when a number does not fit. */
bool nest_offsets_count(const struct nest_offsets *offsets, bool *fits, int64_t *out);

/* The same, the first `chosen` loops having only the given indices: index[i * chosen + k] of
 * loop k. */
bool nest_offsets_count_chosen(const struct nest_offsets *offsets, int chosen, const int *index,
	int count, bool *fits, int64_t *out);

/*
 * Exact counts of a compiled nest, perfect or not, as specs/counting.md defines
 * them: NEST_FITS with all of *counts filled in, for dataspaces of `spaces`, but the
 * capacities, which the caller has; else NEST_OVERFLOW or NEST_UNCOUNTABLE, with the dataspace in
 * score->space.
 */
enum nest_verdict nest_exact_counts(const struct nest_model *model, const struct nest_loops *loops,
	uint32_t spaces, struct nest_counts *counts, struct nest_score *score);

#endif
