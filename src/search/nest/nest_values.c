#include "search/nest/nest_search.h"

#include "base/arena.h"

#include <math.h>

bool nest_objective(enum objective objective)
{
	return objective == OBJECTIVE_LATENCY || objective == OBJECTIVE_ENERGY ||
	       objective == OBJECTIVE_EDP || objective == OBJECTIVE_HBM_BYTES ||
	       objective >= OBJECTIVE_ACCESSES;
}

const char *nest_objective_text(
	struct arena *arena, enum objective objective, const struct hierarchy *hierarchy)
{
	if (objective < OBJECTIVE_ACCESSES)
		return objective_names[objective];
	return arena_format(
		arena, "accesses:%s", hierarchy->levels[objective - OBJECTIVE_ACCESSES].name);
}

const char *const *nest_objectives_texts(struct arena *arena, const struct nest_search *search)
{
	const struct objectives *objectives = &search->wishes.objectives;
	const char **texts = arena_array(arena, const char *, objectives->count + 1);
	for (size_t i = 0; i < objectives->count; i++)
		texts[i] = nest_objective_text(arena, objectives->at[i], search->hierarchy);
	return texts;
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
	score.cycles = (int64_t)fmin(hierarchy_cycles_least(hierarchy, macs / all), 0x1p62);
	score.energy_pj = macs * hierarchy->compute_pj * (1 - 1e-12);
	return objective_value(objective, &score);
}
