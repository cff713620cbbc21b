#ifndef COST_WALK_H
#define COST_WALK_H

#include "cost/graph/footprint.h"

/*
 * The enumerating half of footprint.h: the joint dimensions of an operand, by
 * visiting every chunk of the loops that walk them.
 */
struct walk_interval {
	int64_t first, count;
};

/* The interval of a dimension in the tile whose loops have the chunk numbers given. */
struct walk_interval walk_interval(
	const struct loopnest *nest, const struct footprint_dim *dim, const int64_t *chunks);

/* Tiles [from, to) of a loop. */
struct walk_range {
	int64_t from, to;
};

/* The joint part of footprint_sum, and its largest box. */
int64_t walk_sum(
	const struct footprint *footprint, const int64_t *slots, int64_t *largest, bool *fits);

/*
 * The joint part of a fetch in the tiles of `ranges`: the boxes of all slots,
 * or, when `moved` is not 0, of those slots whose box differs from the tile
 * before, in which the loops of `moved` stood one tile earlier (or at their
 * last, where they stand at the first now).
 */
struct footprint_fetch walk_fetch(const struct footprint *footprint,
	const struct walk_range *ranges, uint32_t moved, const int64_t *slots, bool *fits);

/* Joint boxes without holes or ragged ends, so that cutting them saves nothing. */
bool walk_solid(const struct footprint *footprint);

#endif
