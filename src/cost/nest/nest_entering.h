#ifndef COST_NEST_ENTERING_H
#define COST_NEST_ENTERING_H

#include "model/nest/shape.h"

/*
 * What enters where a tile moves: the new box less the old one, a box with perhaps a
 * smaller one missing.  Equal sets have equal fields: where what is left is a box
 * again, it is said as one without a hole.
 */
struct nest_entering {
	bool any, hole;
	int64_t low[SHAPE_RANKS_MOST], width[SHAPE_RANKS_MOST];
	int64_t hole_low[SHAPE_RANKS_MOST], hole_width[SHAPE_RANKS_MOST];
};

struct tile_box {
	int64_t low[SHAPE_RANKS_MOST], width[SHAPE_RANKS_MOST];
};

/* *old may be NULL: nothing is held. */
struct nest_entering nest_entering_of(
	int ranks, const struct tile_box *tile, const struct tile_box *old);

int64_t nest_entering_words(int ranks, const struct nest_entering *entering, bool *fits);

bool nest_entering_equal(int ranks, const struct nest_entering *a, const struct nest_entering *b);

/* How far b is from a, a set of the same form; false if it is none, or one is empty. */
bool nest_entering_shift(
	int ranks, const struct nest_entering *a, const struct nest_entering *b, int64_t *shift);

/* The same set further on. */
void nest_entering_move(int ranks, struct nest_entering *entering, const int64_t *by, int sign);

#endif
