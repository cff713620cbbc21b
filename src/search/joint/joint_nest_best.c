#include "cost/graph/cost.h"
#include "search/engine/kept.h"
#include "search/graph/options.h"
#include "search/joint/joint_nests.h"

int64_t joint_nest_ask(struct joint_making *making, const struct inner_question *question,
	uint64_t ticks, struct nest_choice *out)
{
	const struct joint_aim *aim = &making->question->aim;
	const struct nests_wanted wanted = {.solver = aim->map,
		.kept = making->kept,
		.stopper = making->question->planning->stopper};
	struct objectives objectives = {0};
	int64_t least = JOINT_NEVER;
	if (aim->cycles || aim->energy) /* one front for all weights */
		objectives = (struct objectives){2, {OBJECTIVE_LATENCY, OBJECTIVE_ENERGY}};
	if (aim->hbm_bytes)
		objectives.at[objectives.count++] = OBJECTIVE_HBM_BYTES;
	const struct nest_front *front =
		nests_front(question, &wanted, &objectives, ticks, making->scratch);
	making->unproven |= !front->why && !front->proven;
	for (size_t i = 0; i < front->count; i++) {
		const struct nest_choice *choice = &front->at[i];
		int64_t own =
			joint_worth(making, choice->cycles, choice->energy_pj, choice->hbm_bytes);
		if (own < least) {
			least = own;
			*out = *choice;
		}
	}
	return least;
}

static int64_t price_step(struct joint_making *making, const struct inner_question *question)
{
	struct op_price price;
	if (!op_price(question, making->scratch, &price) || price.why)
		return JOINT_NEVER;
	return joint_worth(making, price.bound, price.energy_pj, price.hbm_bytes);
}

/* What needs little room fits many plans, and is asked about once. */
static void polish(struct joint_making *making, struct plan *plan, int step)
{
	struct inner_question question = inner_nest_question(making->scratch, plan, step);
	int64_t rooms[] = {0, question.room};
	if (!op_is_tiled(question.op))
		return;
	/* How one that adds up is in most iterations. */
	question.resumes = run_adds_up(question.op, plan_run(plan, step));
	int64_t least = price_step(making, &question);
	for (int i = 0; i < (question.room ? 2 : 1); i++) {
		struct nest_choice choice;
		struct inner_question asked = question;
		asked.room = rooms[i];
		if (joint_nest_ask(making, &asked, NEST_STEP_TICKS, &choice) == JOINT_NEVER)
			continue;
		asked.room = question.room;
		asked.mapping = &choice.mapping;
		int64_t own = price_step(making, &asked);
		if (own < least) {
			least = own;
			plan->steps[step].mapping = choice.mapping;
		}
		if (own < JOINT_NEVER)
			return;
	}
}

void joint_nests_polish(const struct joint_graph *graph, struct plan *plan, struct arena *arena)
{
	struct joint_making making = {
		.question = &graph->question, .arena = arena, .scratch = arena_open()};
	struct kept *own = graph->question.aim.kept ? NULL : kept_open();
	making.kept = own ? own : graph->question.aim.kept;
	bool brief =
		!arch_moves_boxes(plan->arch) && graph->unproven && !graph->question.aim.nest_ticks;
	for (int step = 0; brief && step < plan->step_count; step++)
		polish(&making, plan, step);
	kept_close(own);
	arena_close(making.scratch);
}
