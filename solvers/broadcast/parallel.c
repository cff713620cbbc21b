#include "solvers/broadcast/tree.h"

#include "base/arena.h"

static void run_parallel(struct run *run, const struct problem *problem)
{
	const struct synthesis *synthesis = problem->synthesis;
	const struct topology *topology = synthesis->topology;
	int *parents = arena_array(run_arena(run), int, topology->ranks);
	if (topology->ports == PORTS_ONE || !broadcast_fans(topology))
		return;
	for (int r = 0; r < topology->ranks; r++)
		parents[r] = r == topology->root ? -1 : topology->root;
	tree_offer(run, synthesis, parents);
}

const struct solver broadcast_parallel_solver = {
	.stage = STAGE_BROADCAST,
	.name = "parallel",
	.summary = "the root sends each chunk to all ranks at once, where it has the ports",
	.purposes = FOR_SCHEDULES,
	.run = run_parallel,
};
