#include "search/nest/nest_search.h"

/*
 * Every mapping, in the order of the space's numbers.  Capacity, fan-out and what homes hold do not
 * depend on the order of loops: when no residency fits for the first order, none
 * does for the others.
 */
static bool nest_offers_enumerate(struct nest_offers *offers, struct mapping *mapping)
{
	const struct space *space = offers->search->space;
	uint64_t rests = space_rest_count(space, mapping);
	uint64_t residencies = space_residency_count(space), unfit = 0;
	for (uint64_t r = 0; r < rests; r++) {
		struct offer_price price;
		space_rest(space, r, mapping);
		if (!nest_offers_price(offers, mapping, &price))
			return false;
		unfit += price.verdict == NEST_CAPACITY || price.verdict == NEST_SUMS_APART;
		if (r + 1 == residencies && unfit == residencies)
			return true;
	}
	return true;
}

static void run_linear(struct run *run, const struct problem *problem)
{
	struct nest_offers offers = nest_offers_open(run, problem->nest);
	bool done = true;
	for (uint64_t f = problem->first; f < problem->end && done; f++) {
		struct mapping mapping = problem->nest->space->blank;
		space_factors(problem->nest->space, f, &mapping);
		done = nest_offers_enumerate(&offers, &mapping);
	}
	nest_offers_close(&offers);
	if (done && !offers.uncounted)
		run_prove(run, PROOF_OPTIMAL, 0);
}

const struct solver map_linear_solver = {
	.stage = STAGE_MAP,
	.name = "linear",
	.summary = "every mapping of the space, one after the other",
	.sharing = SHARING_ENUMERATION,
	.run = run_linear,
};
