#include "base/arena.h"
#include "solvers/map/local/chain.h"

#include <math.h>

/*
 * Islands that know nothing of each other.  A child takes each dimension's bounds, each level's
 * order and each free residency from one of its parents, and a few random moves; it takes the
 * place of a worse one, if no other is worth the same.
 */
OPTIONS(GENETIC_OPTIONS)

struct island {
	struct local_chain chain;
	int count;
	struct local_trial people[PEOPLE_MOST];
};

static bool flip(struct random *random)
{
	return random_below(random, 2);
}

/* The best, or worst, of a few. */
static struct local_trial *pick(struct island *island, bool best)
{
	struct local_trial *picked = NULL;
	for (int i = 0; i < RIVALS; i++) {
		uint64_t k = random_below(&island->chain.random, (uint64_t)island->count);
		struct local_trial *rival = &island->people[k];
		if (!picked || (best ? rival->value < picked->value : rival->value > picked->value))
			picked = rival;
	}
	return picked;
}

static struct mapping cross(
	struct local_chain *chain, const struct mapping *mother, const struct mapping *father)
{
	const struct space *space = chain->moves.space;
	struct mapping child = *mother;
	for (int d = 0; d < space->domain->shape->dimension_count; d++) {
		int64_t bounds[FACTORS_LOOPS_MOST];
		map_moves_bounds(&chain->moves, father, d, bounds);
		if (flip(&chain->random))
			space_set_factors(space, d, bounds, &child);
	}
	for (int i = 0; i < space->level_count; i++)
		if (flip(&chain->random))
			map_moves_copy_order(&chain->moves, i, father, &child);
	for (int b = 0; b < space->free_count; b++) {
		uint32_t bit = 1u << space->free[b].row, t = space->free[b].space;
		if (flip(&chain->random))
			child.residency[t] =
				(child.residency[t] & ~bit) | (father->residency[t] & bit);
	}
	return map_moves_adopt(&chain->moves, &child);
}

static bool is_there(const struct island *island, double value)
{
	for (int i = 0; i < island->count; i++)
		if (island->people[i].value == value)
			return true;
	return false;
}

static bool settle_people(struct island *island)
{
	bool good = true;
	uint64_t count = island->chain.evaluations / CHILDREN;
	count = count < PEOPLE_LEAST ? PEOPLE_LEAST : count > PEOPLE_MOST ? PEOPLE_MOST : count;
	while (good && island->count < (int)count) {
		good = local_chain_start(
			&island->chain, island->count > 0, &island->people[island->count]);
		island->count += good;
	}
	return good;
}

static bool breed(struct island *island)
{
	struct local_chain *chain = &island->chain;
	struct local_trial child;
	child.mapping = cross(chain, &pick(island, true)->mapping, &pick(island, true)->mapping);
	for (int moves = 1 + (int)random_below(&chain->random, MUTATIONS_MOST); moves > 0; moves--)
		map_moves_step(&chain->moves, &chain->random, &child.mapping);
	if (!local_chain_settle(chain, CHILD_MENDS, &child))
		return false;
	struct local_trial *worse = pick(island, false);
	if (child.value < worse->value && !is_there(island, child.value))
		*worse = child;
	return true;
}

static void run_genetic(struct run *run, const struct problem *problem)
{
	struct arena *arena = arena_open();
	struct island *island = arena_new(arena, struct island);
	island->chain = local_chain_open(run, problem);
	bool good = settle_people(island);
	while (good)
		good = breed(island);
	local_chain_close(&island->chain);
	arena_close(arena);
}

const struct solver map_genetic_solver = {
	.stage = STAGE_MAP,
	.name = "genetic",
	.summary = "islands of mappings that cross and mutate",
	.sharing = SHARING_CHAINS,
	.run = run_genetic,
};
