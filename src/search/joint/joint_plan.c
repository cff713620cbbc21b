#include "search/joint/joint_plan.h"

#include "base/arena.h"
#include "search/joint/joint_build.h"
#include "search/joint/joint_claim.h"
#include "search/joint/joint_nests.h"

const struct joint_space *joint_plan_space(struct run *run, const struct problem *problem)
{
	if (problem->joint)
		return problem->joint;
	struct joint_question question = {.arch = problem->arch,
		.workload = problem->workload,
		.planning = problem->planning,
		.aim = *problem->aim};
	const char *why;
	const struct joint_space *space = joint_graph_make(&question, run_arena(run), &why);
	if (!space)
		run_complain(run, true, -1, "%s", why);
	return space;
}

bool joint_plan_offer(
	struct run *run, const struct joint_space *space, const struct joint_answer *answer)
{
	struct arena *arena = run_arena(run);
	struct candidate candidate = {
		.stage = STAGE_JOINT, .joint = arena_copy(arena, answer, sizeof *answer)};
	if (space->graph) {
		struct joint_packing packing = joint_pack(space, answer, run, 0, arena);
		if (packing.status != VERDICT_YES)
			return false;
		const struct joint_graph *graph = space->graph;
		struct plan *plan = joint_build(space, answer, &packing, arena);
		plan->proof.space = joint_claim_text(arena, &graph->question);
		joint_nests_polish(graph, plan, arena);
		candidate.plan = plan;
	}
	run_offer(run, &candidate, (double)answer->value);
	return true;
}

void joint_plan_prove(
	struct run *run, const struct joint_space *space, enum proof_status status, double bound)
{
	const struct joint_graph *graph = space->graph;
	if (!graph || !graph->unproven)
		run_prove(run, status, bound);
}
