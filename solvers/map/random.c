#include "base/random.h"
#include "search/nest_offers.h"

/* Mappings drawn from the space; draw number n is the same whoever makes it. */
static void run_random_draws(struct run *run, const struct problem *problem)
{
	const struct nest_search *search = problem->nest;
	struct nest_offers offers = nest_offers_open(run, search);
	bool good = true;
	for (uint64_t n = problem->first; n < problem->end && good; n++) {
		struct random random = random_open(search->seed, n);
		struct mapping mapping = search->space->blank;
		enum nest_verdict verdict;
		space_draw(search->space, &random, &mapping);
		good = nest_offers_try(&offers, &mapping, &verdict);
	}
	nest_offers_close(&offers);
}

const struct solver map_random_solver = {
	.stage = STAGE_MAP,
	.name = "random",
	.summary = "mappings drawn at random, with the run's seed",
	.sharing = SHARING_DRAWS,
	.run = run_random_draws,
};
