#include "solvers/map/uneven/padded.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "solvers/map/exact/ask.h"
#include "solvers/map/local/moves.h"
#include "solvers/map/uneven/options.h"

#include <math.h>
#include <stdlib.h>

struct padded_extents {
	double grown; /* padded volume / real one; later the best value that came of it */
	int64_t extents[SHAPE_DIMENSIONS_MOST];
	const struct mapping *start; /* the best so far */
};

struct paddings array(struct padded_extents);

int uneven_padded_extents(int64_t extent, int most, int64_t *out)
{
	static const int primes[] = {2, 3, 5, 7};
	int count = 0;
	for (int64_t padded = extent; count < most && padded <= SHAPE_EXTENT_MOST; padded++) {
		int64_t left = padded;
		for (int i = 0; i < 4; i++)
			while (left % primes[i] == 0)
				left /= primes[i];
		if (left == 1)
			out[count++] = padded;
	}
	return count;
}

static int by_growth(const void *a, const void *b)
{
	const struct padded_extents *x = a, *y = b;
	if (x->grown != y->grown)
		return x->grown < y->grown ? -1 : 1;
	for (int d = 0; d < SHAPE_DIMENSIONS_MOST; d++)
		if (x->extents[d] != y->extents[d])
			return x->extents[d] < y->extents[d] ? -1 : 1;
	return 0;
}

/* Dimension by dimension; of each prefix only this many paddings that grow least. */
static struct paddings find_paddings(struct arena *arena, const struct nest_search *search)
{
	struct paddings all = {0};
	*array_add(arena, &all) = (struct padded_extents){.grown = 1};
	for (int d = 0; d < search->shape->dimension_count; d++) {
		int64_t extent = search->shape->dimensions[d].extent,
			extents[EXTENTS_MOST] = {extent};
		int count = 1;
		if (search->domain->imperfect >> d & 1)
			count = uneven_padded_extents(extent, EXTENTS_MOST, extents);
		struct paddings next = {0};
		for (size_t i = 0; i < all.count; i++)
			for (int k = 0; k < count; k++) {
				struct padded_extents *padding = array_add(arena, &next);
				*padding = all.at[i];
				padding->extents[d] = extents[k];
				padding->grown *= (double)extents[k] / (double)extent;
			}
		qsort(next.at, next.count, sizeof *next.at, by_growth);
		next.count = (size_t)number_min((int64_t)next.count, PADDINGS_MOST);
		all = next;
	}
	return all;
}

static struct nest_search pad(
	struct arena *arena, const struct nest_search *search, const struct padded_extents *padding)
{
	struct nest_search padded = *search;
	struct shape *shape = arena_copy(arena, search->shape, sizeof *shape);
	struct domain *domain = arena_copy(arena, search->domain, sizeof *domain);
	for (int d = 0; d < shape->dimension_count; d++) {
		int64_t extent = shape->dimensions[d].extent;
		shape->dimensions[d].extent = padding->extents[d];
		for (int r = 0; r < domain->arch->level_count; r++) {
			struct factor_domain *factors[] = {
				&domain->rows[r].temporal[d], &domain->rows[r].spatial[d]};
			for (int k = 0; k < 2; k++)
				if (factors[k]->most == extent && factors[k]->most_by < 0)
					factors[k]->most = padding->extents[d];
		}
	}
	domain->shape = shape;
	domain->imperfect = 0;
	padded.shape = shape;
	padded.domain = domain;
	padded.space = space_make(arena, domain);
	padded.model = nest_model_make(arena, search->hierarchy, shape, search->counting);
	padded.start = padding->start;
	return padded;
}

/* The best value that came of them.  What is cut back may break a bound of the space: the nearest
 * mapping of the space takes its place. */
static double take(
	struct nest_offers *offers, const struct map_moves *moves, const struct answer *answer)
{
	double best = INFINITY;
	for (size_t i = 0; i < answer->candidate_count; i++) {
		struct offer_price price;
		struct mapping mapping = map_moves_adopt(moves, answer->candidates[i].mappings);
		if (nest_offers_price(offers, &mapping, &price) && price.verdict == NEST_FITS)
			best = fmin(best, objective_value(offers->search->wishes.objectives.at[0],
						  &price.score));
	}
	return best;
}

/* All paddings, then those alone that did best, with as much for all of them together. */
static void try_paddings(struct run *run, const struct map_moves *moves, struct nest_offers *offers,
	uint64_t ticks, double bound, struct arena *arena)
{
	const struct nest_search *search = offers->search;
	struct paddings paddings = find_paddings(arena, search);
	for (int round = 0; round < PADDING_ROUNDS && paddings.count; round++) {
		for (size_t i = 0; i < paddings.count && run_go_on(run, 1); i++) {
			struct padded_extents *padding = &paddings.at[i];
			struct nest_search padded = pad(arena, search, padding);
			struct answer answer = nest_ask(run, "exact", &padded, 0, 1,
				ticks / PADDING_ROUNDS / paddings.count + 1, arena);
			double value = take(offers, moves, &answer);
			if (round == 0 || value < padding->grown)
				padding->grown = value;
			if (answer.candidate_count)
				padding->start = answer.candidates[0].mappings;
			run_report(run, nest_offers_best(offers), bound);
		}
		qsort(paddings.at, paddings.count, sizeof *paddings.at, by_growth);
		paddings.count = (paddings.count + PADDINGS_FEWER - 1) / PADDINGS_FEWER;
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
	struct nest_search uneven = *search;
	struct map_moves moves = map_moves_make(search->space);
	try_paddings(run, &moves, offers, ticks - ticks / LOCAL_SHARE, bound, arena);
	for (int turn = 0; turn < LOCAL_TURNS; turn++) {
		uneven.start = best_of(offers) ? best_of(offers) : search->start;
		uneven.wishes.seed = search->wishes.seed + (uint64_t)turn;
		struct answer answer = nest_ask(run, "anneal", &uneven, 0, 1,
			ticks / LOCAL_SHARE / LOCAL_TURNS + 1, arena);
		take(offers, &moves, &answer);
		run_report(run, nest_offers_best(offers), bound);
	}
	arena_close(arena);
}
