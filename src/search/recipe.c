#include "search/recipe.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "model/plan_check.h"
#include "search/lx_plan.h"
#include "search/solver.h"
#include "search/stream.h"

static const struct solver *find_or_fail(enum stage stage, const char *name)
{
	const struct solver *solver = solver_find(stage, name);
	if (!solver)
		BUG("no solver %s/%s", stage_names[stage], name);
	return solver;
}

/* The mappings of divide/spyre, or NULL and why not. */
static const struct mapping *divide(
	const struct recipe *recipe, struct recipe_result *result, struct arena *arena)
{
	struct problem problem = {
		.stage = STAGE_DIVIDE,
		.arch = recipe->arch,
		.workload = recipe->workload,
		.planning = &recipe->planning,
		.op = -1,
	};
	struct answer answer =
		solve(find_or_fail(STAGE_DIVIDE, "spyre"), &problem, 0, recipe->seed, arena);
	result->ticks += answer.ticks;
	result->complaint_count = answer.complaint_count;
	result->complaints = answer.complaints;
	for (size_t i = 0; i < answer.complaint_count; i++)
		if (answer.complaints[i].error) {
			result->why = answer.complaints[i].text;
			return NULL;
		}
	if (!answer.candidate_count) {
		result->why = "no legal division";
		return NULL;
	}
	return answer.candidates[0].mappings;
}

static const struct mapping *flip(const struct recipe *recipe, const struct mapping *from,
	struct recipe_result *result, struct arena *arena)
{
	struct problem problem = {
		.stage = STAGE_JOINT,
		.arch = recipe->arch,
		.workload = recipe->workload,
		.planning = &recipe->planning,
		.op = -1,
		.division = from,
		.place_solver = recipe->place,
	};
	struct answer answer = solve(find_or_fail(STAGE_JOINT, "dimflip"), &problem,
		recipe->joint_ticks, recipe->seed, arena);
	result->ticks += answer.ticks;
	result->cut = answer.cut;
	return answer.candidate_count ? answer.candidates[answer.candidate_count - 1].mappings
				      : from;
}

/* No solver is trusted: the plan passes the rules of plan_check or is none. */
static struct plan *check_plan(struct plan *plan, struct recipe_result *result, struct arena *arena)
{
	struct plan_faults faults = plan_check(plan, arena);
	if (!faults.count)
		return plan;
	result->why = arena_format(arena, "the plan is illegal: %s", faults.at[0].why);
	return NULL;
}

struct recipe_result recipe_plan(const struct recipe *recipe, struct arena *arena)
{
	struct recipe_result result = {0};
	result.mappings = recipe->mappings;
	if (recipe->division != DIVISION_GIVEN)
		result.mappings = divide(recipe, &result, arena);
	if (result.mappings && recipe->division == DIVISION_DIMFLIP)
		result.mappings = flip(recipe, result.mappings, &result, arena);
	if (!result.mappings)
		return result;

	struct lx_plan_result planned = lx_plan(recipe->arch, recipe->workload, result.mappings,
		&recipe->planning, find_or_fail(STAGE_PLACE, recipe->place), arena);
	result.ticks += planned.ticks;
	result.reason_count = planned.reason_count;
	result.reasons = planned.reasons;
	result.why = planned.why;
	if (planned.plan && stream_plan(planned.plan, arena, &result.why))
		result.plan = check_plan(planned.plan, &result, arena);
	return result;
}
