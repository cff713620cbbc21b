#include "base/arena.h"
#include "search/recurrence/project_search.h"
#include "search/recurrence/projections.h"

#include <stdlib.h>

/*
 * Every schedule of the ranges with every class of allocations, quick and few first.  Whether
 * points meet is asked only of what no legal projection beats so far, so the answer is proven: each
 * pair is causal and apart, or beaten, or not legal.
 */
static struct score score_of(const struct schedule *schedule, const struct allocation *to)
{
	return (struct score){.cycles = schedule->cycles,
		.pes = to->pes,
		.registers = schedule->registers * to->pes,
		.wire = to->wire};
}

static bool projection_fits(const struct project_search *search,
	const struct projection *projection, bool ports, struct score *score)
{
	struct projection_facts facts =
		projection_facts(&search->spec->recurrence, projection, search->spec);
	*score = project_score(&search->spec->recurrence, projection, &facts,
		ports ? projection_ports(&search->spec->recurrence, projection, &facts,
				&search->wishes.asker.stopper)
		      : 0);
	return facts.fault == PROJECTION_FINE;
}

static void project_run(struct run *run, const struct problem *problem)
{
	const struct project_search *search = problem->projections;
	struct arena *arena = run_arena(run);
	struct projections space = projections_list(search->spec, run, arena);
	struct frontier frontier = frontier_open(search->wishes.objectives);
	/* all that is wanted is known before the facts are, but for ports */
	bool early = !objectives_have(&search->wishes.objectives, OBJECTIVE_PORTS), unknown = false;
	if (space.stopped)
		return;
	if (space.why) {
		run_complain(run, true, -1, "%s", space.why);
		return;
	}
	for (size_t s = 0; s < space.schedule_count; s++)
		for (size_t a = 0; a < space.allocation_count; a++) {
			const struct schedule *schedule = &space.schedules[s];
			const struct allocation *allocation = &space.allocations[a];
			struct score score = score_of(schedule, allocation);
			bool known;
			if (!run_spend(run, 1))
				return;
			run_evaluated(run, 1);
			if (early && frontier_beats(&frontier, &score, NULL))
				continue;
			if (!projections_wired(&space, allocation, schedule))
				continue;
			if (!projections_apart(&space, allocation, schedule, &known)) {
				unknown |= !known;
				continue;
			}
			struct projection *projection = arena_new(arena, struct projection);
			*projection = projections_make(&space, allocation, schedule);
			if (!projection_fits(search, projection, !early, &score))
				continue;
			const char *key =
				project_text(arena, &search->spec->recurrence, projection);
			if (!frontier_add(&frontier, arena, (struct point){score, key, projection}))
				continue;
			struct candidate candidate = {
				.stage = STAGE_PROJECT, .projection = projection};
			run_offer(run, arena_copy(arena, &candidate, sizeof candidate),
				objective_value(search->wishes.objectives.at[0], &score));
		}
	if (unknown)
		run_complain(run, false, -1,
			"some projections could not be shown to be legal or illegal");
	else if (frontier.count)
		run_prove(run, PROOF_OPTIMAL,
			objective_value(
				search->wishes.objectives.at[0], &frontier.points[0].score));
	else
		run_prove(run, PROOF_INFEASIBLE, 0);
}

const struct solver project_exhaustive_solver = {
	.stage = STAGE_PROJECT,
	.name = "exhaustive",
	.summary = "every schedule with every class of allocations in the ranges, with a proof",
	.purposes = FOR_RECURRENCES,
	.proves = true,
	.run = project_run,
};
