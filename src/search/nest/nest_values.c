#include "search/nest/nest_search.h"

#include <math.h>

bool nest_objective(enum objective objective)
{
	return objective == OBJECTIVE_LATENCY || objective == OBJECTIVE_ENERGY ||
	       objective == OBJECTIVE_EDP || objective == OBJECTIVE_HBM_BYTES ||
	       objective >= OBJECTIVE_ACCESSES;
}

struct frontier nest_frontier(const struct nest_search *search)
{
	struct frontier frontier = frontier_open(search->wishes.objectives);
	frontier.thrifty = true;
	return frontier;
}

double nest_floor(const struct nest_search *search, enum objective objective)
{
	const struct hierarchy *hierarchy = search->hierarchy;
	struct score score = {0};
	double macs = 1;
	for (int d = 0; d < search->shape->dimension_count; d++)
		macs *= (double)search->shape->dimensions[d].extent;
	double all = (double)hierarchy->compute_mesh_x * (double)hierarchy->compute_mesh_y;
	score.cycles = (int64_t)fmin(macs / all, 0x1p62);
	score.energy_pj = macs * hierarchy->compute_pj * (1 - 1e-12);
	return objective_value(objective, &score);
}
