#ifndef MAP_EXACT_PRICES_H
#define MAP_EXACT_PRICES_H

#include "solvers/map/exact/view.h"

/*
 * Prices of plain dataspaces (view.h), of operands and of sums.
 *
 * Flags (specs/counting.md), in exact counting: where children of a block share nothing (spatial
 * no_reuse) each of them takes its words and sends its sums; levels that words only pass (no_coalesce)
 * count them; a level that keeps nothing from one iteration to the next (temporal no_reuse) is entered
 * at every iteration of all loops outside, so that its X is their product, W x all irrelevant ones.
 */
void nest_view_price_plain(struct nest_view *view, int space);

/*
 * Prices of windows: of a word that enters one instance of a level, with and without links to
 * neighbours.  What children share is at least what distinct places they take their words from:
 * in Timeloop's counting, block by block, no fewer than along one dimension of a rank; exactly, as many
 * as a sum of sets has at least, |A + B| >= |A| + |B| - 1.
 */
void nest_view_price_window(struct nest_view *view, int space);

#endif
