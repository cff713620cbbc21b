#ifndef COST_NEST_QUICK_NEIGHBOURS_H
#define COST_NEST_QUICK_NEIGHBOURS_H

#include "cost/nest/nest_quick_windows.h"

/*
 * Children that take the same words: at the same time, as groups, or one after another, over
 * links between neighbours.  One dataspace at a time, some of whose ranks add dimensions.
 */

/* Whether children of block i may hand words on to their neighbours in a way that counts: the long
 * way finds out.  `window`: of level i - 1, moved by the innermost temporal loop around it; else
 * neighbours hand on nothing. */
bool quick_may_hand_on(const struct quick_state *state, int t, int i, bool exact,
	const struct quick_window *window);

/*
 * Exactly, puts the groups that the children of blocks `from` to `to` make together in the place
 * of those of each block: where two dimensions of a rank are spread, children take the same words
 * where their offsets add up to the same.  False where the loops of one dimension in several
 * blocks leave gaps.
 */
bool quick_merge_groups(struct quick_state *state, int t, int from, int to);

#endif
