#include "search/joint/joint_worth.h"

#include "base/arena.h"
#include "search/engine/kept.h"
#include "search/joint/joint_graph.h"

static struct joint_worth solve_without(const struct recipe *recipe, const char *kind)
{
	struct joint_worth worth = {.kind = kind};
	struct arena *arena = arena_open();
	struct recipe_result found = recipe_plan(recipe, arena);
	if (found.plan) {
		worth.cycles = found.plan->proof.value;
		worth.proven = found.plan->proof.status == PROOF_OPTIMAL;
	} else {
		worth.why = "no plan was found";
	}
	arena_close(arena);
	return worth;
}

struct joint_worths joint_worths(const struct recipe *recipe, struct arena *arena)
{
	struct joint_worths worths = {0};
	struct recipe asked = *recipe;
	asked.kept = kept_open();
	worths.at[worths.count++] = solve_without(&asked, NULL);
	for (int k = 0; joint_kind_names[k] && worths.count < JOINT_WORTHS_MOST; k++) {
		asked.aim.fixed = recipe->aim.fixed | 1u << k;
		if (1u << k != KIND_CUT_TILES && asked.aim.fixed != recipe->aim.fixed)
			worths.at[worths.count++] = solve_without(&asked, joint_kind_names[k]);
	}
	kept_leave(asked.kept, arena);
	for (size_t i = 1; i < worths.count; i++)
		if (!worths.at[i].why && worths.at[i].cycles < worths.at[0].cycles)
			worths.at[0].cycles = worths.at[i].cycles;
	return worths;
}
