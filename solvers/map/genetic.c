#include "base/arena.h"
#include "solvers/map/local/chain.h"

#include <math.h>

/*
 * Islands that know nothing of each other.  A child takes each dimension's bounds, each level's
 * order and each free residency from one of its parents, and a few random moves; it takes the
 * place of a worse one, if no other is worth the same.
 */
enum { PEOPLE_LEAST = 8, PEOPLE_MOST = 64, CHILDREN = 40, MENDS = 4, MOVES_MOST = 3, RIVALS = 3 };

struct island {
	struct nest_chain chain;
	int count;
	struct nest_trial people[PEOPLE_MOST];
};

static bool flip(struct random *random)
{
	return random_below(random, 2);
}

/* The best, or worst, of a few. */
static struct nest_trial *pick(struct island *island, bool best)
{
	struct nest_trial *picked = NULL;
	for (int i = 0; i < RIVALS; i++) {
		uint64_t k = random_below(&island->chain.random, (uint64_t)island->count);
		struct nest_trial *rival = &island->people[k];
		if (!picked || (best ? rival->value < picked->value : rival->value > picked->value))
			picked = rival;
	}
	return picked;
}

static struct mapping cross(
	struct nest_chain *chain, const struct mapping *mother, const struct mapping *father)
{
	const struct space *space = chain->moves.space;
	struct mapping child = *mother;
	for (int d = 0; d < space->domain->shape->dimension_count; d++) {
		int64_t bounds[FACTORS_LOOPS_MOST];
		nest_moves_bounds(&chain->moves, father, d, bounds);
		if (flip(&chain->random))
			space_set_factors(space, d, bounds, &child);
	}
	for (int i = 0; i < space->level_count; i++)
		if (flip(&chain->random))
			nest_moves_copy_order(&chain->moves, i, father, &child);
	for (int b = 0; b < space->free_count; b++) {
		uint32_t bit = 1u << space->free[b].row, t = space->free[b].space;
		if (flip(&chain->random))
			child.residency[t] =
				(child.residency[t] & ~bit) | (father->residency[t] & bit);
	}
	return nest_moves_adopt(&chain->moves, &child);
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
		good = nest_chain_start(
			&island->chain, island->count > 0, &island->people[island->count]);
		island->count += good;
	}
	return good;
}

static bool breed(struct island *island)
{
	struct nest_chain *chain = &island->chain;
	struct nest_trial child;
	child.mapping = cross(chain, &pick(island, true)->mapping, &pick(island, true)->mapping);
	for (int moves = 1 + (int)random_below(&chain->random, MOVES_MOST); moves > 0; moves--)
		nest_moves_step(&chain->moves, &chain->random, &child.mapping);
	if (!nest_chain_settle(chain, MENDS, &child))
		return false;
	struct nest_trial *worse = pick(island, false);
	if (child.value < worse->value && !is_there(island, child.value))
		*worse = child;
	return true;
}

static void run_genetic(struct run *run, const struct problem *problem)
{
	struct arena *arena = arena_open();
	struct island *island = arena_new(arena, struct island);
	island->chain = nest_chain_open(run, problem);
	bool good = settle_people(island);
	while (good)
		good = breed(island);
	nest_chain_close(&island->chain);
	arena_close(arena);
}

const struct solver map_genetic_solver = {
	.stage = STAGE_MAP,
	.name = "genetic",
	.summary = "islands of mappings that cross and mutate",
	.sharing = SHARING_CHAINS,
	.run = run_genetic,
};
