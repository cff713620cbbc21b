#ifndef SEARCH_PLAN_RELAXED_H
#define SEARCH_PLAN_RELAXED_H

#include "base/stopper.h"
#include "search/claim/plan_passes.h"

/*
 * Two relaxations of a joint space that add up to a lower bound of what is still to come, in parts of a value
 * (plan_passes.scale of them).
 *
 * The first has no bundles, but their parts (plan_share), and only states that plan_cuts.h tells apart: shortest
 * paths from the start and from the end.  A state that no path below the limit visits is left out.
 *
 * The second has bundles, and knows of a tensor only its place (plan_bundles.h).  A step costs there what it
 * costs above the difference of the first bounds before and behind it, in the best of all states that are left:
 * its reduced cost.  So the sum of both bounds is one, too.
 */
struct arena;
struct plan_bundles;

struct plan_relaxed {
	const struct joint_space *space;
	const struct plan_cuts *cuts;
	const struct plan_passes *passes;
	int64_t *const
		*least; /* by cut, then state: JOINT_NEVER: nothing below the limit comes by */
	const struct plan_bundles *bundles;
};

/* For answers below a limit, in parts of a value, with at most `entries` states at a cut.  NULL, and *why: it
 * cannot be counted, or somebody stopped it. */
const struct plan_relaxed *plan_relaxed_make(const struct joint_space *space, int64_t limit,
	size_t entries, const struct stopper *stopper, struct arena *arena, const char **why);

#endif
