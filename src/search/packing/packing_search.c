#include "search/packing/packing_search.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "base/number.h"
#include "model/packing/buffer.h"

#include <assert.h>
#include <inttypes.h>

struct packing_judge {
	const struct packing_search *search;
	int64_t load; /* the highest: no peak is below */
	const struct answer *answer;
};

static bool placement_is_whole(const struct placement *placement)
{
	for (size_t i = 0; i < placement->count; i++)
		if (placement->addresses[i] == UNPLACED)
			return false;
	return true;
}

/* Solvers are not believed. */
static void packing_search_verify(
	const struct packing_search *search, const struct placement *placement)
{
	const struct packing *packing = search->packing;
	struct packing_fault fault = packing_check(packing, placement);
	if (fault.a < 0)
		return;
	BUG("place/%s made a wrong layout: '%s'%s%s%s: %s", search->solver->name,
		packing->buffers[fault.a].name, fault.b >= 0 ? " and '" : "",
		fault.b >= 0 ? packing->buffers[fault.b].name : "", fault.b >= 0 ? "'" : "",
		fault.why);
}

static int64_t cost_of(const struct packing *packing, const struct placement *placement)
{
	switch (packing->goal) {
	case PACKING_SPILL:
		return packing_weights(packing) - placement_saved(packing, placement);
	case PACKING_PEAK:
		return placement_peak(packing, placement);
	default:
		return 0;
	}
}

static bool tasks(void *self, int round, struct drive *drive, size_t *count)
{
	*count = 1;
	return round == 1;
}

/* The first of several layouts that cost the same is kept: no other is offered. */
static void run(void *self, size_t i, struct slot *slot)
{
	struct packing_judge *judge = self;
	const struct packing_search *search = judge->search;
	struct problem problem = {.stage = STAGE_PLACE, .packing = search->packing};
	struct answer *answer = arena_new(slot->arena, struct answer);
	judge->answer = slot->left = answer;
	*answer = drive_ask(slot, search->solver, &problem, search->wishes.budget,
		search->wishes.seed, slot->arena);
	slot->complete = false; /* what is proven of a cost stands beside it */
	slot->bound = 0;
	slot->complaint = NULL; /* all of them are in the answer */
	int64_t least = INT64_MAX;
	for (size_t c = 0; c < answer->candidate_count; c++) {
		struct packing_found found = {.placement = answer->candidates[c].placement};
		packing_search_verify(search, found.placement);
		int64_t cost = cost_of(search->packing, found.placement);
		bool counts = search->packing->goal == PACKING_SPILL ||
			      placement_is_whole(found.placement);
		if (!counts || cost >= least)
			continue;
		least = cost;
		drive_offer(slot, &found.common);
	}
}

/* Keeps the bound of the cost; a bound above the cost of the layout at hand is a complaint and is not used. */
static void packing_judge_prove(
	const struct packing_judge *judge, struct found *found, struct slot *slot, int64_t cost)
{
	const struct packing_search *search = judge->search;
	const struct answer *answer = judge->answer;
	int64_t known = search->packing->goal == PACKING_PEAK ? judge->load : 0, bound = known;
	if (answer->status == PROOF_OPTIMAL || answer->status == PROOF_BOUND)
		bound = number_max(known, (int64_t)answer->bound);
	if (bound > cost) {
		slot->complaint = arena_format(slot->arena,
			"the bound of place/%s is wrong and not used: %" PRId64
			", and the layout costs %" PRId64,
			search->solver->name, bound, cost);
		bound = known;
	}
	found->proof = bound == cost ? PROOF_OPTIMAL : PROOF_BOUND;
	found->bound = (double)bound;
	found->gap = (double)(cost - bound);
}

static const char *price(void *self, struct found *found, struct slot *slot, struct score *score)
{
	const struct packing_judge *judge = self;
	const struct packing *packing = judge->search->packing;
	int64_t cost = cost_of(packing, ((struct packing_found *)found)->placement);
	*(packing->goal == PACKING_PEAK ? &score->lx_peak_bytes : &score->hbm_bytes) = cost;
	packing_judge_prove(judge, found, slot, cost);
	return NULL;
}

/* One point is kept; it needs no name. */
static const char *key(void *self, const struct found *found, struct arena *arena)
{
	return "";
}

/* It sees to its end itself: solvers offer the best they have when they are stopped. */
static const struct drive_kind packings = {
	.tasks = tasks,
	.run = run,
	.price = price,
	.key = key,
	.size = sizeof(struct packing_found),
	.runs_late = true,
};

struct explored packing_explore(const struct packing_search *search, struct arena *arena)
{
	struct packing_judge judge = {.search = search};
	struct load_curve load = load_curve(arena, search->packing, NULL);
	struct wishes wishes = search->wishes;
	judge.load = load.most < load.count ? load.steps[load.most].bytes : 0;
	wishes.simulate = SIMULATE_NONE;
	wishes.objectives = (struct objectives){1,
		{search->packing->goal == PACKING_PEAK ? OBJECTIVE_LX_PEAK : OBJECTIVE_HBM_BYTES}};
	struct explored explored = drive_explore(&packings, &judge, &wishes, arena);
	explored.more = judge.answer;
	return explored;
}

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
