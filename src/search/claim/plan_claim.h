#ifndef SEARCH_PLAN_CLAIM_H
#define SEARCH_PLAN_CLAIM_H

#include "model/graph/plan.h"
#include "model/graph/planning.h"
#include "search/claim/plan_bound.h"
#include "search/claim/plan_complete.h"

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
struct arena;

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
