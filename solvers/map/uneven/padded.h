#ifndef MAP_UNEVEN_PADDED_H
#define MAP_UNEVEN_PADDED_H

#include "search/nest/nest_search.h"

/*
 * Good mappings to begin with.  The extents are padded to the next ones with small prime factors;
 * the search over perfect factors maps the padded problem, and its loops are cut back to the real
 * extents (map_moves_adopt), which does no work more.  Annealing goes on from the best mapping.
 * `ticks` is what all of it may cost; no mapping is below `bound`, of the first objective, which is
 * reported beside what is found.
 */
void uneven_padded(struct run *run, const struct nest_search *search, struct nest_offers *offers,
	uint64_t ticks, double bound);

/* The first extent from this one on without a prime factor above 7. */
int64_t uneven_padded_extent(int64_t extent);

#endif
