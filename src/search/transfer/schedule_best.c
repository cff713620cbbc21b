#include "search/transfer/schedule_best.h"

#include "base/arena.h"

/* Rounds of messages of several chunks are other rounds. */
static bool one_by_one(const struct send_schedule *schedule)
{
	for (size_t i = 0; i < schedule->message_count; i++)
		if (schedule->messages[i].count != 1)
			return false;
	return true;
}

const struct send_schedule *schedule_best(struct run *run, const struct synthesis *synthesis)
{
	const struct problem problem = {.stage = STAGE_BROADCAST, .synthesis = synthesis};
	const struct send_schedule *best = NULL;
	const struct portfolio usual = portfolio_for(STAGE_BROADCAST, FOR_SCHEDULES);
	for (size_t s = 0; s < usual.count; s++) {
		struct answer answer = solve(usual.at[s], &problem, 1 << 20, 1, run_arena(run));
		if (!run_spend(run, answer.ticks))
			break;
		for (size_t i = 0; i < answer.candidate_count; i++) {
			const struct send_schedule *schedule = answer.candidates[i].schedule;
			if (one_by_one(schedule) && (!best || schedule->rounds < best->rounds))
				best = schedule;
		}
	}
	return best;
}
