#ifndef MAP_LOCAL_CHAIN_H
#define MAP_LOCAL_CHAIN_H

#include "base/random.h"
#include "search/nest/nest_offers.h"
#include "solvers/map/local/moves.h"
#include "solvers/map/local/options.h"

/*
 * What one chain of a heuristic has: mappings of the space, random numbers of its own, its part
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

struct local_chain local_chain_open(struct run *run, const struct problem *problem);
void local_chain_close(struct local_chain *chain);

/* False when the budget is spent. */
bool local_chain_price(struct local_chain *chain, struct local_trial *trial);

/* A mapping that fits, where one can be found: the start of the chain, or `anew` one drawn.  False
 * when the budget is spent before. */
bool local_chain_start(struct local_chain *chain, bool anew, struct local_trial *trial);

#endif
