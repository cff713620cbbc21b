#include "solvers/map/local/chain.h"

#include <math.h>

/*
 * Simulated annealing: a worse mapping takes the place of the last one with probability
 * (old value / new value)^(1/T).  T falls geometrically over what is left of the chain's budget;
 * where nothing changes any more the chain starts anew, warm, from a mapping drawn.
 */
OPTIONS(ANNEAL_OPTIONS)

/* In (0, 1]. */
static double draw_chance(struct random *random)
{
	return (double)((random_next(random) >> 11) + 1) / (double)(UINT64_C(1) << 53);
}

/* From one start until nothing changes; `n` counts the moves of the chain. */
static bool cool(struct local_chain *chain, struct local_trial *at, uint64_t *n)
{
	const double warm = WARM_PERMILLE / 1000.0, cold = COLD_PERMILLE / 1000.0;
	double left = fmax((double)chain->evaluations - (double)*n, STILL_MOVES);
	for (uint64_t still = 0, first = *n; still < STILL_MOVES; ++*n) {
		struct local_trial next = *at;
		double temperature = warm * pow(cold / warm, fmin((double)(*n - first) / left, 1));
		if (!map_moves_step(&chain->moves, &chain->random, &next.mapping) ||
			!local_chain_price(chain, &next))
			return false;
		double worse = next.value - at->value, chance = draw_chance(&chain->random);
		bool taken = worse <= -temperature * log(chance);
		still = taken && worse != 0 ? 0 : still + 1;
		if (taken)
			*at = next;
	}
	return true;
}

static void run_anneal(struct run *run, const struct problem *problem)
{
	struct local_chain chain = local_chain_open(run, problem);
	struct local_trial at;
	uint64_t n = 0;
	bool good = local_chain_start(&chain, false, &at);
	while (good && cool(&chain, &at, &n))
		good = local_chain_start(&chain, true, &at);
	local_chain_close(&chain);
}

const struct solver map_anneal_solver = {
	.stage = STAGE_MAP,
	.name = "anneal",
	.summary = "simulated annealing, chains from random starts",
	.purposes = FOR_STARTS,
	.sharing = SHARING_CHAINS,
	.run = run_anneal,
};
