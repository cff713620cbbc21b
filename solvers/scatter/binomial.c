#include "solvers/broadcast/tree.h"

/*
 * Who has the chunks of a run of ranks sends the half that begins with 2^k to its first rank, k
 * falling: ceil(log2 N) rounds.
 */
static void run_binomial(struct run *run, const struct problem *problem)
{
	const struct synthesis *synthesis = problem->synthesis;
	const struct topology *topology = synthesis->topology;
	struct messages messages = {0};
	int half = 1, round = 0;
	if (!broadcast_full(topology))
		return;
	while (half < topology->ranks)
		half *= 2;
	for (half /= 2; half >= 1; half /= 2, round++)
		for (int step = 0; step + half < topology->ranks; step += 2 * half)
			*array_add(run_arena(run), &messages) =
				(struct message){round, broadcast_rank(topology, step),
					broadcast_rank(topology, step + half), step + half,
					number_min(half, topology->ranks - step - half)};
	messages_offer(run, problem, &messages);
}

const struct solver scatter_binomial_solver = {
	.stage = STAGE_SCATTER,
	.name = "binomial",
	.summary = "halves of what is left go on to the rank in the middle",
	.purposes = FOR_SCHEDULES,
	.run = run_binomial,
};
