#include "solvers/broadcast/tree.h"

/* The root sends to each rank, the last one first. */
static void run_toy(struct run *run, const struct problem *problem)
{
	const struct synthesis *synthesis = problem->synthesis;
	const struct topology *topology = synthesis->topology;
	struct arena *arena = run_arena(run);
	struct messages messages = {0};
	int round = 0;
	for (int64_t chunk = 0; chunk < synthesis->chunks; chunk++)
		for (int step = topology->ranks - 1; step > 0; step--)
			*array_add(arena, &messages) = (struct message){
				round++, topology->root, broadcast_rank(topology, step), chunk, 1};
	messages_offer(run, problem, &messages);
}

const struct solver broadcast_toy_solver = {
	.stage = STAGE_BROADCAST,
	.name = "toy",
	.summary = "the root sends to each rank, the last one first",
	.run = run_toy,
};
