#ifndef SEARCH_CERTIFICATE_WORDS_H
#define SEARCH_CERTIFICATE_WORDS_H

#include "search/certificate/certificate_floor.h"

/*
 * Words that enter levels at least, from what is known of the loops outside.
 *
 * A dimension that has a rank of a dataspace to itself moves its tiles to disjoint places, at
 * every level inside its loop.  So take the innermost known loop over such a dimension: in each of
 * its iterations, `times` of them counting the loops around it, for any loops inside
 * enters every level inside anew.
 *
 * The words that a rank has for a set of indices, X of each dimension d, are at least 1 + sum
 * (X(d) - 1), for all coefficients: sums of two sets of integers are at least as many as both
 * together, less one.
 *
 * All of it is exact where ranks are of one dimension and all loops outside a level are known.  For
 * windows a sharper bound is possible, by what a turn of the loops over them touches; on the 3x3
 * layer of specs/proofs.md it left 0.2 to 3 % fewer bounds to find and took a quarter longer.
 */

/* Words of dataspace t into all instances of storage level `at` together, the loops outside level j
 * known; at = -1: the multipliers, without what they could keep. */
double words_entering(
	const struct floor_cell *cell, const struct floor_loops *loops, int j, int t, int at);

/* The same where all tiles of the level whose outer loops are `loops` enter anew at every step of these. */
double words_renewed(const struct floor_cell *cell, const struct floor_loops *loops, int t, int at);

/* Times that a word leaves level `at` for the next one further in that keeps it, -1: the multipliers, since no_reuse
 * (spatial) keeps those apart that have the same.  Exact counting; 1 without the flag. */
double words_split(const struct floor_cell *cell, int t, int at, int child);

/* What all steps together ask of level `at` when nothing inside keeps anything. */
double words_used(const struct floor_cell *cell, int t, int at);

#endif
