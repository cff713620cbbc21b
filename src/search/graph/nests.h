#ifndef SEARCH_NESTS_H
#define SEARCH_NESTS_H

#include "base/stopper.h"
#include "model/graph/plan.h"

/*
 * The nests of all steps of a plan, on a machine whose tiles do not move in boxes, once it is known what
 * is resident in the scratchpad: stage `map` is asked for each op.
 *
 * False, and *why, when a step has no nest that fits.  The stopper (NULL: none) is asked for every step;
 * after a yes the other steps have none.
 */
struct arena;
bool nests_plan(
	struct plan *plan, const struct stopper *stopper, struct arena *arena, const char **why);

#endif
