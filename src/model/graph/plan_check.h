#ifndef MODEL_PLAN_CHECK_H
#define MODEL_PLAN_CHECK_H

#include "model/graph/plan.h"
#include "model/graph/users.h"

/*
 * Whether a plan can be believed, by rules of its own: every op runs once and in
 * order, on cores that exist, in whole units; bundles follow each other; what
 * stays in LX is an intermediate tensor, cut evenly over no more cores than the plan has,
 * aligned, inside what planners may use, and shares bytes with nobody but a
 * map's dying operand that it replaces element by element.  So do the staging tiles of broadcasts
 * in their steps; their ranks exist.  A tensor stays in LX, or in HBM, for all of its life and no
 * longer; one without a stay lies in HBM.
 *
 * That the slices hold what each core uses shows when the plan is lowered.
 */
struct arena;

struct plan_fault {
	int step;      /* -1: none in particular */
	int residency; /* -1 */
	const char *why;
};

struct plan_faults {
	size_t count;
	const struct plan_fault *at;
};

struct plan_faults plan_check(const struct plan *plan, struct arena *arena);

/* Why a tensor cannot be in LX in the steps of a stay at all, whatever its view and address; NULL. */
const char *plan_stay_misfit(struct arena *arena, const struct plan *plan,
	const struct users *users, const struct residency *stay);

/* Why the op of a tensor cannot write each element where it read the parent's; NULL. */
const char *plan_in_place_misfit(struct arena *arena, const struct plan *plan,
	const struct users *users, int child, int parent);

#endif
