#ifndef CLAIM_PLAN_CLAIM_H
#define CLAIM_PLAN_CLAIM_H

#include "base/array.h"
#include "base/number.h"
#include "base/stopper.h"
#include "model/graph/plan.h"
#include "model/graph/planning.h"
#include "search/joint/joint_graph.h"
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

/*
 * Finds out, without anything of a solver, if a joint space has an answer below a claimed bound: A* search
 * (Hart, Nilsson, Raphael 1968) over all that may be the case at a cut between ops.  A state is the place of
 * every tensor that is still needed, the tensors that the bundle uses in HBM, and its width.  Equal states
 * are one; of two with equal places one is left out if the other can do the same for no more; nothing is
 * dropped before its room is needed.  What is left costs at least what it costs in a relaxation (plan_relaxed.c), less
 * the parts of the bundle that are paid for and not used yet.  States that cannot lead below the claim are left out, so
 * that the claim holds once nothing is left.
 */

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

/*
 * Compares a joint space with the language of plans (search/language/language.h), step by step.  Every step of the
 * language has an option in the space that is as good, or is of a kind that the space names as fixed.  An option is as
 * good as a step if
 *
 *	it has the same ops, and its operands are in the same places;
 *	it finds in LX what the step finds there, wherever that lies;
 *	what it moves in or leaves serves all later ops that find it there after the step, in no more bytes;
 *	it takes over bytes where the step does, needs no more cores, and its bundle may go on where the step's may;
 *	by the model's price it costs no more than the step.
 *
 * The limits of the space, its tensors, what evicts cost, and runs that have all that comes from outside in HBM are
 * compared as well.  Not compared are
 *
 *	ops that are not divided;
 *	clones that the graph has itself and that bring something into LX;
 *	tiles by the published rule, and nests of a multiplier array;
 *	relayouts, and results that only wait in LX for an evict;
 *	machines whose tiles do not move in boxes.
 */

struct plan_complete_question {
	const struct joint_space *space;
	uint64_t
		steps; /* of one op that are looked at: all if there are no more, else so many at random; 0:
			 * PLAN_COMPLETE_STEPS */
	struct stopper stopper;
};

enum { PLAN_COMPLETE_STEPS = 2000 };

struct plan_complete {
	const char *why; /* what the space lacks; NULL: nothing was found */
	bool all;        /* every step was looked at */
	uint64_t steps, runs, prices;
};

struct plan_complete plan_complete_check(
	const struct plan_complete_question *question, struct arena *arena);

/*
 * Checks the `proof` of a plan from the specs alone:
 *
 *  1. its value follows from its score, by the sum and price that the proof names
 * (joint_claim_text), and is no less than its bound; the bound of an optimal plan is its value;
 *  2. the proof assumes the plan's limit of cores and the room of these
 * settings, and its method is one that proves something about whole plans;
 *  3. the joint space is built again from workload, machine and settings, and lacks no step of the
 * language of plans that the proof does not name: plan_complete_check;
 *  4. no plan of that space is below the bound: plan_bound_find.
 *
 * plan_check has checked that the plan keeps all rules.
 */

struct plan_claim_question {
	const struct plan *plan;
	const struct arch *arch;         /* with the reserve of the planning */
	const struct workload *workload; /* as its spec gives it: without the plan's moves */
	const struct planning *planning; /* cores, price and tiles are the plan's */
	uint64_t budget;                 /* states; 0: PLAN_BOUND_STATES */
	struct stopper stopper;
};

struct plan_claim {
	enum verdict answer;
	const char *why;   /* it does not hold, or was not found out; NULL */
	const char *claim; /* in words */
	double bound;      /* in the unit of the proof: the largest bound that was confirmed */
	size_t options;    /* of the space */
	struct plan_complete compared; /* with the language of plans */
	uint64_t states;
};

struct plan_claim plan_claim_check(const struct plan_claim_question *question, struct arena *arena);

#endif
