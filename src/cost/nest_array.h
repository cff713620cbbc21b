#ifndef COST_NEST_ARRAY_H
#define COST_NEST_ARRAY_H

#include "cost/nest_loops.h"

/*
 * What a systolic array adds to the cycles of a nest, in closed form.
 *
 * A mapping keeps ux x uy PEs busy.  Words that PEs side by side share, and sums that they make
 * together, go from one to the next in a cycle: along such an axis each PE works a cycle later
 * than the one before, and the last one so many cycles after the first:
 *
 *	skew = (ux - 1 if something is shared along X) + (uy - 1 if something is along Y)
 *
 * A pass is the work between two moves of tiles that PEs hold: X(t) of them for a dataspace t
 * that comes from outside, X the product of the temporal loops from the innermost relevant one
 * around it outwards.  These loops enclose each other, so that there are max X(t) passes, one
 * if PEs hold nothing.  Between passes the array runs empty.  Tiles that are read are loaded
 * along Y, a word per cycle: W(t) words for each of the G(t) different tiles of a column.  Sums
 * leave while the array drains (H. T. Kung, Why systolic architectures?, 1982; A. Samajdar and
 * others, SCALE-Sim, ISPASS 2020: their cycles of a fold are those of a pass here).
 *
 *	cycles = compute cycles + skew max X(t) + sum of X(t) W(t) G(t)
 *
 * Tiles that are not whole, and passes that keep fewer PEs busy, take as long as the others.
 */
struct nest_array {
	int64_t extent[2]; /* PEs busy along X and Y */
	bool hands_on[2];  /* words or sums, along that axis */
	int64_t passes;
	int64_t load_cycles; /* of all passes */
};

/* Of a machine with an array.  Tiles of the counts must be known.  False: a number does not fit. */
bool nest_array_make(const struct nest_model *model, const struct nest_loops *loops,
	const struct nest_counts *counts, struct nest_array *out);

/* Fills in array_cycles: 0 without an array.  False as above. */
bool nest_array_count(
	const struct nest_model *model, const struct mapping *mapping, struct nest_counts *counts);

#endif
