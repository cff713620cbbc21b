#include "base/arena.h"
#include "cost/graph/cost.h"
#include "cost/graph/floor.h"
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

/* No plan is faster than the floor of its workload; of some plans it is all cycles but the overhead. */
BARE_TEST(no_plan_is_below_the_floor)
{
	static const struct random_options options = {
		.elements_most = 3000, .legal = true, .opaque = true};
	uint64_t seed = draws_seed(3);
	long count = draws(600), near = 0, by_bytes = 0;
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		int cores = 1 << draw_below(&random, 4);
		const struct arch *arch = spyre_arch(arena, cores);
		const struct plan *plan = random_plan(&random, &options, arch, cores, arena);
		struct plan_cost cost;
		assert_true(cost_plan(plan, arena, &cost));
		int64_t floor = latency_floor(arch, plan->workload, cores), hbm = 0;
		int64_t cycles = cost.score.cycles - cost.overhead_cycles;
		for (int p = 0; p < cost.phase_count; p++)
			hbm += cost.phases[p].resource[RESOURCE_HBM];
		if (floor > cycles)
			fail_msg("draw %ld of seed %" PRIu64 ": floor %" PRId64
				 ", a plan takes %" PRId64,
				i, seed, floor, cycles);
		near += 10 * floor >= 9 * cycles;
		by_bytes += floor == hbm;
		arena_close(arena);
	}
	print_message("%ld of %ld floors within 10 %%, %ld the very cycles of HBM\n", near, count,
		by_bytes);
	assert_true(!draws_are_many(count) || (near && by_bytes));
}

TEST(legal_plans_count_alike)
{
	static const struct random_options options = {
		.elements_most = 3000, .legal = true, .opaque = true};
	compare(&options, 8, 1);
}

TEST(any_plans_count_alike)
{
	static const struct random_options options = {.elements_most = 3000, .opaque = true};
	compare(&options, 32, 2);
}
