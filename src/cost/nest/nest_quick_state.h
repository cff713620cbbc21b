#ifndef COST_NEST_QUICK_STATE_H
#define COST_NEST_QUICK_STATE_H

#include "cost/nest/nest_lanes.h"

/*
 * What the parts of the quick count (nest_quick.h) tell each other about one mapping.  Numbers are
 * whole, below 2^51 where the bounds make the extents (nest_model.c sees to that); no product of
 * other bounds comes back to an extent by rounding.
 */
struct quick_state {
	const struct nest_model *model;
	const struct mapping *mapping;

	/* Found by quick_rows.  By level and dimension: bounds of the temporal loops, of the block
	 * below where it has any, and the indices that one iteration of the temporal loops covers. */
	double temporal[ARCH_LEVELS_MOST][SHAPE_DIMENSIONS_MOST];
	double spatial[ARCH_LEVELS_MOST][SHAPE_DIMENSIONS_MOST];
	double inside[ARCH_LEVELS_MOST][SHAPE_DIMENSIONS_MOST];
	/* Dimensions whose bound is not 1: in the temporal loops, in the block, in any block. */
	uint32_t looped[ARCH_LEVELS_MOST], spread[ARCH_LEVELS_MOST], spread_anywhere;
	double instances[ARCH_LEVELS_MOST], fan[ARCH_LEVELS_MOST], multipliers;

	/* Found on the way inwards. */
	double steps;
	/* For the four dataspaces at hand: */
	masks residency;
	lanes tiles[ARCH_LEVELS_MOST];  /* W(i) */
	lanes filled[ARCH_LEVELS_MOST]; /* words that an instance takes from its parent */
	/* Words that come without a sum: timeloop: all of it / G of the blocks outside, in each
	 * instance; exact: E(i), in all. */
	lanes parts[ARCH_LEVELS_MOST];
	lanes runs[ARCH_LEVELS_MOST];   /* m(i) */
	lanes groups[ARCH_LEVELS_MOST]; /* G(i), where the block has loops */

	/* Found on the way outwards, of all dataspaces so far: words of the tiles, words that pass
	 * the ports. */
	double held[ARCH_LEVELS_MOST], read[ARCH_LEVELS_MOST], written[ARCH_LEVELS_MOST];
};

/* Indices of a dimension in a tile of level i; -1: the multipliers. */
static inline double quick_indices(const struct quick_state *state, int i, int d)
{
	return i < 0 ? 1 : state->inside[i][d] * state->temporal[i][d];
}

/* Is dataspace t kept at level i? */
static inline bool quick_keeps(const struct quick_state *state, int i, int t)
{
	const struct level_price *price = &state->model->prices[i];
	return price->storage && state->mapping->residency[t] >> price->row & 1;
}

/* Has dataspace t a parent outside level i? */
static inline bool quick_enters(const struct quick_state *state, int i, int t)
{
	uint32_t outer = ((uint32_t)1 << state->model->prices[i].row) - 1;
	return state->mapping->residency[t] & state->model->storage_rows & outer;
}

/*
 * The rows of a mapping as the quick count works with them.  A mapping is long, and only this
 * reads its bounds.  False for bounds that do not make the extents, and for a fan-out that is too
 * small.
 */
bool quick_rows(struct quick_state *state);

/*
 * Corrects what the way inwards has found of a dataspace as if each of its ranks were one plain
 * dimension: its tiles, the words that fill them, the groups of blocks.  False where the long way
 * must count it: where neighbours may hand words on, and where the groups of children that take the
 * same are no product.  Its tiles are right in any case.
 */
bool quick_boxes(struct quick_state *state, int t, bool exact);

#endif
