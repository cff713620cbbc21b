#ifndef COST_NEST_NEST_QUICK_H
#define COST_NEST_NEST_QUICK_H

#include "cost/nest/nest.h"

/*
 * The counts of the common nest, exact or Timeloop's, in two passes over the loops.
 *
 * Symbols, for a dataspace: W(i) the words of level i's tile; m(i) the product
 * of all temporal bounds from the innermost relevant loop around the children
 * of block i outwards (1 without one); G(i) the product of the relevant bounds of
 * block i.  Of ranks of one dimension each two tiles never overlap, so that a
 * child of block i takes W(i - 1) m(i) words, and block i shows its level
 * G(i) of them for each: the level serves W(i - 1) m(i) G(i).  A level that is
 * passed by multiplies what comes from inside by its own G.  Where a rank adds
 * dimensions a window slides, and children whose offsets add up to the
 * same share their words.
 *
 * The countings differ in the words of a sum that come without one, which are neither read
 * nor filled.  Timeloop: the share that an instance has of all words.  Exactly: E(i) of
 * nest_exact.c, which grows inwards by N - G at every level that keeps it; and all words that came
 * are read once more, when they drain.
 *
 * What is not common is left to the long way: a dataspace by its bit in `left` (flags; neighbours
 * that may hand words on; groups of children that are no product), the whole mapping by false
 * (bounds that do not make an extent, imperfect ones, fan-outs, homes).
 */
struct nest_quick {
	enum nest_verdict verdict; /* NEST_FITS, NEST_CAPACITY, NEST_UTILIZATION */
	uint32_t left;
	uint32_t waits; /* bit of every level whose ports may be too slow */
};

/* All of *counts, score->space_pj and their sums in level_pj, but what is left; capacities of all. */
bool nest_quick_counts(const struct nest_model *model, const struct mapping *mapping,
	struct nest_counts *counts, struct nest_score *score, struct nest_quick *out);

#endif
