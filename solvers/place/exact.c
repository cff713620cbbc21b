#include "base/arena.h"
#include "base/number.h"
#include "model/packing_sums.h"
#include "solvers/place/load.h"
#include "solvers/place/pack.h"
#include "solvers/place/packing.h"
#include "solvers/place/spill.h"
#include "solvers/place/start.h"

/* Nodes for a capacity in the first round of a search for the least peak; twice as many in
 * each round after. */
enum { ROUND_NODES = 3000, ROUND_TIMES = 2 };

/* What is known about the least peak: it is in [bound, value], and a multiple of the grain. */
struct peak {
	struct run *run;
	const struct packing *packing;
	int64_t grain, bound, value; /* value: no layout yet if beyond the capacity */
	bool is_over;
};

static void offer(struct run *run, const struct placement *placement, int64_t value)
{
	struct candidate candidate = {.stage = STAGE_PLACE, .placement = placement};
	run_offer(run, &candidate, (double)value);
}

static void find_fit(struct run *run, const struct packing *packing)
{
	struct pack_question question = {
		.packing = packing, .capacity = packing->capacity, .explain = true};
	struct pack_answer answer = pack(run, &question, run_arena(run));
	if (answer.status == PACK_FITS) {
		offer(run, answer.placement, 0);
		run_prove(run, PROOF_OPTIMAL, 0);
	} else if (answer.status == PACK_NEVER) {
		run_prove(run, PROOF_INFEASIBLE, 0);
		if (answer.core_count)
			run_core(run, answer.core_count, answer.core);
	} else if (answer.is_too_large) {
		const struct placement *start = start_layout(run, packing);
		if (start) {
			offer(run, start, 0);
			run_prove(run, PROOF_OPTIMAL, 0);
			return;
		}
		run_complain(run, false, -1,
			"too many buffers live at once for an exact answer; other solvers place "
			"them without one");
	}
}

/* Some best layout has all its addresses and ends on multiples of this. */
static int64_t find_grain(const struct packing *packing)
{
	int64_t grain = 0;
	for (size_t i = 0; i < packing->count; i++) {
		const struct buffer *buffer = &packing->buffers[i];
		grain = number_gcd(grain, buffer->size);
		if (buffer->is_fixed)
			grain = number_gcd(grain, buffer->address);
	}
	for (size_t r = 0; r < packing->reserved_count; r++)
		grain = number_gcd(
			number_gcd(grain, packing->reserved[r].from), packing->reserved[r].to);
	for (bool again = true; again;) {
		again = false;
		for (size_t i = 0; i < packing->count; i++) {
			int64_t step = packing_step(packing, i);
			if (!grain || grain % step == 0 || step % grain == 0)
				continue;
			grain = number_gcd(grain, step);
			again = true;
		}
	}
	return grain ? grain : 1;
}

static enum pack_status ask(struct peak *peak, int64_t capacity, uint64_t nodes)
{
	struct pack_question question = {
		.packing = peak->packing, .capacity = capacity, .nodes = nodes};
	struct arena *arena = arena_open();
	struct pack_answer answer = pack(peak->run, &question, arena);
	if (answer.status == PACK_FITS) {
		peak->value = placement_peak(peak->packing, answer.placement);
		arena_adopt(run_arena(peak->run), arena);
		offer(peak->run, answer.placement, peak->value);
	} else {
		arena_close(arena);
	}
	if (answer.status == PACK_NEVER)
		peak->bound = capacity + peak->grain;
	if (answer.status != PACK_UNKNOWN)
		run_report(peak->run, (double)peak->value, (double)peak->bound);
	peak->is_over = answer.is_too_large || !run_spend(peak->run, 1);
	return answer.status;
}

/* From the bound, which may be the answer, and then the middle of what is left. */
static void search_round(struct peak *peak, uint64_t nodes)
{
	int64_t capacity = peak->packing->capacity, low = peak->bound;
	/* What fits into no capacity is not found by raising the bound. */
	if (peak->value > capacity && ask(peak, capacity, nodes) == PACK_NEVER)
		return;
	if (peak->is_over || peak->bound >= peak->value)
		return;
	while (ask(peak, low, nodes) == PACK_NEVER && !peak->is_over && peak->bound <= capacity)
		low = peak->bound;
	if (peak->is_over || peak->bound >= peak->value || peak->bound > capacity)
		return;
	while (!peak->is_over && peak->bound < peak->value && peak->value <= capacity) {
		int64_t middle = low + (peak->value - low) / peak->grain / 2 * peak->grain;
		if (middle == low)
			return;
		ask(peak, middle, nodes);
		low = number_max(middle < peak->value ? middle : low, peak->bound);
	}
}

static void find_peak(struct run *run, const struct packing *packing)
{
	struct peak peak = {.run = run, .packing = packing, .grain = find_grain(packing)};
	peak.bound = packing_load(packing, run_arena(run));
	peak.value = INT64_MAX;
	if (peak.bound <= INT64_MAX - peak.grain)
		peak.bound = number_align_up(peak.bound, peak.grain);
	const struct placement *start = start_layout(run, packing);
	if (start) {
		peak.value = placement_peak(packing, start);
		offer(run, start, peak.value);
		run_report(run, (double)peak.value, (double)peak.bound);
	}
	for (uint64_t nodes = ROUND_NODES;
		!peak.is_over && peak.bound < peak.value && peak.bound <= packing->capacity;
		nodes *= ROUND_TIMES)
		search_round(&peak, nodes);
	if (peak.value <= packing->capacity)
		run_prove(run, peak.bound >= peak.value ? PROOF_OPTIMAL : PROOF_BOUND,
			(double)number_min(peak.bound, peak.value));
	else if (peak.bound > packing->capacity)
		run_prove(run, PROOF_INFEASIBLE, 0);
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
