#ifndef COST_NEST_LANES_H
#define COST_NEST_LANES_H

#include "cost/nest/nest_model.h"

#include <string.h>

/* For functions that are compiled twice, once for machines with wide registers.  Sanitizers, and
 * compilers other than gcc, have them once. */
#if defined __x86_64__ && defined __GNUC__ && !defined __clang__ &&                                \
	!defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
#define NEST_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define NEST_WIDE
#endif
/* For the parts of such functions. */
#define NEST_PART static inline __attribute__((always_inline))

/*
 * Four numbers at a time, mostly of four dataspaces, a lane each, as doubles: whole numbers below
 * 2^51, or quotients of such.
 */
typedef double lanes __attribute__((vector_size(32)));
typedef int64_t masks __attribute__((vector_size(32)));

enum { LANES = 4, LANE_GROUPS_MOST = SHAPE_SPACES_MOST / LANES };

NEST_PART lanes all_lanes(double x)
{
	return x - (lanes){0};
}

NEST_PART lanes lanes_at(const double *four)
{
	lanes out;
	memcpy(&out, four, sizeof out);
	return out;
}

NEST_PART void put_lanes(double *four, lanes x)
{
	memcpy(four, &x, sizeof x);
}

NEST_PART masks masks_at(const int64_t *four)
{
	masks out;
	memcpy(&out, four, sizeof out);
	return out;
}

NEST_PART lanes where(masks mask, lanes x)
{
	return (lanes)(mask & (masks)x);
}

NEST_PART lanes chosen(masks mask, lanes a, lanes b)
{
	return (lanes)((mask & (masks)a) | (~mask & (masks)b));
}

NEST_PART double lanes_sum(lanes x)
{
	return x[0] + x[1] + (x[2] + x[3]);
}

NEST_PART double lanes_product(lanes x)
{
	return x[0] * x[1] * (x[2] * x[3]);
}

/* Four bounds, as the low bits of 2^52 + x. */
NEST_PART lanes lanes_of_bounds(const uint32_t *bounds)
{
	typedef uint32_t words __attribute__((vector_size(16)));
	const words high = {0x43300000, 0x43300000, 0x43300000, 0x43300000};
	words low;
	memcpy(&low, bounds, sizeof low);
	return (lanes)__builtin_shufflevector(low, high, 0, 4, 1, 5, 2, 6, 3, 7) - 0x1p52;
}

/* Whole numbers below 2^51, as integers: the low bits of 2^52 + x. */
NEST_PART masks whole(lanes x)
{
	return (masks)(x + 0x1p52) ^ (masks)all_lanes(0x1p52);
}

/*
 * ceil(x / divisor) of whole x: the whole number next to x * inverse is at most half and a rounding
 * away from the quotient, so that the ceiling is that number or the one after it.
 */
NEST_PART lanes lanes_ceil(lanes x, double divisor, double inverse)
{
	lanes nearest = (x * inverse + 0x1p52) - 0x1p52;
	return nearest + where(nearest * divisor < x, all_lanes(1));
}

/* Energy of accesses of whole blocks, ceil(words / divisor) of them. */
NEST_PART lanes lanes_pj(
	const struct level_price *price, lanes reads, lanes fills, lanes updates, double divisor)
{
	double inverse = 1 / divisor;
	return lanes_ceil(reads, divisor, inverse) * price->pj[NEST_READ] +
	       lanes_ceil(fills, divisor, inverse) * price->pj[NEST_FILL] +
	       lanes_ceil(updates, divisor, inverse) * price->pj[NEST_UPDATE];
}

/* Accesses that the instances of a level make: those of a cluster share one. */
NEST_PART double clusters_of(const struct level_price *price, double instances)
{
	return instances < price->clusters ? instances : price->clusters;
}

#endif
