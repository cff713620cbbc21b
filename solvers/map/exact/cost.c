#include "solvers/map/exact/cost.h"

#include "base/arena.h"

#include <math.h>

/* Sums of doubles err by less: a cycle is not counted, energies that differ by less are equal.  What
 * is said to be a bound stays within what its certificate allows (search/certificate/certificate.h). */
#define CYCLES_MARGIN (1 - 1e-9)
#define ENERGY_MARGIN (1 + 5e-13)
#define UNEVEN_MARGIN (1 + 1e-12) /* longer sums, and no certificate */

void nest_cost_finish(const struct nest_view *view, struct nest_cost *cost)
{
	const struct nest_frame *frame = view->frame;
	double waiting = 0,
	       cycles = hierarchy_cycles_least(frame->search->hierarchy, view->cycles) +
			cost->array_cycles;
	for (int m = frame->port_first; m < frame->meter_count; m++) {
		double port = nest_meter(&cost->sums, m);
		waiting = port > waiting ? port : waiting;
	}
	waiting *= CYCLES_MARGIN;
	if (waiting > cycles) {
		cycles = waiting < 0x1p62 ? (double)(int64_t)waiting : 0x1p62;
		cycles += cycles < waiting;
	}
	cost->cycles = cycles + view->network_cycles;
	double leaking = frame->timeloop ? cycles : cost->cycles;
	cost->energy_pj = (nest_meter(&cost->sums, 0) + view->leak_pj * leaking) *
			  (frame->uneven ? UNEVEN_MARGIN : ENERGY_MARGIN);
}

double nest_cost_value(
	const struct nest_view *view, const struct nest_cost *cost, enum objective objective)
{
	switch (objective) {
	case OBJECTIVE_LATENCY:
		return cost->cycles;
	case OBJECTIVE_ENERGY:
		return cost->energy_pj;
	case OBJECTIVE_EDP:
		return cost->energy_pj * cost->cycles;
	default:
		return view->frame->objective_meter[objective]
			       ? nest_meter(&cost->sums, view->frame->objective_meter[objective]) *
					 (1 - 1e-12)
			       : 0;
	}
}

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
