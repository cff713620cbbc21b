#include "search/nest/nest_offers.h"

#include "base/arena.h"
#include "constraints/constraints.h"

#include <math.h>

static bool keeps_constraints(const struct nest_offers *offers, const struct mapping *mapping)
{
	const struct nest_search *search = offers->search;
	struct arena *arena = run_arena(offers->run);
	struct arena_mark mark = arena_mark(arena);
	bool kept = !constraints_check(search->constraints, search->domain, mapping, arena);
	arena_release(arena, mark);
	return kept;
}

/* Adds what fits and nothing beats; false if it breaks a constraint. */
static bool add(
	struct nest_offers *offers, const struct mapping *mapping, const struct score *score)
{
	struct arena *arena = run_arena(offers->run);
	if (!keeps_constraints(offers, mapping))
		return false;
	struct point point = {
		.score = *score, .key = "", .payload = arena_copy(arena, mapping, sizeof *mapping)};
	frontier_add(&offers->kept, arena, point);
	return true;
}

/* Keeps what fits, meets the constraints, and nothing kept beats. */
static struct nest_price look(struct nest_offers *offers, const struct mapping *mapping)
{
	struct nest_counts counts;
	struct nest_score score;
	enum nest_verdict verdict = nest_evaluate(offers->search->model, mapping, &counts, &score);
	struct nest_price price = {
		.verdict = verdict, .level = score.level, .dimension = score.dimension};
	if (verdict != NEST_FITS)
		return price;
	price.score = nest_summary(offers->search, &counts, &score);
	if (!frontier_beats(&offers->kept, &price.score, NULL)) {
		price.kept = add(offers, mapping, &price.score);
		price.broken = !price.kept;
	}
	return price;
}

struct nest_offers nest_offers_open(struct run *run, const struct nest_search *search)
{
	struct nest_offers offers = {.run = run, .search = search, .kept = nest_frontier(search)};
	if (search->start)
		look(&offers, search->start);
	return offers;
}

struct nest_offers nest_offers_resume(
	struct run *run, const struct nest_search *search, const struct frontier *kept)
{
	struct nest_offers offers = {.run = run, .search = search, .kept = nest_frontier(search)};
	for (size_t i = 0; i < kept->count; i++)
		frontier_add(&offers.kept, run_arena(run), kept->points[i]);
	return offers;
}

static struct nest_price evaluate(struct nest_offers *offers, const struct mapping *mapping)
{
	run_evaluated(offers->run, 1);
	struct nest_price price = look(offers, mapping);
	bool unknown = price.verdict == NEST_OVERFLOW || price.verdict == NEST_UNCOUNTABLE;
	if (unknown && !offers->uncounted)
		offers->uncounted = keeps_constraints(offers, mapping);
	return price;
}

bool nest_offers_price(
	struct nest_offers *offers, const struct mapping *mapping, struct nest_price *price)
{
	if (!run_spend(offers->run, 1))
		return false;
	*price = evaluate(offers, mapping);
	return true;
}

void nest_offers_adopt(struct nest_offers *offers, const struct mapping *mapping)
{
	run_spend(offers->run, 1);
	evaluate(offers, mapping);
}

bool nest_offers_try(
	struct nest_offers *offers, const struct mapping *mapping, enum nest_verdict *verdict)
{
	struct nest_price price;
	if (!nest_offers_price(offers, mapping, &price))
		return false;
	*verdict = price.verdict;
	return true;
}

double nest_offers_best(const struct nest_offers *offers)
{
	const struct frontier *kept = &offers->kept;
	return kept->count ? objective_value(kept->objectives.at[0], &kept->points[0].score)
			   : INFINITY;
}

void nest_offers_close(struct nest_offers *offers)
{
	for (size_t i = 0; i < offers->kept.count; i++) {
		const struct point *point = &offers->kept.points[i];
		struct candidate candidate = {.stage = STAGE_MAP, .mappings = point->payload};
		if (offers->search->start && mapping_equal(point->payload, offers->search->start))
			continue; /* known already */
		run_offer(offers->run, &candidate,
			objective_value(offers->kept.objectives.at[0], &point->score));
	}
}
