#ifndef COST_NEST_NEST_ARRAY_H
#define COST_NEST_NEST_ARRAY_H

#include "cost/nest/nest_home.h"
#include "model/nest/nest_score.h"

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

/*
 * What a systolic array adds to the cycles of a nest, in closed form.
 *
 * A mapping keeps ux x uy PEs busy.  Words that PEs side by side share, and sums that they make
 * together, go from one to the next in a cycle: along such an axis each PE works a cycle later
 * than the one before, and the last one this many cycles after the first:
 *
 *	skew = (ux - 1 if something is shared along X) + (uy - 1 if something is along Y)
 *
 * A link carries what a PE needs in a step in a cycle.  A dataspace that PEs do not hold comes
 * (sums: goes) along the axis on which fewer of its tiles differ, Gx(t) or Gy(t).  A step takes as
 * many cycles as these are, one where all that moves is shared along an axis:
 *
 *	rate = max over t that PEs do not hold of min(Gx(t), Gy(t))
 *
 * A pass is the work between two moves of tiles that PEs hold: X(t) of them for a dataspace t
 * that comes from outside, X the product of the temporal loops from the innermost relevant one
 * around it outwards.  These loops enclose each other, so that there are max X(t) passes, one
 * if PEs hold nothing.  Between passes the array runs empty.  Tiles that are read are loaded
 * along Y, a word per cycle: W(t) words for each of the Gy(t) different tiles of a column.  Sums
 * leave while the array drains (H. T. Kung, Why systolic architectures?, 1982; A. Samajdar and
 * others, SCALE-Sim, ISPASS 2020: their cycles of a fold are those of a pass here).
 *
 *	cycles = rate compute cycles + skew max X(t) + sum of X(t) W(t) Gy(t)
 *
 * Where PEs buffer everything twice passes overlap: the loads of a pass, L(p), come during the one
 * before.  P passes of T steps then take
 *
 *	cycles = L(1) + rate T P + sum over p > 1 of max(0, L(p) - rate T) + skew
 *
 * What moves less often moves only together with all that moves more often, which tells how many
 * passes have which loads.
 *
 * Tiles that are not whole, and passes that keep fewer PEs busy, take as long as the others; where
 * they overlap, so do those of fewer steps.
 */
/* Fills in array_cycles: 0 without an array.  False: a number does not fit. */
bool nest_array_count(
	const struct nest_model *model, const struct mapping *mapping, struct nest_counts *counts);

/* What becomes of the loops, of counts that a mapping has.  False: there is no array, or a pass has
 * more loops than can be told. */
bool nest_array_project(const struct nest_model *model, const struct mapping *mapping,
	const struct nest_counts *counts, struct nest_projection *out);

/*
 * Energy of the network below level i, picojoules, from counts: 0 unless the
 * level says what a hop or a router costs.
 *
 * `exact`: a word that enters the network and goes to m of F children takes
 *
 *	hops = sqrt(F m) + (sqrt(F) - sqrt(m)) / 2 - sqrt(F / m) + 1/2
 *
 * (Timeloop's estimate of 2019 for a mesh that is entered in the middle of a side) and passes
 * one router more.  F is the fan-out of the machine between a level and the next one inwards
 * that keeps the dataspace; m is what children get divided by what enters, on average.
 * Partial sums take the same way outwards, and what returns of them to one child each.  A word
 * handed on by a neighbour takes one hop and two routers.
 *
 * `timeloop`: hops are Manhattan distances, counted with the accesses (cost/nest/nest_timeloop.h).
 */
double nest_network_pj(const struct nest_model *model, enum counting counting,
	const struct nest_counts *counts, int i);

#endif
