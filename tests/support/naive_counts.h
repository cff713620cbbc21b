#ifndef SUPPORT_NAIVE_COUNTS_H
#define SUPPORT_NAIVE_COUNTS_H

#include "model/graph/counts.h"

/*
 * A second opinion on the counts of a plan, slow on purpose: walks every core,
 * every tile and every element, collects the sticks that an operand's elements
 * lie in, draws the box around them, and counts what points 2 to 8 of
 * model/graph/plan.h say happens with it.  Only for small cases.
 */
struct arena;
struct counts naive_counts(const struct plan *plan, struct arena *arena);

#endif
