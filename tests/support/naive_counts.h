#ifndef SUPPORT_NAIVE_COUNTS_H
#define SUPPORT_NAIVE_COUNTS_H

#include "model/graph/plan.h"

/*
 * A second opinion on the counts of a plan, slow on purpose: walks every core,
 * every tile and every element, collects the sticks that an operand's elements
 * lie in, draws the box around them, and counts what points 2 to 8 of
 * model/graph/plan.h say happens with it.  Only for small cases.  Inner nests are carried out by
 * tests/support/nest_interpreter.h, and counted tile by tile.
 */
struct arena;
struct counts naive_counts(const struct plan *plan, struct arena *arena);

/* Rules that can be broken, to see whether a comparison would notice. */
enum naive_rule {
	NAIVE_NONE,
	NAIVE_ACCUMULATORS, /* every update of a finishing tile writes an element */
	NAIVE_PASSES,       /* no pass reads what the one before left */
	NAIVE_WORDS,        /* words of nests have 2 bytes */
	NAIVE_TILES,        /* the nest runs once on a core */
	NAIVE_RULES
};
struct counts naive_counts_without(
	enum naive_rule rule, const struct plan *plan, struct arena *arena);

#endif
