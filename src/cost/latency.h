#ifndef COST_LATENCY_H
#define COST_LATENCY_H

#include "cost/cost.h"

struct arena;

/*
 * Cycles.  A phase takes as long as its busiest resource; phases follow each other; a
 * bundle adds its overhead.  See cost.h and points 7 and 9 of model/plan.h.
 */

/* The phases of a plan, without times. */
int latency_phases(const struct plan *plan, struct arena *arena, struct phase_cost **out);

/* The resources of one phase; false when a count does not fit. */
bool latency_phase(const struct plan *plan, const struct counts *counts, struct arena *arena,
	struct phase_cost *phase);

/* What all bundles of the plan cost. */
bool latency_overhead(const struct plan *plan, int64_t *cycles);

/*
 * Operations per cycle of the unit that an op runs on, on one core: the array for
 * einsums, the vector unit for the others.  0: unlimited.
 */
struct ratio latency_rate(
	const struct arch *arch, const struct workload *workload, const struct op *op);

#endif
