#ifndef MAP_EXACT_TILES_H
#define MAP_EXACT_TILES_H

#include "solvers/map/exact/level_factors.h"

/*
 * The largest tiles of some dataspaces that a level can hold together: extents, divisors
 * dimension by dimension, of which none can be the next larger divisor.  Whatever the level
 * holds has no extent above that of one of them.  Dimensions that move none of
 * the dataspaces have all of their extent.
 */
struct nest_tiles {
	bool known;         /* false: they were too many */
	size_t count;       /* 0: not even single words fit */
	const uint16_t *at; /* places among the divisors: [tile * dimensions + dimension] */
};

/* Tiles are found when first asked for, by any thread. */
struct nest_shelf;
struct nest_shelf *nest_shelf_make(
	struct arena *arena, const struct nest_frame *frame, const struct level_factors *options);

/* For the dataspaces in `kept`, at storage level j.  What is found comes from the arena, which must
 * live as long as the shelf. */
const struct nest_tiles *nest_shelf_find(
	struct nest_shelf *shelf, struct arena *arena, int j, uint32_t kept);

/* For a dimension's extent. */
const struct divisors *nest_shelf_divisors(const struct nest_shelf *shelf, int dimension);

/* The place of the largest divisor that is no larger than that at `place` and divides that at
 * `whole`. */
int nest_shelf_part(const struct nest_shelf *shelf, int dimension, int place, int whole);

#endif
