#include "solvers/map/exact/cut.h"

#include "base/arena.h"

#include <math.h>

struct nest_cut nest_cut_make(
	struct arena *arena, const struct frontier *kept, const struct wishes *wishes, double slack)
{
	const struct objectives *objectives = &wishes->objectives;
	struct nest_cut cut = {objectives, slack, kept->count,
		arena_array(arena, double, (kept->count + 1) * objectives->count), INFINITY};
	double *value = cut.values;
	for (size_t i = 0; i < kept->count; i++)
		for (size_t k = 0; k < objectives->count; k++)
			*value++ = objective_value(objectives->at[k], &kept->points[i].score);
	if (wishes->ceiling > 0 && objectives->count == 1) {
		*value = nextafter(wishes->ceiling * slack, INFINITY);
		cut.count++;
	}
	return cut;
}

bool nest_cut_excludes_values(struct nest_cut *cut, const double *values)
{
	const double *point = cut->values;
	size_t count = cut->objectives->count;
	for (size_t i = 0; i < cut->count; i++, point += count) {
		size_t k = 0;
		while (k < count && point[k] <= values[k] * cut->slack)
			k++;
		if (k < count)
			continue;
		if (cut->slack > 1 && values[0] < cut->excluded)
			cut->excluded = values[0];
		return true;
	}
	return false;
}

bool nest_cut_excludes(
	struct nest_cut *cut, const struct nest_view *view, const struct nest_cost *cost)
{
	double values[OBJECTIVE_COUNT];
	for (size_t k = 0; k < cut->objectives->count; k++)
		values[k] = nest_cost_value(view, cost, cut->objectives->at[k]);
	return nest_cut_excludes_values(cut, values);
}
