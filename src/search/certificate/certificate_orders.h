#ifndef SEARCH_CERTIFICATE_ORDERS_H
#define SEARCH_CERTIFICATE_ORDERS_H

#include "search/certificate/certificate_floor.h"

/*
 * Orders of one level's temporal loops of which no two are known to count alike.
 *
 * Take the innermost loop of the level over a dimension that a dataspace has a rank of alone.
 * Its iterations see disjoint tiles, at every level inside, whatever the loops further out do.
 * So the counts of the dataspace are those of one iteration, times the product of all loops from
 * there outwards, in any order of these.  Further inwards, loops over dimensions that it does not
 * have leave its tiles as they are: next to each other they may be exchanged.  Two orders are
 * equal if for every dataspace the loops inside are the same in that sense.  With flags every
 * order is its own.
 */
struct orders {
	size_t count;
	uint64_t *at;       /* numbers of the space's arrangements of the level */
	uint8_t *innermost; /* of its loops with bounds above 1; 0 without any */
};

/* For the loops with bounds above 1 of storage level j in the mapping; nothing depends on the
 * bounds otherwise. */
struct orders orders_find(
	struct arena *arena, const struct floor_frame *frame, int j, const struct mapping *mapping);

#endif
