#include "base/arena.h"
#include "search/drive/solver.h"
#include "search/joint/joint_plan.h"
#include "solvers/joint/cut_dp/frame.h"
#include "solvers/joint/cut_dp/search.h"

static void cut_dp_run(struct run *run, const struct problem *problem)
{
	const char *why = NULL;
	const struct joint_space *space = joint_plan_space(run, problem);
	if (!space)
		return;
	const struct frame *frame = frame_make(space, run_arena(run), &why);
	if (frame)
		search(run, frame);
	else
		run_complain(run, false, -1, "cut_dp does not search this space: %s", why);
}

const struct solver joint_cut_dp_solver = {
	.stage = STAGE_JOINT,
	.name = "cut_dp",
	.summary =
		"shortest path over the cuts between ops: divisions, residency, movement, bundles at once",
	.purposes = FOR_PLANS,
	.proves = true,
	.plans_all = true,
	.run = cut_dp_run,
};
