#ifndef SUPPORT_PROJECTION_BOUNDS_H
#define SUPPORT_PROJECTION_BOUNDS_H

#include "model/recurrence/recurrence.h"

/*
 * Lower bounds of all projections.
 *
 * Points of one step run on different PEs: a schedule needs as many PEs as its fullest step has
 * points.  A chain of dependences takes a step for each: no schedule takes fewer steps than the
 * longest chain has points (Karp, Miller and Winograd 1967).
 */
enum { BOUND_STEPS_MOST = 1 << 24, BOUND_POINTS_MOST = 1 << 24 };

/* Points of the fullest step; -1: too many steps or points. */
int64_t projection_widest(const struct recurrence *recurrence, const int64_t *schedule);

/* Points of the longest chain; wires (streams, as bits) take no step.  -1: too many points, or
 * there is a circle. */
int64_t projection_longest(const struct recurrence *recurrence, uint32_t wires);

#endif
