#ifndef MAP_ILP_COSTS_H
#define MAP_ILP_COSTS_H

#include "solvers/map/ilp/compact.h"

/* The exponentials of a compact program, whose bounds and orders are there: its objective,
 * the cycles that ports take, and what levels hold. */
void ilp_costs_add(struct ilp_compact *compact, const struct ilp_cuts *cuts);

#endif
