#include "base/arena.h"
#include "search/recurrence/project_search.h"

/*
 * Every folding of an einsum onto the array, each judged in closed form, those that drain between
 * their rounds first.  All of them are looked at, so the frontier is proven among them.
 */
struct folds {
	struct run *run;
	const struct project_search *search;
	struct frontier frontier;
	bool ports, stopped;
};

static bool look_at(void *user, const struct folding *folding)
{
	struct folds *folds = user;
	struct arena *arena = run_arena(folds->run), *scratch = arena_open();
	struct project_found found;
	struct score score;
	folds->stopped = !run_spend(folds->run, 1);
	bool good = !folds->stopped &&
		    project_fold(folds->search, folding, folds->ports, scratch, &found, &score);
	run_evaluated(folds->run, !folds->stopped);
	if (good && !frontier_beats(&folds->frontier, &score, NULL)) {
		const struct folding *kept = arena_copy(arena, folding, sizeof *folding);
		struct candidate candidate = {.stage = STAGE_PROJECT, .folding = kept};
		const char *key = arena_format(arena, "%zu", folds->frontier.count);
		frontier_add(&folds->frontier, arena, (struct point){score, key, NULL});
		run_offer(folds->run, arena_copy(arena, &candidate, sizeof candidate),
			objective_value(folds->search->wishes.objectives.at[0], &score));
	}
	arena_close(scratch);
	return !folds->stopped;
}

static void project_run(struct run *run, const struct problem *problem)
{
	const struct project_search *search = problem->projections;
	struct folds folds = {.run = run,
		.search = search,
		.frontier = frontier_open(search->wishes.objectives),
		.ports = objectives_have(&search->wishes.objectives, OBJECTIVE_PORTS)};
	if (!search->spec->folds) {
		run_complain(run, true, -1,
			"there is nothing to fold; 'search: {fold: tiles}' needs an einsum and an array");
		return;
	}
	if (!foldings_visit(search->spec, look_at, &folds))
		return;
	if (folds.frontier.count)
		run_prove(run, PROOF_OPTIMAL,
			objective_value(
				search->wishes.objectives.at[0], &folds.frontier.points[0].score));
	else
		run_prove(run, PROOF_INFEASIBLE, 0);
}

const struct solver project_folds_solver = {
	.stage = STAGE_PROJECT,
	.name = "folds",
	.summary = "every folding of an einsum onto an array of a fixed size, with a proof",
	.purposes = FOR_FOLDINGS,
	.proves = true,
	.run = project_run,
};
