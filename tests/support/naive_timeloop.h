#ifndef SUPPORT_NAIVE_TIMELOOP_H
#define SUPPORT_NAIVE_TIMELOOP_H

#include "base/arena.h"
#include "model/nest/nest_score.h"

/*
 * Timeloop's counting by executing it: loops recurse, each running its first
 * iteration and its second for all the others; every instance has a state of its
 * own; what a child asks for is a set of points.  Slow on purpose; perfect nests
 * only.  False where a count comes out negative.
 */
bool naive_timeloop(const struct hierarchy *hierarchy, const struct shape *shape,
	const struct mapping *mapping, struct nest_counts *out);

#endif
