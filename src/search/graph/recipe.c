#include "search/graph/recipe.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"
#include "constraints/graph.h"
#include "model/graph/plan_check.h"
#include "search/drive/solver.h"
#include "search/graph/lx.h"
#include "search/graph/nests.h"
#include "search/graph/plans.h"
#include "search/graph/stream.h"

/* A division of all ops, the last that the solver offers; NULL, and why not. */
static const struct mapping *ask_divider(const struct recipe *recipe, const struct solver *solver,
	const struct mapping *from, struct recipe_result *result, struct arena *arena)
{
	struct problem problem = {
		.stage = solver->stage,
		.arch = recipe->arch,
		.workload = recipe->workload,
		.planning = &recipe->planning,
		.op = -1,
		.division = from,
		.place = recipe->place,
	};
	struct asker asker = {.jobs = 1, .stopper = recipe->planning.stopper};
	uint64_t ticks = solver->stage == STAGE_JOINT ? recipe->joint_ticks : 0;
	struct answer answer = solve_for(&asker, solver, &problem, ticks, recipe->seed, arena);
	result->ticks += answer.ticks;
	effort_add(&result->effort, &answer.effort);
	if (solver->stage == STAGE_JOINT) {
		result->cut = answer.cut;
	} else {
		result->complaint_count = answer.complaint_count;
		result->complaints = answer.complaints;
	}
	for (size_t i = 0; i < answer.complaint_count; i++)
		if (answer.complaints[i].error) {
			result->why = answer.complaints[i].text;
			return NULL;
		}
	if (!answer.candidate_count) {
		result->why = "no legal division";
		return NULL;
	}
	return answer.candidates[answer.candidate_count - 1].mappings;
}

/* Returns the planner's reason why a tensor is not where it must live. */
static const char *find_reason(
	const struct recipe_result *result, const struct plan *plan, const char *tensor)
{
	for (size_t i = 0; tensor && i < result->reason_count; i++)
		if (text_equal(plan->workload->tensors[result->reasons[i].tensor].name, tensor))
			return result->reasons[i].text;
	return NULL;
}

/* No solver is trusted: the plan passes the rules of plan_check and the constraints, or is none. */
static struct plan *recipe_check_plan(struct plan *plan, const struct recipe *recipe,
	struct recipe_result *result, struct arena *arena)
{
	struct plan_faults faults = plan_check(plan, arena);
	if (faults.count) {
		result->why = arena_format(arena, "the plan is illegal: %s", faults.at[0].why);
		return NULL;
	}
	const char *why = NULL;
	bool nests = op_constraints_any(plan->arch);
	for (int step = 0; nests && !why && step < plan->step_count; step++)
		why = op_constraints_check(plan, step, NULL, arena);
	if (why) {
		result->why = why;
		return NULL;
	}
	result->broken = graph_check(recipe->planning.constraints, plan, arena, &why);
	if (!result->broken)
		return plan;
	const char *reason = find_reason(result, plan, result->broken->subject);
	result->why = reason ? arena_format(arena, "%s: %s", why, reason) : why;
	return NULL;
}

/* Returns the divisions of the ops of the workload in a plan, without the moves that were put into it. */
static const struct mapping *divisions_of(
	const struct plan *plan, const struct workload *workload, struct arena *arena)
{
	struct mapping *mappings = arena_array(arena, struct mapping, workload->op_count);
	struct names ops = {0};
	for (size_t i = 0; i < workload->op_count; i++)
		names_add(arena, &ops, workload->ops[i].name, (int)i);
	for (int s = 0; s < plan->step_count; s++) {
		const struct op *op = &plan->workload->ops[plan->steps[s].op];
		const struct mapping *mapping = &plan->steps[s].mapping;
		int i = op->move ? -1 : names_find(&ops, op->name);
		if (i < 0)
			continue;
		mappings[i] = mapping_make(plan->arch, &workload->ops[i]);
		if (plan->arch->core >= 0 && arch_moves_boxes(plan->arch))
			mappings[i].rows[plan->arch->core] = mapping->rows[plan->arch->core];
	}
	return mappings;
}

/* True if the stopper ended a part; it says so at every later call. */
static bool recipe_stops(const struct recipe *recipe, struct recipe_result *result)
{
	result->stopped = stopper_stops(&recipe->planning.stopper);
	if (result->stopped)
		result->why = "it was asked to stop";
	return result->stopped;
}

/* Whole nests are not divided: their rows are filled once residency is known. */
static const struct mapping *leave_undivided(const struct recipe *recipe, struct arena *arena)
{
	const struct workload *workload = recipe->workload;
	struct mapping *mappings = arena_array(arena, struct mapping, workload->op_count);
	for (size_t o = 0; o < workload->op_count; o++)
		mappings[o] = mapping_make(recipe->arch, &workload->ops[o]);
	return mappings;
}

static const struct mapping *recipe_divide(
	const struct recipe *recipe, struct recipe_result *result, struct arena *arena)
{
	if (recipe->mappings)
		return recipe->mappings;
	if (!arch_moves_boxes(recipe->arch))
		return leave_undivided(recipe, arena);
	const struct mapping *mappings = ask_divider(recipe,
		recipe->divide ? recipe->divide : solver_for(STAGE_DIVIDE, FOR_GRAPHS), NULL,
		result, arena);
	return mappings && recipe->joint
		       ? ask_divider(recipe, recipe->joint, mappings, result, arena)
		       : mappings;
}

const struct constraints *recipe_constraints(const struct recipe *recipe)
{
	const struct constraints *constraints = recipe->planning.constraints;
	return constraints && constraints->problem ? constraints : NULL;
}

/* Fills the choices of streaming tiles, or whole nests. */
static bool fill_steps(struct plan *plan, const struct recipe *recipe, struct recipe_result *result,
	struct arena *arena)
{
	const struct nests_wanted wanted = {op_map_objective(plan->arch, recipe->goal), recipe->map,
		recipe->kept, recipe->planning.stopper, recipe_constraints(recipe),
		recipe->planning.price, recipe->brief};
	if (recipe->nest) {
		plan->steps[0].mapping = *recipe->nest;
		return true;
	}
	if (!arch_moves_boxes(plan->arch))
		return nests_plan(plan, &wanted, arena, &result->why);
	result->choices =
		stream_ask(plan, recipe->planning.published_tiles, &wanted, arena, &result->why);
	return result->choices;
}

bool recipe_is_whole(const struct recipe *recipe)
{
	return !recipe->given && !recipe->mappings && recipe->joint && recipe->joint->plans_all;
}

/* A plan found before a stop is still a plan. */
static struct recipe_result plan_whole(const struct recipe *recipe, struct arena *arena)
{
	struct recipe_result result = {0};
	struct joint_aim aim = recipe->aim;
	if (!aim.cycles && !aim.energy && !aim.hbm_bytes)
		aim.cycles = 1;
	aim.kept = recipe->kept;
	aim.map = recipe->map;
	struct problem problem = {.stage = STAGE_JOINT,
		.arch = recipe->arch,
		.workload = recipe->workload,
		.planning = &recipe->planning,
		.op = -1,
		.aim = &aim};
	struct asker asker = {
		.jobs = 1, .stopper = recipe->planning.stopper, .progress = recipe->progress};
	struct answer answer =
		solve_for(&asker, recipe->joint, &problem, recipe->plan_ticks, recipe->seed, arena);
	result.ticks = answer.ticks;
	result.effort = answer.effort;
	result.cut = answer.cut && !aim.brief;
	if (aim.brief) { /* of a part of the space */
		answer.status = PROOF_NONE;
		answer.bound = 0;
	}
	if (answer.status == PROOF_OPTIMAL || answer.status == PROOF_BOUND)
		result.bound = answer.bound;
	if (!answer.candidate_count) {
		result.why = answer.complaint_count ? answer.complaints[0].text
						    : "the joint search found no plan";
		recipe_stops(recipe, &result);
		return result;
	}
	size_t last = answer.candidate_count - 1;
	struct plan *plan = arena_copy(arena, answer.candidates[last].plan, sizeof *plan);
	plan->proof = (struct proof){.status = answer.status,
		.method = solver_label(arena, recipe->joint),
		.space = plan->proof.space,
		.value = answer.values[last] / plans_unit(&aim),
		.bound = answer.bound / plans_unit(&aim)};
	result.plan = plan;
	result.mappings = divisions_of(plan, recipe->workload, arena);
	return result;
}

struct recipe_result recipe_lay_out(const struct recipe *recipe, struct arena *arena)
{
	struct recipe_result result = {.mappings = recipe->mappings};
	if (recipe->given) {
		result.mappings = divisions_of(recipe->given, recipe->workload, arena);
		result.plan = arena_copy(arena, recipe->given, sizeof *recipe->given);
		return result;
	}
	if (recipe_is_whole(recipe))
		return plan_whole(recipe, arena);
	result.mappings = recipe_divide(recipe, &result, arena);
	if (recipe_stops(recipe, &result) || !result.mappings)
		return result;

	struct lx_plan_result planned = lx_plan(recipe->arch, recipe->workload, result.mappings,
		&recipe->planning, recipe->place, arena);
	result.ticks += planned.ticks;
	result.reason_count = planned.reason_count;
	result.reasons = planned.reasons;
	result.why = planned.why;
	if (planned.plan && fill_steps(planned.plan, recipe, &result, arena) &&
		!recipe_stops(recipe, &result))
		result.plan = planned.plan;
	if (!result.plan)
		recipe_stops(recipe, &result);
	return result;
}

struct recipe_result recipe_tile(
	const struct recipe *recipe, const struct recipe_result *laid_out, struct arena *arena)
{
	struct recipe_result result = *laid_out;
	if (!result.plan)
		return result;
	struct plan *plan = arena_copy(arena, result.plan, sizeof *plan);
	plan->steps =
		arena_copy(arena, plan->steps, (size_t)plan->step_count * sizeof *plan->steps);
	if (result.choices && recipe->tiles)
		stream_take(plan, 0, recipe->tiles);
	else if (result.choices)
		stream_choose(plan, result.choices,
			recipe->planning.published_tiles ? TILES_PUBLISHED : recipe->goal);
	result.plan = recipe_check_plan(plan, recipe, &result, arena);
	if (!result.plan && !recipe->given)
		recipe_stops(recipe, &result);
	return result;
}

void recipe_own(struct recipe *recipe, struct arena *arena)
{
	if (recipe->nest)
		recipe->nest = arena_copy(arena, recipe->nest, sizeof *recipe->nest);
	if (!recipe->tiles)
		return;
	struct op_option *tiles = arena_copy(arena, recipe->tiles, sizeof *tiles);
	if (tiles->nest)
		tiles->nest = arena_copy(arena, tiles->nest, sizeof *tiles->nest);
	recipe->tiles = tiles;
}

struct recipe_result recipe_plan(const struct recipe *recipe, struct arena *arena)
{
	struct recipe_result laid_out = recipe_lay_out(recipe, arena);
	return recipe_tile(recipe, &laid_out, arena);
}
