#include "solvers/map/local/chain.h"

#include "base/arena.h"

#include <math.h>

/* How often a draw is mended before there is another one; draws before the known start is taken. */
enum { MENDS = 100, DRAWS = 20 };

static double draw_part(struct random *random)
{
	return (double)(1 + random_below(random, 1000)) / 1000;
}

static void set_weights(struct nest_chain *chain)
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

struct nest_chain nest_chain_open(struct run *run, const struct problem *problem)
{
	const struct nest_search *search = problem->nest;
	struct nest_chain chain = {
		.arena = arena_open(),
		.search = search,
		.offers = nest_offers_open(run, search),
		.moves = nest_moves_make(search->space),
		.random = random_open(search->wishes.seed, problem->first),
		.number = problem->first,
		.count = problem->end,
		.evaluations = search->wishes.budget / problem->end,
	};
	set_weights(&chain);
	return chain;
}

void nest_chain_close(struct nest_chain *chain)
{
	nest_offers_close(&chain->offers);
	arena_close(chain->arena);
}

static double value_of(const struct nest_chain *chain, const struct score *score)
{
	const struct objectives *objectives = &chain->search->wishes.objectives;
	double value = 0;
	for (size_t i = 0; i < objectives->count; i++)
		value += chain->weights[i] * log1p(objective_value(objectives->at[i], score));
	return value;
}

static bool price(struct nest_chain *chain, struct nest_trial *trial, struct nest_price *price)
{
	if (!nest_offers_price(&chain->offers, &trial->mapping, price))
		return false;
	bool good = price->verdict == NEST_FITS && !price->broken;
	trial->value = good ? value_of(chain, &price->score) : INFINITY;
	return true;
}

bool nest_chain_price(struct nest_chain *chain, struct nest_trial *trial)
{
	struct nest_price unused;
	return price(chain, trial, &unused);
}

/* Whether what a loop at `from` makes too large gets smaller by a factor that goes to `to`. */
static bool leads_outwards(const struct nest_price *price, const struct tiling_level *from,
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
	struct nest_chain *chain, const struct nest_price *price, struct mapping *mapping)
{
	const struct nest_moves *moves = &chain->moves;
	struct nest_move move = {.kind = NEST_MOVE_BOUND};
	uint64_t met = 0;
	for (int k = 0; k < moves->free_count; k++) {
		int d = moves->free[k];
		int64_t bounds[FACTORS_LOOPS_MOST];
		nest_moves_bounds(moves, mapping, d, bounds);
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
				move.bound = bounds[to] * nest_moves_prime(moves, &chain->random, d,
								  bounds[from]);
			}
	}
	return met && nest_move(moves, &move, mapping);
}

bool nest_chain_settle(struct nest_chain *chain, int most, struct nest_trial *trial)
{
	for (int mends = 0;; mends++) {
		struct nest_price found;
		if (!price(chain, trial, &found))
			return false;
		bool large = found.verdict == NEST_FANOUT || found.verdict == NEST_CAPACITY;
		if (!large || mends == most || !push_outwards(chain, &found, &trial->mapping))
			return true;
	}
}

bool nest_chain_start(struct nest_chain *chain, bool anew, struct nest_trial *trial)
{
	const struct mapping *start = chain->search->start;
	bool known = start && chain->number == 0 && !anew;
	for (int draws = 0; draws <= DRAWS || !start; draws++) {
		if (known || (start && draws == DRAWS))
			trial->mapping = nest_moves_adopt(&chain->moves, start);
		else
			space_draw(chain->moves.space, &chain->random, &trial->mapping);
		known = false;
		if (!nest_chain_settle(chain, MENDS, trial))
			return false;
		if (trial->value < INFINITY)
			return true;
	}
	return true;
}
