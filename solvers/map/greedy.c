#include "base/arena.h"
#include "solvers/map/local/chain.h"

#include <math.h>

/*
 * Descent by moves of one factor, one place or one residency: the first move found that makes
 * a mapping better is made, until none does.  Then it starts anew, by turns from a few random
 * moves away from the best mapping of the chain and from a mapping drawn.
 */
OPTIONS(GREEDY_OPTIONS)

static void shuffle(struct random *random, struct map_move *moves, size_t count)
{
	for (size_t i = count; i > 1; i--) {
		size_t k = (size_t)random_below(random, i);
		struct map_move kept = moves[i - 1];
		moves[i - 1] = moves[k];
		moves[k] = kept;
	}
}

/* One better mapping among those a move away; *better says whether there is one. */
static bool improve(struct local_chain *chain, struct local_trial *at, bool *better)
{
	struct arena_mark mark = arena_mark(chain->arena);
	size_t count;
	struct map_move *moves = map_moves_list(&chain->moves, &at->mapping, chain->arena, &count);
	bool good = true;
	*better = false;
	shuffle(&chain->random, moves, count);
	for (size_t i = 0; i < count && good && !*better; i++) {
		struct local_trial next = *at;
		if (!map_move(&chain->moves, &moves[i], &next.mapping))
			continue;
		good = local_chain_price(chain, &next);
		*better = good && next.value < at->value;
		if (*better)
			*at = next;
	}
	arena_release(chain->arena, mark);
	return good;
}

static bool descend(struct local_chain *chain, struct local_trial *at)
{
	bool good = true;
	for (bool better = true; good && better;)
		good = improve(chain, at, &better);
	return good;
}

static bool kick(struct local_chain *chain, struct local_trial *at)
{
	for (int i = 0; i < KICKS; i++)
		map_moves_step(&chain->moves, &chain->random, &at->mapping);
	return local_chain_price(chain, at);
}

static void run_greedy(struct run *run, const struct problem *problem)
{
	struct local_chain chain = local_chain_open(run, problem);
	struct local_trial best = {.value = INFINITY}, at;
	bool good = local_chain_start(&chain, false, &at);
	for (int start = 1; good; start++) {
		good = descend(&chain, &at);
		if (at.value <= best.value)
			best = at;
		at = best;
		if (good)
			good = start % NEARBY ? kick(&chain, &at)
					      : local_chain_start(&chain, true, &at);
	}
	local_chain_close(&chain);
}

const struct solver map_greedy_solver = {
	.stage = STAGE_MAP,
	.name = "greedy",
	.summary = "descent by moves of one factor or place, with restarts",
	.sharing = SHARING_CHAINS,
	.run = run_greedy,
};
