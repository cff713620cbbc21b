#include "base/arena.h"
#include "search/recurrence/project_search.h"

/* One projection of three loops: PEs (i, j), steps i + j + 2k. */
static void run_toy(struct run *run, const struct problem *problem)
{
	const struct projection *given = &problem->projections->spec->projection;
	struct projection *projection = arena_copy(run_arena(run), given, sizeof *given);
	projection->space_count = 2;
	projection->time_count = 1;
	projection->space[0][0] = projection->space[1][1] = 1;
	projection->time[0][0] = projection->time[0][1] = 1;
	projection->time[0][2] = 2;
	struct candidate candidate = {.stage = STAGE_PROJECT, .projection = projection};
	run_offer(run, &candidate, 0);
}

const struct solver project_toy_solver = {
	.stage = STAGE_PROJECT,
	.name = "toy",
	.summary = "PEs (i, j), steps i + j + 2k",
	.run = run_toy,
};
