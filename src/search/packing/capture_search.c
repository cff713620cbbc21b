#include "search/packing/capture_search.h"

#include "base/fatal.h"

#include <assert.h>

struct capture_found capture_explore(const struct asker *asker,
	const struct capture_question *question, uint64_t budget, struct arena *arena)
{
	const struct solver *solver = solver_for(STAGE_MENU, FOR_CAPTURES);
	struct problem problem = {.stage = STAGE_MENU, .menu = question};
	struct answer answer = solve_for(asker, solver, &problem, budget, 1, arena);
	assert(answer.candidate_count > 0);
	const struct capture_answer *best = answer.candidates[answer.candidate_count - 1].menu;
	const char *why = capture_check(arena, question, best);
	struct capture_cost cost = capture_cost(question->capture, best);
	if (why || capture_compare(&cost, &best->cost) != 0)
		BUG("menu/%s answers '%s' wrongly: %s", solver->name, question->capture->name,
			why ? why : "its cost is another");
	return (struct capture_found){
		.answer = best,
		.is_proven = answer.status == PROOF_OPTIMAL,
		.bound = (int64_t)answer.bound,
		.ticks = answer.ticks,
		.is_stopped = answer.cut,
		.reason = answer.complaint_count ? answer.complaints[0].text : NULL,
	};
}
