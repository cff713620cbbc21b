#include "search/graph/lx_price.h"

#include "base/arena.h"
#include "base/text.h"
#include "constraints/graph.h"
#include "search/graph/evaluate.h"
#include "search/graph/lx_trial.h"

enum { START_STEPS_MOST = 1000000 };

/* The constraints without those of LX, whose tensors are listed. */
static struct constraints leave_out(
	const struct constraints *constraints, struct text *tensors, struct arena *arena)
{
	struct constraints rest = *constraints;
	rest.at = arena_array(arena, struct constraint, constraints->count);
	rest.count = 0;
	for (size_t i = 0; i < constraints->count; i++) {
		const struct constraint *constraint = &constraints->at[i];
		if (graph_asks_lx(constraint))
			text_add(tensors, "%s'%s'", *text_read(tensors) ? ", " : "",
				constraint->subject);
		else
			rest.at[rest.count++] = *constraint;
	}
	return rest;
}

/* Puts each tensor that must be in LX there; NULL if one cannot be. */
static const struct plan *put_into_lx(const struct plan *plan, const struct planning *planning,
	const struct constraints *constraints, struct arena *arena)
{
	for (size_t i = 0; plan && i < constraints->count; i++) {
		const struct constraint *constraint = &constraints->at[i];
		if (!graph_asks_lx(constraint) || !graph_check_one(constraints, i, plan, arena))
			continue;
		int tensor = workload_tensor(plan->workload, constraint->subject);
		plan = tensor < 0 ? NULL : lx_try(plan, planning, tensor, arena).plan;
	}
	const char *why = NULL;
	if (!plan || graph_check(constraints, plan, arena, &why) ||
		evaluate_given(plan, START_STEPS_MOST, arena).why)
		return NULL;
	return plan;
}

struct lx_price lx_price_find(const struct recipe *recipe, struct arena *arena)
{
	struct lx_price price = {0};
	const struct constraints *constraints = recipe->planning.constraints;
	if (!constraints)
		return price;
	struct text tensors = text_open(arena);
	struct constraints rest = leave_out(constraints, &tensors, arena);
	if (rest.count == constraints->count)
		return price;
	price.tensors = text_read(&tensors);
	struct recipe asked = *recipe;
	asked.planning.constraints = &rest;
	price.free = recipe_plan(&asked, arena).plan;
	if (price.free)
		price.start = put_into_lx(price.free, &asked.planning, constraints, arena);
	return price;
}
