#ifndef COST_PROJECTION_LIMITS_H
#define COST_PROJECTION_LIMITS_H

#include "cost/recurrence/projection.h"

/* What links, lanes and arrays do not let a projection do, whose channels and bounds are known. */

/* The first fault is kept. */
void projection_refuse(
	struct projection_facts *facts, enum projection_fault what, int dependence, int axis);

void projection_check_lanes(const struct recurrence *recurrence,
	const struct projection *projection, struct projection_facts *facts);
void projection_check_limits(const struct recurrence *recurrence,
	const struct projection *projection, const struct space_time *limits,
	struct projection_facts *facts);

#endif
