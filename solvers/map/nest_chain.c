#include "solvers/map/nest_chain.h"

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
	size_t count = chain->search->objectives.count;
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
		.random = random_open(search->seed, problem->first),
		.number = problem->first,
		.count = problem->end,
		.evaluations = search->budget / problem->end,
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
	const struct objectives *objectives = &chain->search->objectives;
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

/* A prime factor of a loop that stands where too much is goes to a temporal loop further out. */
static bool push_outwards(
	struct nest_chain *chain, const struct nest_price *price, struct mapping *mapping)
{
	const struct space *space = chain->moves.space;
	size_t count, good = 0;
	struct arena_mark mark = arena_mark(chain->arena);
	struct nest_move *moves = nest_moves_list(&chain->moves, mapping, chain->arena, &count);
	for (size_t i = 0; i < count; i++) {
		if (moves[i].kind != NEST_MOVE_BOUND)
			continue;
		const struct tiling_level *to = &space->levels[moves[i].level];
		const struct tiling_level *from = &space->levels[moves[i].from];
		bool inside = from->level <= price->level && to->level > price->level;
		if (price->verdict == NEST_FANOUT)
			inside = from->level == price->level && from->spatial;
		if (inside && !to->spatial)
			moves[good++] = moves[i];
	}
	bool moved = good &&
		     nest_move(&chain->moves, &moves[random_below(&chain->random, good)], mapping);
	arena_release(chain->arena, mark);
	return moved;
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
