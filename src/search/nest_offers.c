#include "search/nest_offers.h"

#include "base/arena.h"
#include "constraints/constraints.h"

struct nest_offers nest_offers_open(struct run *run, const struct nest_search *search)
{
	return (struct nest_offers){
		.run = run, .search = search, .kept = frontier_open(search->objectives)};
}

bool nest_offers_try(
	struct nest_offers *offers, const struct mapping *mapping, enum nest_verdict *verdict)
{
	struct nest_counts counts;
	struct nest_score score;
	if (!run_spend(offers->run, 1))
		return false;
	run_evaluated(offers->run, 1);
	*verdict = nest_evaluate(offers->search->model, mapping, &counts, &score);
	offers->uncounted |= *verdict == NEST_OVERFLOW || *verdict == NEST_UNCOUNTABLE;
	if (*verdict != NEST_FITS)
		return true;
	struct point point = {.score = nest_summary(offers->search, &counts, &score), .key = ""};
	if (frontier_beats(&offers->kept, &point.score, NULL))
		return true;
	struct arena *arena = run_arena(offers->run);
	struct arena_mark mark = arena_mark(arena);
	if (constraints_check(
		    offers->search->constraints, offers->search->domain, mapping, arena)) {
		arena_release(arena, mark);
		return true;
	}
	point.payload = arena_copy(arena, mapping, sizeof *mapping);
	frontier_add(&offers->kept, arena, point);
	return true;
}

void nest_offers_close(struct nest_offers *offers)
{
	for (size_t i = 0; i < offers->kept.count; i++) {
		const struct point *point = &offers->kept.points[i];
		struct candidate candidate = {.stage = STAGE_MAP, .mappings = point->payload};
		run_offer(offers->run, &candidate,
			objective_value(offers->kept.objectives.at[0], &point->score));
	}
}
