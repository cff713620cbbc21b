#ifndef SEARCH_PLAN_RELAXED_H
#define SEARCH_PLAN_RELAXED_H

#include "base/stopper.h"
#include "search/claim/plan_cuts.h"

/*
 * A lower bound of what is still to come, in parts of a value: shortest paths to the end over the states that
 * plan_cuts.h tells apart.  Instead of bundles it knows their parts: a step costs its value and, for each tensor that
 * no step before can have used in HBM, its part of a full bundle of as many cores (plan_share).  A bundle costs no less
 * than the parts of its steps.
 */
struct arena;

struct plan_relaxed {
	const struct joint_space *space;
	const struct plan_cuts *cuts;
	int64_t scale;   /* parts of a value */
	int64_t **least; /* by cut, then state; JOINT_NEVER: nothing leads to an end */
};

/* With at most `entries` states at a cut.  NULL, and *why: it cannot be counted, or somebody stopped it. */
const struct plan_relaxed *plan_relaxed_make(const struct joint_space *space, size_t entries,
	const struct stopper *stopper, struct arena *arena, const char **why);

/* The part that one tensor has of a bundle of so many cores. */
int64_t plan_share(const struct joint_space *space, int cores);

#endif
