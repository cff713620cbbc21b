#include "base/arena.h"
#include "solvers/place/pack.h"
#include "solvers/place/packing.h"
#include "solvers/place/spill.h"

static void offer(struct run *run, const struct placement *placement, int64_t value)
{
	struct candidate candidate = {.stage = STAGE_PLACE, .placement = placement};
	run_offer(run, &candidate, (double)value);
}

static int64_t peak_of(const struct packing *packing, const struct placement *placement)
{
	int64_t peak = 0;
	for (size_t i = 0; i < packing->count; i++) {
		int64_t top = placement->addresses[i] + packing->buffers[i].size;
		if (placement->addresses[i] != UNPLACED && packing->buffers[i].size && top > peak)
			peak = top;
	}
	return peak;
}

static void find_fit(struct run *run, const struct packing *packing)
{
	struct pack_question question = {.packing = packing, .capacity = packing->capacity};
	struct pack_answer answer = pack(run, &question, run_arena(run));
	if (answer.status == PACK_FITS) {
		offer(run, answer.placement, 0);
		run_prove(run, PROOF_OPTIMAL, 0);
	} else if (answer.status == PACK_NEVER) {
		run_prove(run, PROOF_INFEASIBLE, 0);
	}
}

static void find_peak(struct run *run, const struct packing *packing)
{
	int64_t capacity = packing->capacity;
	bool found = false;
	for (;;) {
		struct pack_question question = {.packing = packing, .capacity = capacity};
		struct pack_answer answer = pack(run, &question, run_arena(run));
		if (answer.status == PACK_FITS) {
			int64_t peak = peak_of(packing, answer.placement);
			offer(run, answer.placement, peak);
			run_report(run, (double)peak, 0);
			found = true;
			capacity = peak - 1;
			if (peak > 0)
				continue;
		}
		if (answer.status != PACK_UNKNOWN)
			run_prove(run, found ? PROOF_OPTIMAL : PROOF_INFEASIBLE,
				found ? (double)(capacity + 1) : 0);
		break;
	}
}

static void exact_run(struct run *run, const struct problem *problem)
{
	const struct packing *packing = problem->packing;
	switch (packing->goal) {
	case PACKING_FIT:
		find_fit(run, packing);
		break;
	case PACKING_PEAK:
		find_peak(run, packing);
		break;
	case PACKING_SPILL:
		spill_run(run, packing);
		break;
	}
}

const struct solver place_exact_solver = {
	.stage = STAGE_PLACE,
	.name = "exact",
	.summary = "complete search: does it fit, the least peak, what to spill",
	.proves = true,
	.keeps_parts = true,
	.lays_out = true,
	.run = exact_run,
};
