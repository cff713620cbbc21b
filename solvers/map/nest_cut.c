#include "solvers/map/nest_cut.h"

#include "base/arena.h"

struct nest_cut nest_cut_make(struct arena *arena, const struct frontier *kept,
	const struct objectives *objectives, double slack)
{
	struct nest_cut cut = {objectives, slack, kept->count,
		arena_array(arena, double, kept->count * objectives->count)};
	double *value = cut.values;
	for (size_t i = 0; i < kept->count; i++)
		for (size_t k = 0; k < objectives->count; k++)
			*value++ = objective_value(objectives->at[k], &kept->points[i].score);
	return cut;
}

bool nest_cut_excludes(
	const struct nest_cut *cut, const struct nest_view *view, const struct nest_cost *cost)
{
	double values[OBJECTIVE_COUNT];
	size_t count = cut->objectives->count;
	for (size_t k = 0; k < count; k++)
		values[k] = nest_cost_value(view, cost, cut->objectives->at[k]) * cut->slack;
	const double *point = cut->values;
	for (size_t i = 0; i < cut->count; i++, point += count) {
		size_t k = 0;
		while (k < count && point[k] <= values[k])
			k++;
		if (k == count)
			return true;
	}
	return false;
}
