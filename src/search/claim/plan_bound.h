#ifndef CLAIM_PLAN_BOUND_H
#define CLAIM_PLAN_BOUND_H

#include "base/array.h"
#include "base/number.h"
#include "base/stopper.h"
#include "search/claim/plan_relaxed.h"
#include "search/joint/joint_space.h"

/*
 * Finds out, without anything of a solver, if a joint space has an answer below a claimed bound: A* search
 * (Hart, Nilsson, Raphael 1968) over all that may be the case at a cut between ops.  A state is the place of
 * every tensor that is still needed, the tensors that the bundle uses in HBM, and its width.  Equal states
 * are one; of two with equal places one is left out if the other can do the same for no more; nothing is
 * dropped before its room is needed.  What is left costs at least what it costs in a relaxation (plan_relaxed.h), less
 * the parts of the bundle that are paid for and not used yet.  States that cannot lead below the claim are left out, so
 * that the claim holds once nothing is left.
 */
struct arena;

struct plan_bound_question {
	const struct joint_space *space;
	int64_t claim;
	uint64_t budget; /* states; 0: PLAN_BOUND_STATES */
	size_t entries;  /* states of the relaxation at a cut, at most; 0: PLAN_ENTRIES_MOST */
	struct stopper stopper;
};

struct plan_bound {
	/* YES: no answer is below the claim.  NO: `witness` is; it keeps the rules and can be packed.  OPEN: the
	 * budget ended, or what is below keeps all rules but cannot be packed. */
	enum verdict answer;
	int64_t bound;   /* no answer is below it; at most the claim */
	const char *why; /* OPEN: what stood in the way */
	struct joint_answer witness;
	uint64_t states; /* that were reached */
};

struct plan_bound plan_bound_find(const struct plan_bound_question *question, struct arena *arena);

#endif
