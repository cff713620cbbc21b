#include "base/random.h"
#include "search/nest/nest_search.h"

/* True if a sequence of draws goes on: counts how many in a row came to nothing. */
static bool patience_goes_on(const struct patience *patience, const struct offer_price *price,
	uint64_t *no_better, uint64_t *unfit)
{
	bool fits = price->verdict == NEST_FITS && !price->broken;
	*unfit = fits ? 0 : *unfit + 1;
	*no_better = price->kept ? 0 : *no_better + fits;
	return (!patience->victory || *no_better < patience->victory) &&
	       (!patience->timeout || *unfit < patience->timeout);
}

/* Mappings drawn from the space; draw number n is the same in every task. */
static void run_random_draws(struct run *run, const struct problem *problem)
{
	const struct nest_search *search = problem->nest;
	struct nest_offers offers = nest_offers_open(run, search);
	uint64_t no_better = 0, unfit = 0;
	bool good = true;
	for (uint64_t n = problem->first; n < problem->end && good; n++) {
		struct random random = random_open(search->wishes.seed, n);
		struct mapping mapping = search->space->blank;
		struct offer_price price;
		space_draw(search->space, &random, &mapping);
		good = nest_offers_price(&offers, &mapping, &price) &&
		       patience_goes_on(&search->patience, &price, &no_better, &unfit);
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
