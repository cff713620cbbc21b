#ifndef COST_NEST_ARRAY_H
#define COST_NEST_ARRAY_H

#include "cost/nest/nest_loops.h"
#include "model/nest/nest_projection.h"

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

#endif
