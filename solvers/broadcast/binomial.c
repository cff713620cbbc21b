#include "solvers/broadcast/tree.h"

/* Round k of a chunk doubles who has it. */
static void run_binomial(struct run *run, const struct problem *problem)
{
	const struct synthesis *synthesis = problem->synthesis;
	const struct topology *topology = synthesis->topology;
	struct messages messages = {0};
	int round = 0;
	if (!broadcast_full(topology))
		return;
	for (int64_t chunk = 0; chunk < synthesis->chunks; chunk++)
		for (int have = 1; have < topology->ranks; have *= 2, round++)
			for (int step = 0; step < have && step + have < topology->ranks; step++)
				*array_add(run_arena(run), &messages) =
					(struct message){round, broadcast_rank(topology, step),
						broadcast_rank(topology, step + have), chunk, 1};
	messages_offer(run, problem, &messages);
}

const struct solver broadcast_binomial_solver = {
	.stage = STAGE_BROADCAST,
	.name = "binomial",
	.summary = "in each round all ranks that have the chunk send it on; then the next chunk",
	.purposes = FOR_SCHEDULES,
	.run = run_binomial,
};
