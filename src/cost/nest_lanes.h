#ifndef COST_NEST_LANES_H
#define COST_NEST_LANES_H

#include "cost/nest_model.h"

/*
 * Two dataspaces at a time, a lane each, as doubles: whole numbers below 2^51,
 * or quotients of such.
 */
typedef double lanes __attribute__((vector_size(16)));
typedef int64_t masks __attribute__((vector_size(16)));

enum { LANES = 2, LANE_GROUPS_MOST = SHAPE_SPACES_MOST / LANES };

static inline lanes all_lanes(double x)
{
	return (lanes){x, x};
}

static inline lanes where(masks mask, lanes x)
{
	return (lanes)(mask & (masks)x);
}

/* Of x >= 0, below 2^51. */
static inline lanes lanes_ceil(lanes x)
{
	lanes nearest = (x + 0x1p52) - 0x1p52;
	return nearest + where(nearest < x, all_lanes(1));
}

/* Energy of accesses of whole blocks, ceil(words / divisor) of them. */
static inline lanes lanes_pj(
	const struct nest_price *price, lanes reads, lanes fills, lanes updates, double divisor)
{
	if (divisor != 1) {
		reads = lanes_ceil(reads / divisor);
		fills = lanes_ceil(fills / divisor);
		updates = lanes_ceil(updates / divisor);
	}
	return reads * price->pj[NEST_READ] + fills * price->pj[NEST_FILL] +
	       updates * price->pj[NEST_UPDATE];
}

/* Accesses that the instances of a level make: those of a cluster share one. */
static inline double clusters_of(const struct nest_price *price, double instances)
{
	return instances < price->clusters ? instances : price->clusters;
}

#endif
