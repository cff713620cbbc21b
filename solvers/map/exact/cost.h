#ifndef MAP_EXACT_COST_H
#define MAP_EXACT_COST_H

#include "search/drive/wishes.h"
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

/*
 * What the mappings found so far exclude: all that costs at least as much as one of them in
 * every objective.  With a slack above 1, also what costs no more than that factor less.
 * A ceiling of the wishes, which is for a single objective, excludes all that is above it.
 */
struct nest_cut {
	const struct objectives *objectives;
	double slack;
	size_t count;
	double *values;  /* of point i, objective k: [i * objectives->count + k] */
	double excluded; /* the least value of one objective that the slack alone excluded */
};

struct nest_cut nest_cut_make(struct arena *arena, const struct frontier *kept,
	const struct wishes *wishes, double slack);

bool nest_cut_excludes_values(struct nest_cut *cut, const double *values);
bool nest_cut_excludes(
	struct nest_cut *cut, const struct nest_view *view, const struct nest_cost *cost);

#endif
