#include "base/arena.h"
#include "search/graph/lx.h"
#include "search/graph/stream.h"
#include "tests/support/draws.h"
#include "tests/support/executed.h"
#include "tests/support/random_graph.h"
#include "tests/support/spyre.h"

#include "tests/test.h"

/*
 * Random graphs, planned, tiled, lowered and run on data: no fault, the results
 * of the plain loop nests, and the bytes that the analytical model counts.
 */
struct outcome {
	long run, resident, in_place, multicast;
};

static void count_stays(const struct plan *plan, struct outcome *outcome)
{
	for (int i = 0; i < plan->residency_count; i++) {
		const struct residency *stay = &plan->residencies[i];
		int producer = plan->workload->tensors[stay->tensor].producer;
		if (stay->place != PLACE_LX)
			continue;
		outcome->resident++;
		outcome->in_place += stay->in_place_of >= 0;
		outcome->multicast += mapping_cores(plan->arch, &plan->steps[producer].mapping) <
				      stay->view.cores;
	}
}

static void run_plan(struct plan *plan, long draw, struct arena *arena)
{
	const char *why;
	if (!stream_plan(plan, NULL, arena, &why))
		fail_msg("draw %ld: %s", draw, why);
	why = execute_exactly(plan, (uint64_t)draw, arena);
	if (why)
		fail_msg("draw %ld: %s", draw, why);
}

BARE_TEST(planned_graphs_do_what_the_reference_does)
{
	static const char *const place[] = {"greedy", "firstfit", "bestfit"};
	static const enum clone_split clones[] = {CLONE_OFF, CLONE_NONE, CLONE_READERS};
	long count = draws(100);
	uint64_t seed = draws_seed(9);
	struct outcome outcome = {0};
	for (long draw = 0; draw < count; draw++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)draw);
		const struct arch *arch = spyre_arch(arena, 1 << random_below(&random, 6));
		const struct workload *workload = random_graph(&random, arena);
		struct planning planning = planning_default(arch);
		planning_lists("all", &planning.eligible, &planning.in_place);
		planning.clones = clones[random_below(&random, 3)];
		struct lx_plan_result result = lx_plan(arch, workload,
			random_division(&random, arch, workload, &planning, arena), &planning,
			solver_find(STAGE_PLACE, place[random_below(&random, 3)]), arena);
		assert_non_null(result.plan);
		run_plan(result.plan, draw, arena);
		outcome.run++;
		count_stays(result.plan, &outcome);
		arena_close(arena);
	}
	print_message("%ld plans run; %ld tensors in LX, %ld in place, %ld multicast\n",
		outcome.run, outcome.resident, outcome.in_place, outcome.multicast);
	if (!draws_are_many(count))
		return;
	assert_true(outcome.resident > count / 2);
	assert_true(outcome.in_place > count / 20);
}
