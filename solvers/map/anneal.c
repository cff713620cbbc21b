#include "base/arena.h"
#include "base/random.h"
#include "search/nest/nest_search.h"
#include "solvers/map/local/moves.h"

#include <math.h>

/*
 * Simulated annealing: a worse mapping takes the place of the last one with probability
 * (old value / new value)^(1/T).  T falls geometrically over what is left of the chain's budget;
 * a chain in which nothing changes any more starts again, warm, from a mapping drawn.
 */
OPTIONS(ANNEAL_OPTIONS)

/*
 * The data of one chain of a heuristic: mappings of the space, random numbers of its own, its part
 * of the budget, and one number to minimise.  With several objectives this is the product of
 * their powers w, chain by chain other ones: the first and the last of two are minimised alone
 * by the first and the last chain, energy^w x latency^(1 - w) by those between.  Whatever is
 * priced is offered, so that a chain adds to every part of the frontier.
 *
 * The first chain starts from search->start, if there is one; the others draw a mapping and
 * push loops outwards until it fits.
 */
struct local_chain {
	struct arena *arena; /* scratch memory of the chain */
	const struct nest_search *search;
	struct nest_offers offers;
	struct map_moves moves;
	struct random random;
	uint64_t number, count; /* of this chain; of them all */
	uint64_t evaluations;   /* its part of the budget, about */
	double weights[OBJECTIVE_COUNT];
};

/* A mapping and what it is worth: log of the weighted product; INFINITY if it does not fit. */
struct local_trial {
	struct mapping mapping;
	double value;
};

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

static struct local_chain open_chain(struct run *run, const struct problem *problem)
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

static void close_chain(struct local_chain *chain)
{
	nest_offers_close(&chain->offers);
	arena_close(chain->arena);
}

static double anneal_value(const struct local_chain *chain, const struct score *score)
{
	const struct objectives *objectives = &chain->search->wishes.objectives;
	double value = 0;
	for (size_t i = 0; i < objectives->count; i++)
		value += chain->weights[i] * log1p(objective_value(objectives->at[i], score));
	return value;
}

/* False when the budget is spent. */
static bool price(struct local_chain *chain, struct local_trial *trial, struct offer_price *price)
{
	if (!nest_offers_price(&chain->offers, &trial->mapping, price))
		return false;
	bool good = price->verdict == NEST_FITS && !price->broken;
	trial->value = good ? anneal_value(chain, &price->score) : INFINITY;
	return true;
}

/* True if what a loop at `from` makes too large gets smaller by a factor that goes to `to`. */
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

/* Pushes factors outwards until no level or fan-out is exceeded, and prices the mapping again. */
static bool anneal_settle(struct local_chain *chain, struct local_trial *trial)
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

/* A mapping that fits, where one can be found: the start of the chain, or `anew` one drawn.  False
 * when the budget is spent before. */
static bool start_chain(struct local_chain *chain, bool anew, struct local_trial *trial)
{
	const struct mapping *start = chain->search->start;
	bool known = start && chain->number == 0 && !anew;
	for (int draws = 0; draws <= START_DRAWS || !start; draws++) {
		if (known || (start && draws == START_DRAWS))
			trial->mapping = map_moves_adopt(&chain->moves, start);
		else
			space_draw(chain->moves.space, &chain->random, &trial->mapping);
		known = false;
		if (!anneal_settle(chain, trial))
			return false;
		if (trial->value < INFINITY)
			return true;
	}
	return true;
}

/* In (0, 1]. */
static double draw_chance(struct random *random)
{
	return (double)((random_next(random) >> 11) + 1) / (double)(UINT64_C(1) << 53);
}

/* From one start until nothing changes; `n` counts the moves of the chain. */
static bool local_chain_anneal(struct local_chain *chain, struct local_trial *at, uint64_t *n)
{
	const double warm = WARM_PERMILLE / 1000.0, cold = COLD_PERMILLE / 1000.0;
	double left = fmax((double)chain->evaluations - (double)*n, STILL_MOVES);
	for (uint64_t still = 0, first = *n; still < STILL_MOVES; ++*n) {
		struct local_trial next = *at;
		struct offer_price found;
		double temperature = warm * pow(cold / warm, fmin((double)(*n - first) / left, 1));
		if (!map_moves_step(&chain->moves, &chain->random, &next.mapping) ||
			!price(chain, &next, &found))
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
	struct local_chain chain = open_chain(run, problem);
	struct local_trial at;
	uint64_t n = 0;
	bool good = start_chain(&chain, false, &at);
	while (good && local_chain_anneal(&chain, &at, &n))
		good = start_chain(&chain, true, &at);
	close_chain(&chain);
}

const struct solver map_anneal_solver = {
	.stage = STAGE_MAP,
	.name = "anneal",
	.summary = "simulated annealing, chains from random starts",
	.purposes = FOR_STARTS,
	.sharing = SHARING_CHAINS,
	.run = run_anneal,
};
