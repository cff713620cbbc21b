#include "base/arena.h"
#include "solvers/map/local/chain.h"

#include <math.h>

/*
 * Descent by moves of one factor, one place or one residency: the first move found that makes
 * a mapping better is made, until none does.  Then it starts anew, by turns from a few random
 * moves away from the best mapping of the chain and from a mapping drawn.
 */
enum { KICKS = 4, NEARBY = 4 }; /* one start in so many is drawn */

static void shuffle(struct random *random, struct nest_move *moves, size_t count)
{
	for (size_t i = count; i > 1; i--) {
		size_t k = (size_t)random_below(random, i);
		struct nest_move kept = moves[i - 1];
		moves[i - 1] = moves[k];
		moves[k] = kept;
	}
}

/* One better mapping among those a move away; *better says whether there is one. */
static bool improve(struct nest_chain *chain, struct nest_trial *at, bool *better)
{
	struct arena_mark mark = arena_mark(chain->arena);
	size_t count;
	struct nest_move *moves =
		nest_moves_list(&chain->moves, &at->mapping, chain->arena, &count);
	bool good = true;
	*better = false;
	shuffle(&chain->random, moves, count);
	for (size_t i = 0; i < count && good && !*better; i++) {
		struct nest_trial next = *at;
		if (!nest_move(&chain->moves, &moves[i], &next.mapping))
			continue;
		good = nest_chain_price(chain, &next);
		*better = good && next.value < at->value;
		if (*better)
			*at = next;
	}
	arena_release(chain->arena, mark);
	return good;
}

static bool descend(struct nest_chain *chain, struct nest_trial *at)
{
	bool good = true;
	for (bool better = true; good && better;)
		good = improve(chain, at, &better);
	return good;
}

static bool kick(struct nest_chain *chain, struct nest_trial *at)
{
	for (int i = 0; i < KICKS; i++)
		nest_moves_step(&chain->moves, &chain->random, &at->mapping);
	return nest_chain_price(chain, at);
}

static void run_greedy(struct run *run, const struct problem *problem)
{
	struct nest_chain chain = nest_chain_open(run, problem);
	struct nest_trial best = {.value = INFINITY}, at;
	bool good = nest_chain_start(&chain, false, &at);
	for (int start = 1; good; start++) {
		good = descend(&chain, &at);
		if (at.value <= best.value)
			best = at;
		at = best;
		if (good)
			good = start % NEARBY ? kick(&chain, &at)
					      : nest_chain_start(&chain, true, &at);
	}
	nest_chain_close(&chain);
}

const struct solver map_greedy_solver = {
	.stage = STAGE_MAP,
	.name = "greedy",
	.summary = "descent by moves of one factor or place, with restarts",
	.sharing = SHARING_CHAINS,
	.run = run_greedy,
};
