#ifndef MAP_UNEVEN_VIEW_H
#define MAP_UNEVEN_VIEW_H

#include "solvers/map/exact/frame.h"

/*
 * Mappings whose factors need not divide, as the exact search takes them apart: what is kept
 * and all spatial bounds first, then the temporal loops from the outermost storage level inwards.
 *
 * All loops inside the outermost one with a bound above 1 make up a product P, and that one
 * has ceil(extent / P) iterations.  So a part of a mapping is known by `rest`, the product of the
 * temporal loops inside a storage level: as long as no loop outside has a bound above 1 a
 * dimension is open, and any rest will do; afterwards rests divide one another.
 *
 * Storage levels are numbered from 0, the innermost; level `count` stands for whatever fans out
 * around them all.
 */
struct uneven_view {
	const struct nest_frame *frame;
	struct mapping mapping;                    /* residency and spatial bounds set */
	double cycles;                             /* of compute, at least */
	double instances[ARCH_LEVELS_MOST];        /* at most */
	double pj[ARCH_LEVELS_MOST][NEST_ACTIONS]; /* per word, at least */
	double utilized[ARCH_LEVELS_MOST];         /* at least; by level of the hierarchy */
	bool direct;                               /* multipliers keep nothing from step to step */
	int64_t inside[ARCH_LEVELS_MOST + 1][SHAPE_DIMENSIONS_MOST]; /* bounds of spatial loops */
	/* The largest bound of a spatial loop outside: so many of them have work. */
	double apart[ARCH_LEVELS_MOST + 1][SHAPE_DIMENSIONS_MOST];
	/* Of the spatial loops between a level and the next storage level inwards the outermost
	 * one with a bound above 1, and the product of those inside it; 1 without one. */
	int64_t edge[ARCH_LEVELS_MOST + 1][SHAPE_DIMENSIONS_MOST];
	int64_t within_edge[ARCH_LEVELS_MOST + 1][SHAPE_DIMENSIONS_MOST];
	bool sums_apart
		[SHAPE_SPACES_MOST]; /* exact counting: sums end in several instances of the home */
	int chain_count[SHAPE_SPACES_MOST];
	int chain[SHAPE_SPACES_MOST][ARCH_LEVELS_MOST]; /* levels that keep it, outermost first */
};

void uneven_view_make(
	const struct nest_frame *frame, const struct mapping *mapping, struct uneven_view *out);

/* Whether the tiles of what a level keeps fit with `rest` in it: the product of its temporal
 * loops and of those inside.  Homes may hold more. */
bool uneven_view_fits(const struct uneven_view *view, int j, const int64_t *rest);

/* The levels above `level` are chosen, `level` itself as far as its rests lie between two. */
struct uneven_part {
	int level;
	int64_t rest[ARCH_LEVELS_MOST + 1][SHAPE_DIMENSIONS_MOST];
	int64_t bound[ARCH_LEVELS_MOST + 1][SHAPE_DIMENSIONS_MOST];
	const uint8_t *order[ARCH_LEVELS_MOST + 1]; /* innermost first */
	uint32_t open[ARCH_LEVELS_MOST + 1];        /* dimensions without a loop down to here */
	int first; /* of `level`: the dimension of the innermost loop above 1; -1: no such loop */
	int64_t least[SHAPE_DIMENSIONS_MOST], most[SHAPE_DIMENSIONS_MOST];
};

/* Whether no level above part->level has a loop of dimension d above 1, nor has what fans out
 * between. */
bool uneven_is_open(const struct uneven_view *view, const struct uneven_part *part, int d);

/* The rest that leaves a level, and the spatial loops between it and the next one inwards, nothing to do: of an
 * open dimension it stands for all that do so. */
int64_t uneven_cover(const struct uneven_view *view, int j, int d);

/*
 * No mapping with these choices costs less.  The words of a dataspace whose ranks have one
 * dimension each enter a level at least once for every round of the other dimensions outside its
 * innermost loop, a round being a share of the extent, not a whole number; but for the
 * last rounds of a dimension of its own: where one has a single iteration of the loop that moves the
 * tile, what it touches may stay.
 */
struct score uneven_view_bound(const struct uneven_view *view, const struct uneven_part *part);

/* The same of the spatial bounds alone: each dataspace where it costs least, as far as the space
 * leaves that free. */
struct score uneven_view_bound_anywhere(struct uneven_view *view);

/* Where the mapping's residency says that the dataspace is kept. */
void uneven_view_keep(struct uneven_view *view, int t);

#endif
