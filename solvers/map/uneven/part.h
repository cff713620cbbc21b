#ifndef MAP_UNEVEN_PART_H
#define MAP_UNEVEN_PART_H

#include "solvers/map/exact/view.h"

/*
 * A part of the mappings of an outer branch whose factors need not divide: the temporal loops of
 * the levels above one are chosen, from the outermost storage level inwards.
 *
 * All loops inside the outermost one with a bound above 1 make up a product P, and that one
 * has ceil(extent / P) iterations.  So a part of a mapping is known by `rest`, the product of the
 * temporal loops inside a storage level: as long as no loop outside has a bound above 1 a
 * dimension is open, and any rest will do; afterwards rests divide one another.
 *
 * Which rests can a level leave?  All divisors of what is left to it; for an open dimension
 * whatever makes the extent up.  All of those that have the same number of rounds outside count:
 * the smallest is mostly the best, but a larger one leaves a shorter last round, in which a tile
 * may stay where it is.
 *
 * Storage levels are numbered from 0, the innermost; level `count` stands for whatever fans out
 * around them all.
 */
struct uneven_part {
	int level; /* those above are chosen, `level` as far as its rests lie between two */
	int64_t rest[ARCH_LEVELS_MOST + 1][SHAPE_DIMENSIONS_MOST];
	int64_t bound[ARCH_LEVELS_MOST + 1][SHAPE_DIMENSIONS_MOST];
	const uint8_t *order[ARCH_LEVELS_MOST + 1]; /* innermost first */
	uint32_t open[ARCH_LEVELS_MOST + 1];        /* dimensions without a loop down to here */
	int first; /* of `level`: the dimension of the innermost loop above 1; -1: no such loop */
	int64_t least[SHAPE_DIMENSIONS_MOST], most[SHAPE_DIMENSIONS_MOST];
};

/* Whether no level above part->level has a loop of dimension d above 1, nor has what fans out
 * between. */
bool uneven_is_open(const struct nest_view *view, const struct uneven_part *part, int d);

/* The rest that leaves a level, and the spatial loops between it and the next one inwards, nothing
 * to do: of an open dimension it stands for all that do so. */
int64_t uneven_cover(const struct nest_view *view, int j, int d);

/* Moves *least up and *most down to rests that part->level can leave; false if there is none between
 * them.  `first` as in the part: -1 asks for bounds of 1, and a dimension's own number for more. */
bool uneven_clip(const struct nest_view *view, const struct uneven_part *part, int d, int first,
	int64_t *least, int64_t *most);

/* The bounds that part->least leaves to part->level, whose rests they become; what is open inside. */
void uneven_choose(const struct nest_view *view, struct uneven_part *part);

#endif
