#ifndef MAP_UNEVEN_ARRAY_H
#define MAP_UNEVEN_ARRAY_H

#include "solvers/map/uneven/view.h"

/*
 * Cycles that a systolic array adds at least (cost/nest/nest_array.h), whatever the temporal loops are:
 * PEs hold no more than fits, so that tiles of a dataspace move as often as all of its words need,
 * and every word is loaded once; what they do not hold comes at its rate.
 */
double uneven_array(const struct uneven_view *view);

#endif
