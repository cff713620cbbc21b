#include "base/arena.h"
#include "model/graph/workload.h"
#include "search/drive/solver.h"
#include "solvers/divide/two_pass.h"

/* The first op runs on one core, the others as they were divided. */
static void run_toy(struct run *run, const struct problem *problem)
{
	const struct workload *workload = problem->workload;
	struct mapping *mappings = arena_copy(
		run_arena(run), problem->division, workload->op_count * sizeof *mappings);
	int64_t splits[OP_LOOPS_MOST];
	for (int l = 0; l < OP_LOOPS_MOST; l++)
		splits[l] = 1;
	mappings[0] = core_row_mapping(problem->arch, problem->planning, &workload->ops[0], splits);
	struct candidate candidate = {.stage = STAGE_JOINT, .mappings = mappings};
	run_offer(run, &candidate, 0);
}

const struct solver joint_toy_solver = {
	.stage = STAGE_JOINT,
	.name = "toy",
	.summary = "the first op on one core",
	.run = run_toy,
};
