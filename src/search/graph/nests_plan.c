#include "base/arena.h"
#include "search/engine/kept.h"
#include "search/graph/nests.h"

/* Operands of a step that no nest has room for go back to their home; false: none was away. */
static bool send_home(struct plan *plan, int step)
{
	const struct op *op = &plan->workload->ops[plan->steps[step].op];
	bool any = false;
	for (int i = 0; i < op_operands(op); i++) {
		int t = op_operand(op, i)->tensor;
		for (int r = 0; r < plan->residency_count; r++) {
			struct residency *stay = &plan->residencies[r];
			if (stay->in_place_of == t)
				stay->in_place_of = -1;
			if (stay->tensor != t || stay->place != PLACE_LX)
				continue;
			*stay = (struct residency){.tensor = t,
				.place = PLACE_HBM,
				.from = stay->from,
				.to = stay->to,
				.in_place_of = -1};
			any = true;
		}
	}
	return any;
}

bool nests_plan(
	struct plan *plan, const struct nests_wanted *asked, struct arena *arena, const char **why)
{
	struct nests_wanted wanted = *asked;
	struct kept *own = wanted.kept ? NULL : kept_open();
	bool found = true;
	if (own)
		wanted.kept = own;
	for (int step = 0; found && step < plan->step_count && !stopper_stops(&wanted.stopper);
		step++) {
		struct inner_question question = inner_nest_question(arena, plan, step);
		if (!op_is_tiled(question.op))
			continue;
		const struct nest_answer *answer = nests_ask(&question, &wanted, arena);
		plan->steps[step].mapping = answer->mapping;
		found = !answer->why;
		if (!found && !arch_moves_boxes(plan->arch) && !plan->run_count &&
			send_home(plan, step)) {
			found = true;
			step = -1; /* steps before may have had one of them in the scratchpad */
			continue;
		}
		if (!found)
			*why = arena_format(arena, "op '%s': %s", question.op->name, answer->why);
	}
	kept_close(own);
	return found;
}
