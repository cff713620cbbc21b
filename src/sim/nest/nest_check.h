#ifndef SIM_NEST_CHECK_H
#define SIM_NEST_CHECK_H

#include "model/nest/nest_score.h"

/*
 * What can be said before anything moves: whether the bounds make up the extents, the machine
 * has the instances, and the tiles fit.  Fills what counts follow from there: capacities and
 * utilized instances.  These are valid if the verdict is FITS, CAPACITY or UTILIZATION.  Sums
 * that end apart are seen when the nest has run (sim/nest/nest_lay.h).
 */
enum nest_verdict nest_check(const struct hierarchy *hierarchy, const struct shape *shape,
	const struct mapping *mapping, struct nest_counts *counts);

/* Steps at which anything works x multipliers; INT64_MAX if that does not fit. */
int64_t nest_check_work(const struct hierarchy *hierarchy, const struct shape *shape,
	const struct mapping *mapping);

#endif
