#include "base/arena.h"
#include "base/number.h"
#include "base/tuning.h"
#include "model/packing/buffer.h"
#include "solvers/place/orders.h"
#include "solvers/place/pack/pack.h"
#include "solvers/place/packing.h"
#include "solvers/place/spill/spill.h"

/* The search for the least peak; pack/pack.h and spill/spill.h have those of its parts. */
#define EXACT_OPTIONS(OPTION)                                                                      \
	OPTION(EXACT_ROUND_NODES, 3000, 1, 1 << 30, "nodes for a capacity in the first round")     \
	OPTION(EXACT_ROUND_TIMES, 4, 2, 100, "times as many in each round after")
OPTIONS(EXACT_OPTIONS)

/* The search for the least peak: it is in [bound, value], and a multiple of the grain. */
struct peak {
	struct run *run;
	const struct packing *packing;
	int64_t grain, bound, value; /* value: no layout yet if beyond the capacity */
	bool is_over, is_too_large;
};

static void placement_offer(struct run *run, const struct placement *placement, int64_t value)
{
	struct candidate candidate = {.stage = STAGE_PLACE, .placement = placement};
	run_offer(run, &candidate, (double)value);
}

static void find_fit(struct run *run, const struct packing *packing)
{
	const struct placement *hinted = start_hinted(run, packing);
	if (hinted) {
		placement_offer(run, hinted, 0);
		run_prove(run, PROOF_OPTIMAL, 0);
		return;
	}
	struct pack_question question = {
		.packing = packing, .capacity = packing->capacity, .explain = true};
	struct pack_answer answer = pack(run, &question, run_arena(run));
	if (answer.status == VERDICT_YES) {
		placement_offer(run, answer.placement, 0);
		run_prove(run, PROOF_OPTIMAL, 0);
	} else if (answer.status == VERDICT_NO) {
		run_prove(run, PROOF_INFEASIBLE, 0);
		if (answer.core_count)
			run_core(run, answer.core_count, answer.core);
	} else if (answer.is_too_large) {
		const struct placement *start = start_layout(run, packing);
		if (start) {
			placement_offer(run, start, 0);
			run_prove(run, PROOF_OPTIMAL, 0);
			return;
		}
		run_complain(run, false, -1,
			"no exact answer: more than %d pairs of buffers live at the same time, which no "
			"budget helps; other solvers place them without a proof",
			PACK_PAIRS_MOST);
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

/* Starts that return find layouts sooner; the others find sooner that there is none. */
static enum verdict ask_packer(struct peak *peak, int64_t capacity, uint64_t nodes, bool returns)
{
	struct pack_question question = {
		.packing = peak->packing, .capacity = capacity, .nodes = nodes, .returns = returns};
	struct arena *arena = arena_open();
	struct pack_answer answer = pack(peak->run, &question, arena);
	if (answer.status == VERDICT_YES) {
		peak->value = placement_peak(peak->packing, answer.placement);
		arena_adopt(run_arena(peak->run), arena);
		placement_offer(peak->run, answer.placement, peak->value);
	} else {
		arena_close(arena);
	}
	if (answer.status == VERDICT_NO)
		peak->bound = capacity + peak->grain;
	if (answer.status != VERDICT_OPEN)
		run_report(peak->run, (double)peak->value, (double)peak->bound);
	peak->is_too_large |= answer.is_too_large;
	peak->is_over = answer.is_too_large || !run_spend(peak->run, 1);
	return answer.status;
}

/* Still a capacity to ask for? */
static bool peak_goes_on(const struct peak *peak)
{
	return !peak->is_over && peak->bound < peak->value &&
	       peak->bound <= peak->packing->capacity;
}

/* So many eighths of the way from the bound to the best so far, below which it stays. */
static int64_t peak_between(const struct peak *peak, int64_t eighths)
{
	int64_t grains = number_ceil_div(peak->value - peak->bound, peak->grain);
	int64_t up = grains / 8 * eighths + grains % 8 * eighths / 8;
	return peak->bound + number_min(up, grains - 1) * peak->grain;
}

/*
 * A tight capacity is hardly harder than a loose one, until there is none.  So the bound comes
 * first, then what is well below the best so far; below what fits, one goes on in small steps.
 * False: nothing was found.
 */
static bool search_round(struct peak *peak, uint64_t nodes)
{
	static const int64_t eighths[] = {0, 2, 5};
	/* raising the bound cannot find buffers that fit into no capacity */
	if (peak->value > peak->packing->capacity)
		return ask_packer(peak, peak->packing->capacity, nodes, false) == VERDICT_YES;
	int64_t before = peak->value;
	for (size_t k = 0; k < sizeof eighths / sizeof *eighths && peak_goes_on(peak);) {
		enum verdict status =
			ask_packer(peak, peak_between(peak, eighths[k]), nodes, k > 0);
		if (status == VERDICT_YES)
			break;
		k += status == VERDICT_OPEN;
	}
	while (peak->value < before && peak_goes_on(peak))
		if (ask_packer(peak, peak_between(peak, 7), nodes, true) != VERDICT_YES)
			break;
	return peak->value < before;
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
		placement_offer(run, start, peak.value);
		run_report(run, (double)peak.value, (double)peak.bound);
	}
	for (uint64_t nodes = EXACT_ROUND_NODES; peak_goes_on(&peak);)
		if (!search_round(&peak, nodes))
			nodes *= EXACT_ROUND_TIMES;
	if (peak.is_too_large && peak.bound < peak.value)
		run_complain(run, false, -1,
			"the proof ends early: more than %d pairs of buffers live at the same time, which no "
			"budget helps; split the table where few buffers live",
			PACK_PAIRS_MOST);
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
		spill_run(run, problem);
		break;
	}
}

const struct solver place_exact_solver = {
	.stage = STAGE_PLACE,
	.name = "exact",
	.summary = "complete search: does it fit, the least peak, what to spill",
	.purposes = FOR_GRAPHS | FOR_PACKINGS,
	.proves = true,
	.keeps_parts = true,
	.run = exact_run,
};
