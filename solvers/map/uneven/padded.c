#include "solvers/map/uneven/padded.h"

#include "base/arena.h"
#include "solvers/map/exact/ask.h"
#include "solvers/map/local/moves.h"
#include "solvers/map/uneven/options.h"

int64_t uneven_padded_extent(int64_t extent)
{
	static const int primes[] = {2, 3, 5, 7};
	for (int64_t padded = extent; padded <= SHAPE_EXTENT_MOST; padded++) {
		int64_t left = padded;
		for (int i = 0; i < 4; i++)
			while (left % primes[i] == 0)
				left /= primes[i];
		if (left == 1)
			return padded;
	}
	return extent;
}

/* The problem with extents whose factors divide. */
static struct nest_search pad(struct arena *arena, const struct nest_search *search)
{
	struct nest_search padded = *search;
	struct shape *shape = arena_copy(arena, search->shape, sizeof *shape);
	struct domain *domain = arena_copy(arena, search->domain, sizeof *domain);
	for (int d = 0; d < shape->dimension_count; d++) {
		int64_t extent = shape->dimensions[d].extent, more = extent;
		if (domain->imperfect >> d & 1)
			more = uneven_padded_extent(extent);
		shape->dimensions[d].extent = more;
		for (int r = 0; r < domain->arch->level_count; r++) {
			struct factor_domain *factors[] = {
				&domain->rows[r].temporal[d], &domain->rows[r].spatial[d]};
			for (int k = 0; k < 2; k++)
				if (factors[k]->most == extent && factors[k]->most_by < 0)
					factors[k]->most = more;
		}
	}
	domain->shape = shape;
	domain->imperfect = 0;
	padded.shape = shape;
	padded.domain = domain;
	padded.space = space_make(arena, domain);
	padded.model = nest_model_make(arena, search->hierarchy, shape, search->counting);
	padded.start = NULL;
	return padded;
}

/* Offers what came of a search.  What is cut back may break a bound of the space: the nearest mapping
 * of the space takes its place. */
static void take(
	struct nest_offers *offers, const struct map_moves *moves, const struct answer *answer)
{
	for (size_t i = 0; i < answer->candidate_count; i++) {
		struct offer_price price;
		struct mapping mapping = map_moves_adopt(moves, answer->candidates[i].mappings);
		nest_offers_price(offers, &mapping, &price);
	}
}

/* The best so far of the first objective. */
static const struct mapping *best_of(const struct nest_offers *offers)
{
	return offers->kept.count ? offers->kept.points[0].payload : NULL;
}

void uneven_padded(struct run *run, const struct nest_search *search, struct nest_offers *offers,
	uint64_t ticks, double bound)
{
	if (!space_factors_count(search->space))
		return;
	struct arena *arena = arena_open();
	struct nest_search uneven = *search, padded = pad(arena, search);
	struct map_moves moves = map_moves_make(search->space);
	struct answer answer =
		nest_ask(run, "exact", &padded, 0, 1, ticks - ticks / LOCAL_SHARE + 1, arena);
	take(offers, &moves, &answer);
	run_report(run, nest_offers_best(offers), bound);
	for (int turn = 0; turn < LOCAL_TURNS; turn++) {
		uneven.start = best_of(offers) ? best_of(offers) : search->start;
		uneven.wishes.seed = search->wishes.seed + (uint64_t)turn;
		answer = nest_ask(
			run, "anneal", &uneven, 0, 1, ticks / LOCAL_SHARE / LOCAL_TURNS + 1, arena);
		take(offers, &moves, &answer);
		run_report(run, nest_offers_best(offers), bound);
	}
	arena_close(arena);
}
