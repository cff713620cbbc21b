#ifndef CLAIM_PLAN_RELAXED_H
#define CLAIM_PLAN_RELAXED_H

#include "base/stopper.h"
#include "search/joint/joint_space.h"

#include <stddef.h>

/*
 * States of a relaxation at the cuts of a joint space: projections of its states (Christofides, Mingozzi, Toth
 * 1981).  A cut lies before each op and behind the last.
 *
 * A code says where a tensor is: 0 in HBM alone, 1 + 2 v in LX alone under view v, 2 + 2 v in both.  Tensors that
 * cross few cuts keep their view; others keep only the fact that they are in LX (v is 0 then); the rest keep
 * nothing: their code is 0. A tensor has the same codes at all cuts.
 */
struct arena;

enum {
	PLAN_CROSSING_MOST = 16,     /* tensors at a cut */
	PLAN_ENTRIES_MOST = 1 << 20, /* states of the relaxation at a cut */
};

enum plan_detail { DETAIL_NOTHING, DETAIL_PLACE, DETAIL_VIEWS };

/* The tensors that are there at a cut and still needed: made or first read before it, read or written
 * out behind it. */
struct plan_cut {
	int count, tensors[PLAN_CROSSING_MOST]; /* ascending */
	size_t unit[PLAN_CROSSING_MOST], size;  /* of indices by codes */
};

struct plan_cuts {
	const struct joint_space *space;
	int *first_use; /* by tensor: the first cut before which an option can have used it */
	int *last_use;  /* by tensor: the last op of an option that uses it */
	enum plan_detail *detail; /* by tensor */
	struct plan_cut *at;      /* op_count + 1 */
};

static inline int plan_cut_find(const struct plan_cut *cut, int tensor)
{
	for (int k = 0; k < cut->count; k++)
		if (cut->tensors[k] == tensor)
			return k;
	return -1;
}

/* View -1: it is not in LX. */
static inline int plan_code(const struct plan_cuts *cuts, int tensor, bool in_hbm, int view)
{
	if (view < 0 || cuts->detail[tensor] == DETAIL_NOTHING)
		return 0;
	return 1 + 2 * (cuts->detail[tensor] == DETAIL_VIEWS ? view : 0) + in_hbm;
}

/*
 * A lower bound of what is still to come, in parts of a value: shortest paths to the end over the projected states.
 * Instead of bundles it knows their parts: a step costs its value and, for each tensor that no step before can have
 * used in HBM, its part of a full bundle of as many cores (plan_share).  A bundle costs no less than the parts of
 * its steps.
 */
struct plan_relaxed {
	const struct joint_space *space;
	const struct plan_cuts *cuts;
	int64_t scale;   /* parts of a value */
	int64_t **least; /* by cut, then state; JOINT_NEVER: nothing leads to an end */
};

/* With at most `entries` states at a cut.  NULL, and *why: it cannot be counted, or the stopper ended it. */
const struct plan_relaxed *plan_relaxed_make(const struct joint_space *space, size_t entries,
	const struct stopper *stopper, struct arena *arena, const char **why);

/* The part that one tensor has of a bundle of so many cores. */
int64_t plan_share(const struct joint_space *space, int cores);

#endif
