#ifndef MAP_EXACT_COST_H
#define MAP_EXACT_COST_H

#include "solvers/map/exact/view.h"

/* What the cost is at least: all meters, and what follows. */
struct nest_cost {
	struct nest_sums sums;
	double array_cycles; /* that a systolic array takes longer; set before the rest */
	double cycles, energy_pj;
};

/* Cycles and energy of the sums. */
void nest_cost_finish(const struct nest_view *view, struct nest_cost *cost);

/* The value of an objective. */
double nest_cost_value(
	const struct nest_view *view, const struct nest_cost *cost, enum objective objective);

#endif
