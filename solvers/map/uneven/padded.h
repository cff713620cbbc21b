#ifndef MAP_UNEVEN_PADDED_H
#define MAP_UNEVEN_PADDED_H

#include "search/nest/nest_offers.h"

/*
 * Good mappings to begin with.  The extents are padded to the next ones with small prime factors;
 * the search over perfect factors maps the padded problem, and its loops are cut back to the real
 * extents (nest_moves_adopt), which does no work more.  From the best of these, and from the search's own start,
 * other solvers go on step by step.  `ticks` is what all of it may cost; no mapping is below `bound`,
 * of the first objective, which is reported beside what is found.
 */
void uneven_padded(struct run *run, const struct nest_search *search, struct nest_offers *offers,
	uint64_t ticks, double bound);

/* Up to `most` extents from `extent` on without a prime factor above 7. */
int uneven_padded_extents(int64_t extent, int most, int64_t *out);

#endif
