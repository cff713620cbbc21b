#ifndef MAP_EXACT_WINDOWS_H
#define MAP_EXACT_WINDOWS_H

#include "solvers/map/exact/view.h"

/*
 * Prices of windows: of a word that enters one instance of a level, with and without links to
 * neighbours.  What children share is at least what distinct places they take their words from:
 * in Timeloop's counting, block by block, no fewer than along one dimension of a rank; exactly, as many
 * as a sum of sets has at least, |A + B| >= |A| + |B| - 1.
 */
void nest_view_price_window(struct nest_view *view, int space);

#endif
