#include "solvers/map/uneven/padded.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "solvers/map/exact/ask.h"
#include "solvers/map/local/moves.h"

#include <math.h>
#include <stdlib.h>

/* Extents of each dimension that are tried, paddings of all together, the part of them that the next
 * round gets, and the part of all ticks for what goes on from there, by turns. */
enum { EXTENTS_MOST = 4, PADDINGS_MOST = 24, ROUNDS = 3, FEWER = 4, STEPS_SHARE = 4, TURNS = 3 };

struct padding {
	double grown; /* padded volume / real one; later the best value that came of it */
	int64_t extents[SHAPE_DIMENSIONS_MOST];
	const struct mapping *start; /* the best so far */
};

struct paddings array(struct padding);

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
	const struct padding *x = a, *y = b;
	if (x->grown != y->grown)
		return x->grown < y->grown ? -1 : 1;
	for (int d = 0; d < SHAPE_DIMENSIONS_MOST; d++)
		if (x->extents[d] != y->extents[d])
			return x->extents[d] < y->extents[d] ? -1 : 1;
	return 0;
}

/* Dimension by dimension; of each prefix only so many paddings that grow least. */
static struct paddings find_paddings(struct arena *arena, const struct nest_search *search)
{
	struct paddings all = {0};
	*array_add(arena, &all) = (struct padding){.grown = 1};
	for (int d = 0; d < search->shape->dimension_count; d++) {
		int64_t extent = search->shape->dimensions[d].extent,
			extents[EXTENTS_MOST] = {extent};
		int count = 1;
		if (search->domain->imperfect >> d & 1)
			count = uneven_padded_extents(extent, EXTENTS_MOST, extents);
		struct paddings next = {0};
		for (size_t i = 0; i < all.count; i++)
			for (int k = 0; k < count; k++) {
				struct padding *padding = array_add(arena, &next);
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
	struct arena *arena, const struct nest_search *search, const struct padding *padding)
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
	struct nest_offers *offers, const struct nest_moves *moves, const struct answer *answer)
{
	double best = INFINITY;
	for (size_t i = 0; i < answer->candidate_count; i++) {
		struct nest_price price;
		struct mapping mapping = nest_moves_adopt(moves, answer->candidates[i].mappings);
		if (nest_offers_price(offers, &mapping, &price) && price.verdict == NEST_FITS)
			best = fmin(best, objective_value(offers->search->wishes.objectives.at[0],
						  &price.score));
	}
	return best;
}

/* All paddings, then those alone that did best, with as much for all of them together. */
static void try_paddings(struct run *run, const struct nest_moves *moves,
	struct nest_offers *offers, uint64_t ticks, double bound, struct arena *arena)
{
	const struct nest_search *search = offers->search;
	struct paddings paddings = find_paddings(arena, search);
	for (int round = 0; round < ROUNDS && paddings.count; round++) {
		for (size_t i = 0; i < paddings.count && run_go_on(run, 1); i++) {
			struct padding *padding = &paddings.at[i];
			struct nest_search padded = pad(arena, search, padding);
			struct answer answer = nest_ask(run, "exact", &padded, 0, 1,
				ticks / ROUNDS / paddings.count + 1, arena);
			double value = take(offers, moves, &answer);
			if (round == 0 || value < padding->grown)
				padding->grown = value;
			if (answer.candidate_count)
				padding->start = answer.candidates[0].mappings;
			run_report(run, nest_offers_best(offers), bound);
		}
		qsort(paddings.at, paddings.count, sizeof *paddings.at, by_growth);
		paddings.count = (paddings.count + FEWER - 1) / FEWER;
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
	struct nest_moves moves = nest_moves_make(search->space);
	try_paddings(run, &moves, offers, ticks - ticks / STEPS_SHARE, bound, arena);
	for (int turn = 0; turn < TURNS; turn++) {
		const char *name = turn == 0 ? "genetic" : "greedy";
		uneven.start = best_of(offers) ? best_of(offers) : search->start;
		uneven.wishes.seed = search->wishes.seed + (uint64_t)turn;
		struct answer answer =
			nest_ask(run, name, &uneven, 0, 1, ticks / STEPS_SHARE / TURNS + 1, arena);
		take(offers, &moves, &answer);
		run_report(run, nest_offers_best(offers), bound);
	}
	arena_close(arena);
}
