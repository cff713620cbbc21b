#ifndef SUPPORT_PLACE_INSTANCES_H
#define SUPPORT_PLACE_INSTANCES_H

#include "base/random.h"
#include "model/packing/buffer.h"

/*
 * Drawn packings.  Everything lives in the arena; equal streams of random numbers
 * draw equal packings.
 */
struct arena;

/*
 * A perfect packing: a box of time x addresses is cut into `count` rectangles, each a buffer,
 * shuffled.  A cut halves a rectangle (guillotine), or makes five of it that no straight cut
 * parts, four around one.  Afterwards some buffers are taken out.  The packing's capacity is
 * the box's height, its alignment the grain, of which all sizes are multiples.
 */
struct perfect_options {
	size_t count;          /* rectangles, >= 1; this many only if the box has room for them */
	int64_t steps, height; /* of the box; the height in grains */
	int64_t grain;         /* bytes, > 0 */
	int wheels;            /* cuts into five, percent of all cuts */
	int removed;           /* buffers taken out afterwards, per thousand */
};
struct perfect {
	struct packing packing;
	const int64_t *addresses; /* by buffer: where it was cut, so that all fit */
};
struct perfect perfect_draw(
	struct arena *arena, struct random *random, const struct perfect_options *options);

/* Number `number` of a fixed family: 100 to 600 buffers in a height of 1048576 bytes, of all kinds
 * of cuts, none to 5 % removed.  Equal seeds and numbers are equal packings. */
struct perfect perfect_numbered(struct arena *arena, uint64_t seed, uint64_t number);

/*
 * A small packing whose capacity is about its load: some fit by a hair, some do not.  What the
 * options allow is in about half of the draws.
 */
struct tight_options {
	size_t least, most; /* buffers */
	bool in_place;      /* children, some of which must take over */
	bool alignment;     /* per buffer */
	bool fixed;         /* addresses, and reserved ranges */
};
struct packing tight_draw(
	struct arena *arena, struct random *random, const struct tight_options *options);

#endif
