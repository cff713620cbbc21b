#ifndef MAP_EXACT_FLOOR_H
#define MAP_EXACT_FLOOR_H

#include "solvers/map/exact/label.h"
#include "solvers/map/exact/tiles.h"

/*
 * What plain dataspaces cost at least, given who keeps them and the spatial loops, because tiles
 * must fit where they are kept: small tiles are fetched often.
 *
 * Let tiles of level j leave n_d temporal iterations of dimension d outside, and let c be the
 * dimension of the innermost loop there that has a bound above 1.  A dataspace that c is
 * relevant to is fetched anew by every loop outside that is irrelevant to it: X = W x the
 * product of their n_d.  Any other crosses once at least.  Both fall as tiles grow, and every
 * tile that fits lies within one of the largest (tiles.h).  So the least over c and those
 * is a bound of what enters level j, meter by meter; levels are added up.
 *
 * Sums that sag are apart: what they cost at one level depends on those further inwards.
 */
struct nest_floors;

/* For the spatial loops of a view, which must live as long; of plain dataspaces only. */
struct nest_floors *nest_floors_open(struct arena *arena, const struct level_factors *options,
	struct nest_shelf *shelf, const struct nest_view *view);

/* Adds what all dataspaces cost with the residency that the view has now.  Tiles come from the
 * arena.  False if some level cannot hold what it keeps. */
bool nest_floors_add(struct nest_floors *floors, struct arena *tiles, struct nest_sums *sums);

#endif
