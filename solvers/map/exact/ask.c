#include "solvers/map/exact/ask.h"

struct answer nest_ask(struct run *run, const char *solver, const struct nest_search *search,
	uint64_t chain, uint64_t chains, uint64_t ticks, struct arena *arena)
{
	if (!space_factors_count(search->space))
		return (struct answer){.status = PROOF_NONE};
	struct nest_search asked = *search;
	asked.wishes.budget = ticks;
	struct problem problem = {
		.stage = STAGE_MAP, .nest = &asked, .first = chain, .end = chains};
	struct answer answer = run_ask(
		run, solver_find(STAGE_MAP, solver), &problem, ticks, search->wishes.seed, arena);
	run_spend(run, answer.ticks);
	run_evaluated(run, answer.evaluated);
	return answer;
}
