#include "base/arena.h"
#include "model/graph/workload.h"
#include "search/drive/solver.h"
#include "solvers/divide/two_pass.h"

/* Every op runs on one core. */
static void run_toy(struct run *run, const struct problem *problem)
{
	const struct workload *workload = problem->workload;
	struct arena *arena = run_arena(run);
	struct mapping *mappings = arena_array(arena, struct mapping, workload->op_count);
	int64_t splits[OP_LOOPS_MOST];
	for (int l = 0; l < OP_LOOPS_MOST; l++)
		splits[l] = 1;
	for (size_t o = 0; o < workload->op_count; o++)
		mappings[o] = core_row_mapping(
			problem->arch, problem->planning, &workload->ops[o], splits);
	struct candidate candidate = {.stage = STAGE_DIVIDE, .mappings = mappings};
	run_offer(run, &candidate, 0);
}

const struct solver divide_toy_solver = {
	.stage = STAGE_DIVIDE,
	.name = "toy",
	.summary = "all ops on one core",
	.run = run_toy,
};
