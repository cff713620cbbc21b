#ifndef SEARCH_MAPSPACE_CHECK_H
#define SEARCH_MAPSPACE_CHECK_H

#include "search/nest/conflict.h"
#include "search/nest/shortage.h"

/*
 * Everything that is known of a problem's mapspace before any search: whether the
 * constraints go together, whether any mapping fits, why not, and how many
 * mappings there are.
 */
struct mapspace_check {
	const struct arch *arch;
	const struct shape *shape;
	const struct hierarchy *hierarchy;
	const struct domain *domain; /* as the constraints narrow it */
	bool contradictory;          /* they contradict each other; nothing else is known then */
	struct feasible feasible;
	struct shortages shortages;     /* of VERDICT_NO */
	struct infeasible_set conflict; /* the same */
	const char **explained;         /* by member of the conflict: what it asks, in a sentence */

	/* What there is to choose: by the machine's levels alone, with the constraints, and with
	 * loops no longer than their fan-out, too.  NULL where that was not counted to the end. */
	struct space_sizes machine, constrained, narrowed;
};

/* Whether any mapping meets the constraints and fits. */
static inline enum verdict mapspace_verdict(const struct mapspace_check *check)
{
	return check->contradictory ? VERDICT_NO : check->feasible.verdict;
}

/* Contradictions are complained about.  `machine`: as domain_make made it.  `stopper` NULL: to the
 * end. */
struct mapspace_check mapspace_check(const struct domain *machine,
	const struct constraints *constraints, const struct stopper *stopper, struct diag *diag,
	struct arena *arena);

#endif
