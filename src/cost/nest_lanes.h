#ifndef COST_NEST_LANES_H
#define COST_NEST_LANES_H

#include "cost/nest_model.h"

/* For functions that are compiled twice, once for machines with wide registers.  Sanitizers, and
 * compilers other than gcc, have them once. */
#if defined __x86_64__ && defined __GNUC__ && !defined __clang__ &&                                \
	!defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
#define NEST_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define NEST_WIDE
#endif

/*
 * Four dataspaces at a time, a lane each, as doubles: whole numbers below 2^51,
 * or quotients of such.
 */
typedef double lanes __attribute__((vector_size(32)));
typedef int64_t masks __attribute__((vector_size(32)));

enum { LANES = 4, LANE_GROUPS_MOST = SHAPE_SPACES_MOST / LANES };

static inline __attribute__((always_inline)) lanes all_lanes(double x)
{
	return (lanes){x, x, x, x};
}

static inline __attribute__((always_inline)) lanes where(masks mask, lanes x)
{
	return (lanes)(mask & (masks)x);
}

/* Of x >= 0, below 2^51. */
static inline __attribute__((always_inline)) lanes lanes_ceil(lanes x)
{
	lanes nearest = (x + 0x1p52) - 0x1p52;
	return nearest + where(nearest < x, all_lanes(1));
}

/* Energy of accesses of whole blocks, ceil(words / divisor) of them. */
static inline __attribute__((always_inline)) lanes lanes_pj(
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
static inline __attribute__((always_inline)) double clusters_of(
	const struct nest_price *price, double instances)
{
	return instances < price->clusters ? instances : price->clusters;
}

#endif
