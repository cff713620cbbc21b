#ifndef COST_NEST_QUICK_WINDOWS_H
#define COST_NEST_QUICK_WINDOWS_H

#include "cost/nest_lanes.h"

/*
 * The part of the quick count (nest_quick.h) that takes care of dataspaces whose ranks
 * add dimensions: boxes, what windows keep from one move to the next, and when a closer
 * look is needed.  One dataspace at a time.
 */
enum { LOOPS_MOST = 2 * ARCH_LEVELS_MOST * SHAPE_DIMENSIONS_MOST };

/* All loops, outermost first; those of one level and the block below it stand together.  Only
 * dataspaces whose ranks add dimensions ask for them. */
struct quick_loops {
	int count;
	int first[ARCH_LEVELS_MOST]; /* first[i]: of level i; its inner end is first[i - 1] */
	double bound[LOOPS_MOST];
	double outside[LOOPS_MOST]; /* product of the temporal bounds outside */
	uint8_t dimension[LOOPS_MOST];
	bool spatial[LOOPS_MOST];
};

/* Whole numbers, below 2^51 where the bounds make the extents (nest_model.c sees to that); no
 * product of other bounds comes back to an extent by rounding. */
struct quick_state {
	struct quick_loops loops;
	double inside[SHAPE_DIMENSIONS_MOST];  /* indices of a tile, while going outwards */
	double outside[SHAPE_DIMENSIONS_MOST]; /* product of all bounds, while going inwards */
	double steps;
	double instances[ARCH_LEVELS_MOST], multipliers;
	uint32_t block[ARCH_LEVELS_MOST]; /* dimensions of the block below */
	double fan[ARCH_LEVELS_MOST];
	lanes tiles[ARCH_LEVELS_MOST][LANE_GROUPS_MOST]; /* W(i), of plain dataspaces */
	/* Words that come without a sum: timeloop: all of it / G of the blocks outside, in each
	 * instance; exact: E(i), in all. */
	lanes parts[ARCH_LEVELS_MOST][LANE_GROUPS_MOST];
	lanes runs[ARCH_LEVELS_MOST][LANE_GROUPS_MOST];   /* m(i) */
	lanes groups[ARCH_LEVELS_MOST][LANE_GROUPS_MOST]; /* G(i) */
	uint32_t residency[SHAPE_SPACES_MOST];
};

/* The extents of a dataspace's box by rank, given the indices inside; their product. */
double nest_quick_box(const struct nest_shape_of *space, const double *inside, double *extents);

/* Words that a child of the parent of level i takes, `words` being its tile of `extents`: as
 * Timeloop counts, and exactly.  `run`: its move steps. */
double nest_quick_taken(const struct nest_shape_of *space, const struct quick_state *state, int i,
	double words, const double *extents, double run);
double nest_quick_entered(const struct nest_shape_of *space, const struct quick_state *state, int i,
	double words, const double *extents, double run);

/* Whether the long way must count dataspace t, for the sake of block i (Timeloop's counting);
 * the dataspaces that it must count (exact). */
bool nest_quick_needs_a_look(const struct nest_model *model, const struct mapping *mapping,
	const struct nest_shape_of *space, const struct quick_state *state, int i, int t);
uint32_t nest_quick_left_exactly(
	const struct nest_model *model, const struct quick_state *state, int space_count);

#endif
