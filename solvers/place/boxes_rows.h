#ifndef PLACE_BOXES_ROWS_H
#define PLACE_BOXES_ROWS_H

#include "solvers/place/items.h"

/*
 * Items whose sizes differ by less than the factor `ratio` (> 1) share a class.  A class has as many
 * rows as it has items that live at once, each as high as its largest; every item gets a row
 * that is free for its life.  The rows are stacked, the largest class below.  keys[item] is
 * the higher, the lower its row lies; that of a reserved range means nothing.  Time: n log n.
 */
struct arena;
void boxes_rows(const struct items *items, double ratio, double *keys, struct arena *arena);

#endif
