#include "solvers/broadcast/tree.h"

/* The root sends each rank its chunk, the last one first. */
static void run_toy(struct run *run, const struct problem *problem)
{
	const struct synthesis *synthesis = problem->synthesis;
	const struct topology *topology = synthesis->topology;
	struct messages messages = {0};
	int round = 0;
	for (int step = topology->ranks - 1; step > 0; step--)
		*array_add(run_arena(run), &messages) = (struct message){
			round++, topology->root, broadcast_rank(topology, step), step, 1};
	messages_offer(run, problem, &messages);
}

const struct solver scatter_toy_solver = {
	.stage = STAGE_SCATTER,
	.name = "toy",
	.summary = "the root sends each rank its chunk, the last one first",
	.run = run_toy,
};
