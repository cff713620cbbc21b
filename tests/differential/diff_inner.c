#include "base/arena.h"
#include "cost/graph/cost.h"
#include "cost/graph/footprint.h"
#include "tests/support/array_arch.h"
#include "tests/support/draws.h"
#include "tests/support/naive_counts.h"
#include "tests/support/random_array.h"
#include "tests/support/random_plan.h"

#include <inttypes.h>

#include "tests/test.h"

/*
 * Plans on machines with described arrays: the price of every op against a walk over tiles that
 * carries the nest inside out element by element.
 */
static struct plan *draw_plan(struct random *random, bool boxes, struct arena *arena)
{
	static const struct random_options options = {.elements_most = 800};
	const struct arch *arch = random_array(random, boxes, arena);
	if (!boxes)
		return whole_plan(random, arch, arena);
	struct plan *plan = random_plan(random, &options, arch, (int)arch_cores(arch), arena);
	array_draw_nests(random, plan, arena);
	return plan;
}

/* True if closed forms cover all nests of the plan, which are not too long to be walked, and how many
 * there are. */
static bool all_counted(const struct plan *plan, struct arena *arena, long *nests)
{
	for (int s = 0; s < plan->step_count; s++) {
		struct inner_question question = inner_nest_question(arena, plan, s);
		const struct inner_cost *inner = inner_cost_make(&question, arena);
		if (inner && (!inner->model || !nest_verdict_counts(inner->score.verdict)))
			return false;
		if (inner && inner->counts.computes > 20000)
			return false;
		*nests += inner != NULL;
	}
	return true;
}

static void explain(const struct plan *plan, const struct counts *a, const struct counts *b)
{
	struct arena *arena = arena_open();
	for (int s = 0; s < plan->step_count; s++) {
		const struct op *op = &plan->workload->ops[plan->steps[s].op];
		print_message("step %d, op '%s', %s, nests %s\n", s, op->name,
			mapping_print(arena, plan->arch, op, &plan->steps[s].mapping),
			a->steps[s].nests && b->steps[s].nests &&
					!nest_totals_equal(a->steps[s].nests, b->steps[s].nests)
				? "differ"
				: "are alike");
		for (int i = 0; i < op_operands(op); i++)
			for (int t = 0; t < TRAFFIC_COUNT; t++)
				if (a->steps[s].bytes[i][t] != b->steps[s].bytes[i][t])
					print_message("operand %d, %s: %" PRId64 ", naive %" PRId64
						      "\n",
						i, traffic_names[t], a->steps[s].bytes[i][t],
						b->steps[s].bytes[i][t]);
	}
	arena_close(arena);
}

static void compare(bool boxes, uint64_t stream)
{
	uint64_t seed = draws_seed(stream);
	long count = draws(80), counted = 0, nests = 0;
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		struct plan *plan = draw_plan(&random, boxes, arena);
		struct plan_cost cost;
		if (all_counted(plan, arena, &nests)) {
			struct counts naive = naive_counts(plan, arena);
			counted++;
			assert_true(cost_plan(plan, arena, &cost));
			if (!counts_equal(&cost.counts, &naive)) {
				explain(plan, &cost.counts, &naive);
				fail_msg("draw %ld of seed %" PRIu64, i, seed);
			}
			assert_true(energy_of_counts(plan, &naive, arena) == cost.score.energy_pj);
		}
		arena_close(arena);
	}
	assert_true(counted > count / 3);
	assert_true(nests > counted / 2);
}

TEST(nests_of_tiles_count_alike)
{
	compare(true, 1);
}

TEST(whole_nests_count_alike)
{
	compare(false, 2);
}

/* Every rule of the walk, broken, makes a difference somewhere. */
BARE_TEST(broken_rules_are_noticed)
{
	for (enum naive_rule rule = NAIVE_NONE + 1; rule < NAIVE_RULES; rule++) {
		bool noticed = false;
		uint64_t seed = draws_seed(3);
		for (uint64_t i = 0; i < 200 && !noticed; i++) {
			struct arena *arena = arena_open();
			struct random random = random_open(seed, i);
			struct plan *plan = draw_plan(&random, true, arena);
			struct counts counts, naive = naive_counts_without(rule, plan, arena);
			long nests = 0;
			noticed = all_counted(plan, arena, &nests) &&
				  cost_counts(plan, arena, &counts) &&
				  !counts_equal(&counts, &naive);
			arena_close(arena);
		}
		if (!noticed)
			fail_msg("rule %d is not noticed", (int)rule);
	}
}
