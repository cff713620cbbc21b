#include "tests/support/schedule_case.h"

#include "cost/transfer/broadcast.h"
#include "search/drive/solver.h"
#include "sim/transfer/schedule.h"

#include "tests/test.h"

const struct copying schedule_speeds = {.in = {{5, 1}, {8, 1}},
	.out = {{2, 1}, {9, 2}},
	.link = {{3, 1}, {4, 1}},
	.combine = {{1, 1}, {6, 1}}};

const struct send_schedule *schedule_ask(
	struct arena *arena, enum stage stage, const char *name, const struct synthesis *synthesis)
{
	const struct problem problem = {.stage = stage, .synthesis = synthesis};
	struct answer answer = solve(solver_find(stage, name), &problem, 0, 1, arena);
	return answer.candidate_count ? answer.candidates[0].schedule : NULL;
}

/* Each rank but the root gives or gets each byte once. */
static bool passes_once(const struct send_schedule *schedule)
{
	return schedule->operation == OPERATION_BROADCAST ||
	       schedule->operation == OPERATION_REDUCE;
}

void schedule_executed(struct arena *arena, const struct send_schedule *schedule,
	const struct topology *topology, int64_t bytes)
{
	struct copy_ticks ticks = copying_ticks(&schedule_speeds);
	struct schedule_cost cost;
	struct schedule_result run =
		schedule_run(schedule, topology, &ticks, bytes, 1, true, 1, NULL, arena);
	assert_true(schedule_price(schedule, &ticks, bytes, 1, &cost));
	if (run.fault)
		fail_msg("a %s over %d ranks: %s", operation_names[schedule->operation],
			schedule->ranks, run.fault);
	assert_int_equal(run.rounds, cost.rounds);
	assert_int_equal(run.ticks, cost.ticks);
	assert_int_equal(run.link_bytes, cost.link_bytes);
	if (passes_once(schedule))
		assert_int_equal(run.link_bytes, bytes * (schedule->ranks - 1));
	assert_int_equal(run.buffer_bytes, cost.buffer_bytes);
}
