#ifndef MAP_UNEVEN_BOUND_H
#define MAP_UNEVEN_BOUND_H

#include "solvers/map/uneven/part.h"

/*
 * No mapping with these choices costs less.  The words of a dataspace whose ranks have one
 * dimension each enter a level at least once for every round of the other dimensions outside its
 * innermost loop, a round being a share of the extent, not a whole number; but for the
 * last rounds of a dimension of its own: where one has a single iteration of the loop that moves the
 * tile, what it touches may stay.
 *
 * A systolic array adds cycles (cost/nest/nest_array.h), whatever the temporal loops are: PEs hold
 * no more than fits, so that tiles of a dataspace move as often as all of its words need, and every
 * word is loaded once; what they do not hold comes at its rate.
 */
struct score uneven_bound(const struct nest_view *view, const struct uneven_part *part);

/* The same of the spatial bounds alone: each dataspace where it costs least, as far as the space
 * leaves that free. */
struct score uneven_bound_anywhere(struct nest_view *view);

#endif
