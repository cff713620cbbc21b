#include "solvers/broadcast/tree.h"

#include "base/arena.h"

static void run_shortest_tree(struct run *run, const struct problem *problem)
{
	const struct synthesis *synthesis = problem->synthesis;
	const struct topology *topology = synthesis->topology;
	struct arena *arena = run_arena(run);
	int *parents = arena_array(arena, int, topology->ranks);
	int *distances = arena_array(arena, int, topology->ranks);
	topology_distances(topology, topology->root, distances);
	for (int r = 0; r < topology->ranks; r++)
		parents[r] = topology_before(topology, distances, r);
	tree_offer(run, synthesis, parents);
}

const struct solver broadcast_shortest_tree_solver = {
	.stage = STAGE_BROADCAST,
	.name = "shortest_tree",
	.summary = "a tree of shortest ways over any links, pipelined",
	.purposes = FOR_SCHEDULES,
	.run = run_shortest_tree,
};
