#include "solvers/broadcast/tree.h"

#include "base/arena.h"

/* Over the links of a full topology, or of a tree whose root is its own. */
static void run_binary_tree(struct run *run, const struct problem *problem)
{
	const struct synthesis *synthesis = problem->synthesis;
	const struct topology *topology = synthesis->topology;
	bool own = topology->kind == TOPOLOGY_TREE && topology->root == 0;
	int *parents = arena_array(run_arena(run), int, topology->ranks);
	if (!broadcast_full(topology) && !own)
		return;
	parents[topology->root] = -1;
	for (int step = 1; step < topology->ranks; step++)
		parents[broadcast_rank(topology, step)] = broadcast_rank(topology, (step - 1) / 2);
	tree_offer(run, synthesis, parents);
}

const struct solver broadcast_binary_tree_solver = {
	.stage = STAGE_BROADCAST,
	.name = "binary_tree",
	.summary = "a tree of two children each, in heap order, pipelined",
	.purposes = FOR_SCHEDULES,
	.run = run_binary_tree,
};
