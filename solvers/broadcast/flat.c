#include "solvers/broadcast/tree.h"

/* Only over links of the root: nobody else sends. */
static void run_flat(struct run *run, const struct problem *problem)
{
	const struct synthesis *synthesis = problem->synthesis;
	const struct topology *topology = synthesis->topology;
	struct arena *arena = run_arena(run);
	struct messages messages = {0};
	int round = 0;
	if (!broadcast_fans(topology))
		return;
	for (int64_t chunk = 0; chunk < synthesis->chunks; chunk++)
		for (int r = 0; r < topology->ranks; r++)
			if (r != topology->root)
				*array_add(arena, &messages) =
					(struct message){round++, topology->root, r, chunk, 1};
	messages_offer(run, problem, &messages);
}

const struct solver broadcast_flat_solver = {
	.stage = STAGE_BROADCAST,
	.name = "flat",
	.summary = "the root sends each chunk to each rank, one by one, as published",
	.purposes = FOR_SCHEDULES,
	.run = run_flat,
};
