#include "search/nest/nest_search.h"

enum { TRIES = 2000 };

/* The first mappings of the space. */
static void run_toy(struct run *run, const struct problem *problem)
{
	const struct space *space = problem->nest->space;
	struct nest_offers offers = nest_offers_open(run, problem->nest);
	struct offer_price price;
	uint64_t tries = 0;
	for (uint64_t f = 0; f < space_factors_count(space) && tries < TRIES; f++) {
		struct mapping mapping = space->blank;
		space_factors(space, f, &mapping);
		uint64_t rests = space_rest_count(space, &mapping);
		for (uint64_t r = 0; r < rests && tries < TRIES; r++, tries++) {
			space_rest(space, r, &mapping);
			nest_offers_price(&offers, &mapping, &price);
		}
	}
	nest_offers_close(&offers);
}

const struct solver map_toy_solver = {
	.stage = STAGE_MAP,
	.name = "toy",
	.summary = "the first mappings of the space",
	.run = run_toy,
};
