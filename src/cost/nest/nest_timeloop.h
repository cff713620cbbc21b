#ifndef COST_NEST_NEST_TIMELOOP_H
#define COST_NEST_NEST_TIMELOOP_H

#include "cost/nest/nest_home.h"

/*
 * Timeloop's counts of a compiled perfect nest, of the dataspaces of a mask:
 * all of *counts but the capacities, which the caller has; hops and routers if the
 * model has a price for them, of these dataspaces alone.  NEST_FITS or NEST_MEANINGLESS.
 */
enum nest_verdict nest_timeloop_counts(const struct nest_model *model,
	const struct nest_loops *loops, uint32_t spaces, struct nest_counts *counts,
	struct nest_score *score);

#endif
