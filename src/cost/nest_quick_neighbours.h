#ifndef COST_NEST_QUICK_NEIGHBOURS_H
#define COST_NEST_QUICK_NEIGHBOURS_H

#include "cost/nest_quick_windows.h"

/*
 * Children that take the same words: at the same time, as groups, or one after another, over
 * links between neighbours.  One dataspace at a time, some of whose ranks add dimensions.
 */

/* Whether children of block i, of such a window, may hand words on to their neighbours in a way
 * that counts: the long way finds out. */
bool quick_may_hand_on(const struct quick_state *state, int t, int i, bool exact,
	const struct quick_window *window);

/*
 * Exactly, what a level serves to the groups below it, given what it would serve if no two children
 * of the blocks `from` to `to` took the same words but those that differ in no relevant dimension.
 * False where the loops of one dimension in several blocks leave gaps.
 */
bool quick_merge_groups(const struct quick_state *state, const struct nest_shape_of *space,
	int from, int to, double *served);

#endif
