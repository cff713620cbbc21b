#include "search/claim/plan_claim.h"

#include "base/arena.h"
#include "cost/graph/cost.h"
#include "search/drive/solver.h"
#include "search/graph/plans.h"
#include "search/joint/joint_plan.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static struct plan_claim plan_claim_reject(struct plan_claim *claim, const char *why)
{
	claim->answer = VERDICT_NO;
	claim->why = why;
	return *claim;
}

/* Finds the value of the plan's score, in units of the space. */
static bool find_worth(const struct plan *plan, const struct joint_aim *aim, enum price price,
	struct arena *arena, double *worth)
{
	struct plan_cost cost;
	if (!cost_plan(plan, arena, &cost) || cost.score.rejected)
		return false;
	const struct score *score = &cost.score;
	int64_t cycles = price == PRICE_BOUND ? score->cycles : score->estimate_cycles;
	*worth = (double)aim->cycles * (double)cycles +
		 (double)aim->energy * score->energy_pj * 1024 +
		 (double)aim->hbm_bytes * (double)score->hbm_bytes;
	return true;
}

/* NULL, or why value and bound cannot be what they are called.  Energies of options are rounded each. */
static const char *check_numbers(
	const struct plan *plan, const struct joint_aim *aim, enum price price, struct arena *arena)
{
	const struct proof *proof = &plan->proof;
	double worth = 0, unit = plans_unit(aim);
	if (!find_worth(plan, aim, price, arena, &worth))
		return "the plan has no score";
	double off = aim->energy ? plan->step_count * (double)aim->energy + 1e-12 * worth : 0;
	if (fabs(worth - proof->value * unit) > off)
		return arena_format(
			arena, "the plan is worth %.17g, not %.17g", worth / unit, proof->value);
	if (!(proof->bound <= proof->value))
		return "the bound is above the value";
	if (proof->status == PROOF_OPTIMAL && proof->bound != proof->value)
		return "it is called optimal, but the bound is below the value";
	if (!(proof->bound >= 0 && proof->bound * unit < 0x1p53))
		return "the bound is not a number that a sum of costs can be";
	return NULL;
}

static void check_bound(const struct plan_claim_question *question, struct joint_question *space_of,
	struct plan_claim *claim, struct arena *arena)
{
	const char *why = NULL;
	double unit = plans_unit(&space_of->aim);
	const struct joint_space *space = joint_graph_make(space_of, arena, &why);
	claim->why = why;
	if (!space)
		return;
	const struct joint_graph *graph = space->graph;
	if (graph->question.aim.fixed != space_of->aim.fixed) {
		plan_claim_reject(claim,
			arena_format(arena, "its space leaves out more than the claim names: %s",
				joint_claim_text(arena, &graph->question)));
		return;
	}
	struct plan_complete_question compared = {.space = space, .stopper = question->stopper};
	claim->options = space->option_count;
	claim->compared = plan_complete_check(&compared, arena);
	if (claim->compared.why) {
		plan_claim_reject(claim, claim->compared.why);
		return;
	}
	double least = question->plan->proof.bound * unit;
	bool whole = fabs(least - round(least)) < 1e-6 * unit;
	struct plan_bound_question asked = {.space = space,
		.claim = (int64_t)(whole ? round(least) : ceil(least)),
		.budget = question->budget,
		.stopper = question->stopper};
	struct plan_bound bound = plan_bound_find(&asked, arena);
	claim->answer = bound.answer;
	claim->why = bound.why;
	claim->bound = (double)bound.bound / unit;
	claim->states = bound.states;
	if (bound.answer == VERDICT_NO)
		claim->why = arena_format(
			arena, "there is a plan of %.17g", (double)bound.witness.value / unit);
}

/* NULL, or why the proof cannot be by what it names: a method of plans that ends with a proof. */
static const char *check_method(const char *method, struct arena *arena)
{
	static const char stage[] = "joint/";
	const size_t length = sizeof stage - 1;
	const struct solver *solver = NULL;
	if (method && strncmp(method, stage, length) == 0)
		solver = solver_find(STAGE_JOINT, method + length);
	if (solver && solver->plans_all && solver->proves)
		return NULL;
	return arena_format(arena, "'%s' is not a method that proves anything about whole plans",
		method ? method : "");
}

/* NULL, or which assumption of the proof is not one of the plan and these settings. */
static const char *check_assumptions(const struct plan_claim_question *question,
	const struct planning *claimed, struct arena *arena)
{
	if (claimed->cores != question->plan->cores)
		return arena_format(arena, "the proof is of at most %d cores, the plan of %d",
			claimed->cores, question->plan->cores);
	if (claimed->lx_capacity != question->planning->lx_capacity)
		return arena_format(arena,
			"the proof is of %" PRId64 " bytes of LX, these settings leave %" PRId64,
			claimed->lx_capacity, question->planning->lx_capacity);
	return check_method(question->plan->proof.method, arena);
}

struct plan_claim plan_claim_check(const struct plan_claim_question *question, struct arena *arena)
{
	const struct proof *proof = &question->plan->proof;
	struct planning planning = *question->planning;
	struct joint_question space_of = {
		.arch = question->arch, .workload = question->workload, .planning = &planning};
	struct plan_claim claim = {.answer = VERDICT_OPEN, .claim = "none"};
	const char *why = NULL;
	if ((proof->status != PROOF_OPTIMAL && proof->status != PROOF_BOUND) || !proof->space)
		return plan_claim_reject(
			&claim, "the plan claims no proof; add 'proof:' or run explore");
	if (!joint_claim_read(arena, proof->space, &space_of.aim, &planning, &why))
		return plan_claim_reject(
			&claim, arena_format(arena,
					"the space of the proof is not one that can be made "
					"again: %s",
					why));
	claim.claim = arena_format(arena, "no plan is below %.17g: %s", proof->bound, proof->space);
	planning.stopper = question->stopper;
	why = check_assumptions(question, &planning, arena);
	if (why)
		return plan_claim_reject(&claim, why);
	why = check_numbers(question->plan, &space_of.aim, planning.price, arena);
	if (why)
		return plan_claim_reject(&claim, why);
	check_bound(question, &space_of, &claim, arena);
	return claim;
}
