#ifndef UNEVEN_SEARCH_H
#define UNEVEN_SEARCH_H

#include "search/drive/solver.h"
#include "search/nest/nest_search.h"

/*
 * Good mappings to begin with.  The extents are padded to the next ones with small prime factors;
 * the search over perfect factors maps the padded problem, and its loops are cut back to the real
 * extents (map_moves_adopt), which adds no work.  Annealing goes on from the best mapping.
 * `ticks` is what all of it may cost; no mapping is below `bound`, of the first objective, which is
 * reported beside what is found.
 */
void uneven_padded(struct run *run, const struct nest_search *search, struct nest_offers *offers,
	uint64_t ticks, double bound);

/* The first extent from this one on without a prime factor above 7. */
int64_t uneven_padded_extent(int64_t extent);

/*
 * The exact search if some factors need not divide.  It branches on all that is not known to be worse, best bound
 * first: spatial bounds and residency, ranges of what a level's loops leave, halved until each is one value, the
 * orders of these loops, and so inwards.  It proves the optimum when nothing is left; cut short, it leaves the
 * least bound of what is.  It records no cells, because ranges that were halved as bounds allowed are not a
 * partition that a plain search could walk again.  So it leaves no certificate (certificate_covers), as `check
 * --certificate` reports.
 *
 * When that takes long it looks for good mappings in other ways now and then (uneven_padded).
 */
void uneven_run(struct run *run, const struct problem *problem);

#endif
