#include "solvers/broadcast/tree.h"

#include "base/arena.h"

static void run_parallel(struct run *run, const struct problem *problem)
{
	const struct synthesis *synthesis = problem->synthesis;
	const struct topology *topology = synthesis->topology;
	int *parents = arena_array(run_arena(run), int, topology->ranks);
	if (topology->ports == PORTS_ONE ||
		topology->first[topology->root + 1] - topology->first[topology->root] !=
			topology->ranks - 1)
		return;
	for (int r = 0; r < topology->ranks; r++)
		parents[r] = r == topology->root ? -1 : topology->root;
	if (run_spend(run, (uint64_t)topology->ranks * (uint64_t)synthesis->chunks))
		broadcast_offer(run, tree_schedule(run_arena(run), "parallel", synthesis, parents));
}

const struct solver broadcast_parallel_solver = {
	.stage = STAGE_BROADCAST,
	.name = "parallel",
	.summary = "the root sends each chunk to all ranks at once, where it has the ports",
	.purposes = FOR_SCHEDULES,
	.run = run_parallel,
};
