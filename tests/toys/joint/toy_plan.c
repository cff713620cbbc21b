#include "base/arena.h"
#include "search/joint/joint_plan.h"

static bool is_all_in_hbm(const struct joint_option *option)
{
	for (int u = 0; u < option->use_count; u++)
		if (option->uses[u].mode != JOINT_HBM)
			return false;
	for (int o = 0; o < option->out_count; o++)
		if (option->outs[o].view >= 0)
			return false;
	return true;
}

/* Every tensor in HBM, every op a bundle of its own and as good as it can be. */
static void run_toy(struct run *run, const struct problem *problem)
{
	const struct joint_space *space = joint_plan_space(run, problem);
	struct joint_answer answer = {0};
	if (!space)
		return;
	struct joint_step *steps = arena_array(run_arena(run), struct joint_step, space->op_count);
	for (int op = 0; op < space->op_count; op++) {
		struct joint_step *step = &steps[answer.count++];
		int64_t least = JOINT_NEVER;
		*step = (struct joint_step){.kind = JOINT_OPTION, .begins_bundle = true};
		for (size_t i = space->first_option[op]; i < space->first_option[op + 1]; i++)
			if (is_all_in_hbm(&space->options[i]) && space->options[i].value < least) {
				least = space->options[i].value;
				step->option = i;
			}
	}
	answer.steps = steps;
	answer.value = joint_value(space, &answer, run_arena(run), NULL);
	if (joint_plan_offer(run, space, &answer))
		run_prove(run, PROOF_BOUND, 1);
}

const struct solver joint_toy_plan_solver = {
	.stage = STAGE_JOINT,
	.name = "toy_plan",
	.summary = "nothing in LX",
	.plans_all = true,
	.run = run_toy,
};
