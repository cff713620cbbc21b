#ifndef SEARCH_CERTIFICATE_ARRAY_H
#define SEARCH_CERTIFICATE_ARRAY_H

#include "search/certificate/certificate_floor.h"

/*
 * Cycles that a systolic array adds at least to every mapping of a cell: its passes, loads and
 * rate as far as they follow from blocks with one axis.  loops and j as for floor_score.
 */
double floor_array(const struct floor_cell *cell, const struct floor_loops *loops, int j);

#endif
