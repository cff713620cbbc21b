#include "base/arena.h"
#include "cost/graph/cost.h"
#include "tests/support/draws.h"
#include "tests/support/naive_counts.h"
#include "tests/support/random_plan.h"
#include "tests/support/spyre.h"

#include <inttypes.h>

#include "tests/test.h"

/* Says where two counts differ. */
static bool same_counts(const struct plan *plan, const struct counts *a, const struct counts *b)
{
	if (counts_equal(a, b))
		return true;
	struct arena *arena = arena_open();
	for (int s = 0; s < plan->step_count; s++) {
		const struct op *op = &plan->workload->ops[plan->steps[s].op];
		print_message("step %d, op '%s', %s\n", s, op->name,
			mapping_print(arena, plan->arch, op, &plan->steps[s].mapping));
		for (int i = 0; i < op_operands(op); i++)
			for (int t = 0; t < TRAFFIC_COUNT; t++)
				if (a->steps[s].bytes[i][t] != b->steps[s].bytes[i][t])
					print_message("operand %d, %s: %" PRId64 ", naive %" PRId64
						      "\n",
						i, traffic_names[t], a->steps[s].bytes[i][t],
						b->steps[s].bytes[i][t]);
		if (a->steps[s].computes != b->steps[s].computes)
			print_message("computes: %" PRId64 ", naive %" PRId64 "\n",
				a->steps[s].computes, b->steps[s].computes);
	}
	arena_close(arena);
	return false;
}

static void compare(const struct random_options *options, int cores, uint64_t stream)
{
	uint64_t seed = draws_seed(stream);
	long count = draws(300);
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		const struct arch *arch = spyre_arch(arena, cores);
		const struct plan *plan = random_plan(&random, options, arch, cores, arena);
		struct counts counts, naive = naive_counts(plan, arena);
		assert_true(cost_counts(plan, arena, &counts));
		if (!same_counts(plan, &counts, &naive))
			fail_msg("draw %ld of seed %" PRIu64, i, seed);
		arena_close(arena);
	}
}

static void legal_plans_count_alike(void **state)
{
	static const struct random_options options = {
		.elements_most = 3000, .legal = true, .opaque = true};
	compare(&options, 8, 1);
}

static void any_plans_count_alike(void **state)
{
	static const struct random_options options = {.elements_most = 3000, .opaque = true};
	compare(&options, 32, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(legal_plans_count_alike),
		cmocka_unit_test(any_plans_count_alike),
	};
	return cmocka_run_group_tests_name("cost against a naive count", tests, NULL, NULL);
}
