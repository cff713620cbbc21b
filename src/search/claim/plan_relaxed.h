#ifndef SEARCH_PLAN_RELAXED_H
#define SEARCH_PLAN_RELAXED_H

#include "search/joint/joint_space.h"

/*
 * A relaxation of a joint space: LX has room for everything under every view at once, so that of each tensor
 * matters only whether it is in HBM, in LX or in both; and a bundle's cost is shared out: each tensor that is
 * used in HBM for the first time ever pays its part of a full bundle of as many cores as its step.  A bundle
 * of at most `most` tensors that is w cores wide costs no less than these parts.  Dynamic programming from
 * the end gives the least cost of what is left, from every cut and every set of places.
 *
 * Costs are in units of 1 / scale.
 */
struct arena;

enum {
	PLAN_CROSSING_MOST = 16, /* tensors at a cut */
	PLAN_RELAXED_MOST = 10,  /* of which the relaxation follows the first */
};

enum { PLACE_IN_HBM, PLACE_IN_LX, PLACE_IN_BOTH, PLACE_COUNT };

/* The tensors that are there at a cut and still needed: made or first read before it, read or written
 * out behind it. */
struct plan_cut {
	int count, tensors[PLAN_CROSSING_MOST]; /* ascending */
	int64_t *least; /* by places: the sum of place * 3^k over the first PLAN_RELAXED_MOST */
};

struct plan_relaxed {
	const struct joint_space *space;
	int64_t scale;
	int *first_use; /* by tensor: the first cut before which an option can have used it */
	int *last_use;  /* by tensor: the last op of an option that uses it */
	struct plan_cut *cuts; /* op_count + 1 */
};

/* NULL, and *why: it cannot be counted. */
const struct plan_relaxed *plan_relaxed_make(
	const struct joint_space *space, struct arena *arena, const char **why);

/* What an eviction, or an option, pays for tensors that are used in HBM for the first time. */
int64_t plan_relaxed_share(const struct joint_space *space, int cores);

#endif
