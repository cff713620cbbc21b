#ifndef COST_NEST_QUICK_BOXES_H
#define COST_NEST_QUICK_BOXES_H

#include "cost/nest_quick_state.h"

/*
 * What a dataspace has at a level that keeps it whose ranks add dimensions or have coefficients,
 * given what it would have if each were one plain dimension.  False where the long way must count
 * it: where neighbours may hand words on, and where the groups of children that take the same are no
 * product.
 */
struct quick_box {
	double tile;   /* words of an instance */
	double served; /* words that an instance serves to the block below */
	double filled; /* words that an instance takes from its parent; 0 without one */
};

bool quick_box_find(
	const struct quick_state *state, int i, int t, bool exact, struct quick_box *box);

/* As Timeloop counts, where level i passes the dataspace by: whether the block around it may be
 * left as it is. */
bool quick_box_passes(const struct quick_state *state, int i, int t);

/* Whether the long way must count it for the sake of the block around the multipliers, as
 * Timeloop counts. */
bool quick_multipliers_meet(const struct quick_state *state, int t);

#endif
