#include "solvers/map/exact/cost.h"

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
