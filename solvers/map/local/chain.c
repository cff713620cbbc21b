#include "solvers/map/local/chain.h"

#include "base/arena.h"

#include <math.h>

static double draw_part(struct random *random)
{
	return (double)(1 + random_below(random, 1000)) / 1000;
}

static void set_weights(struct local_chain *chain)
{
	size_t count = chain->search->wishes.objectives.count;
	double sum = 0;
	for (size_t i = 0; i < count; i++) {
		chain->weights[i] = draw_part(&chain->random);
		if (count == 2 && chain->count > 1) {
			double second = (double)chain->number / (double)(chain->count - 1);
			chain->weights[i] = i ? second : 1 - second;
		}
		sum += chain->weights[i];
	}
	for (size_t i = 0; i < count; i++)
		chain->weights[i] /= sum;
}

struct local_chain local_chain_open(struct run *run, const struct problem *problem)
{
	const struct nest_search *search = problem->nest;
	struct local_chain chain = {
		.arena = arena_open(),
		.search = search,
		.offers = nest_offers_open(run, search),
		.moves = map_moves_make(search->space),
		.random = random_open(search->wishes.seed, problem->first),
		.number = problem->first,
		.count = problem->end,
		.evaluations = search->wishes.budget / problem->end,
	};
	set_weights(&chain);
	return chain;
}

void local_chain_close(struct local_chain *chain)
{
	nest_offers_close(&chain->offers);
	arena_close(chain->arena);
}

static double value_of(const struct local_chain *chain, const struct score *score)
{
	const struct objectives *objectives = &chain->search->wishes.objectives;
	double value = 0;
	for (size_t i = 0; i < objectives->count; i++)
		value += chain->weights[i] * log1p(objective_value(objectives->at[i], score));
	return value;
}

static bool price(struct local_chain *chain, struct local_trial *trial, struct offer_price *price)
{
	if (!nest_offers_price(&chain->offers, &trial->mapping, price))
		return false;
	bool good = price->verdict == NEST_FITS && !price->broken;
	trial->value = good ? value_of(chain, &price->score) : INFINITY;
	return true;
}

bool local_chain_price(struct local_chain *chain, struct local_trial *trial)
{
	struct offer_price unused;
	return price(chain, trial, &unused);
}

/* Whether what a loop at `from` makes too large gets smaller by a factor that goes to `to`. */
static bool leads_outwards(const struct offer_price *price, const struct tiling_level *from,
	const struct tiling_level *to)
{
	if (to->spatial)
		return false;
	if (price->verdict == NEST_FANOUT)
		return from->spatial && from->level == price->level;
	return from->level <= price->level && to->level > price->level;
}

/* A prime factor of a loop that stands where too much is goes to a temporal loop further out. */
static bool push_outwards(
	struct local_chain *chain, const struct offer_price *price, struct mapping *mapping)
{
	const struct map_moves *moves = &chain->moves;
	struct map_move move = {.kind = MAP_MOVE_BOUND};
	uint64_t met = 0;
	for (int k = 0; k < moves->free_count; k++) {
		int d = moves->free[k];
		int64_t bounds[FACTORS_LOOPS_MOST];
		map_moves_bounds(moves, mapping, d, bounds);
		for (int f = 0; f < moves->loop_count[d]; f++)
			for (int t = 0; t < moves->loop_count[d]; t++) {
				int from = moves->loops[d][f], to = moves->loops[d][t];
				if (bounds[from] == 1 ||
					!leads_outwards(price, &moves->space->levels[from],
						&moves->space->levels[to]) ||
					random_below(&chain->random, ++met))
					continue; /* each that is met equally likely */
				move.dimension = d;
				move.from = from;
				move.level = to;
				move.bound = bounds[to] * map_moves_prime(moves, &chain->random, d,
								  bounds[from]);
			}
	}
	return met && map_move(moves, &move, mapping);
}

/* What exceeds a level or a fan-out is pushed outwards, and priced anew. */
static bool settle(struct local_chain *chain, struct local_trial *trial)
{
	for (int mends = 0;; mends++) {
		struct offer_price found;
		if (!price(chain, trial, &found))
			return false;
		bool large = found.verdict == NEST_FANOUT || found.verdict == NEST_CAPACITY;
		if (!large || mends == START_MENDS ||
			!push_outwards(chain, &found, &trial->mapping))
			return true;
	}
}

bool local_chain_start(struct local_chain *chain, bool anew, struct local_trial *trial)
{
	const struct mapping *start = chain->search->start;
	bool known = start && chain->number == 0 && !anew;
	for (int draws = 0; draws <= START_DRAWS || !start; draws++) {
		if (known || (start && draws == START_DRAWS))
			trial->mapping = map_moves_adopt(&chain->moves, start);
		else
			space_draw(chain->moves.space, &chain->random, &trial->mapping);
		known = false;
		if (!settle(chain, trial))
			return false;
		if (trial->value < INFINITY)
			return true;
	}
	return true;
}
