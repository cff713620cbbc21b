#include "base/arena.h"
#include "lower/graph/lower.h"
#include "search/drive/solver.h"
#include "search/graph/lx.h"
#include "search/graph/recipe.h"
#include "sim/graph/reference.h"
#include "tests/support/executed.h"
#include "tests/support/lookups.h"
#include "tests/support/spyre.h"
#include "tests/support/workload_text.h"

#include <inttypes.h>
#include <string.h>

#include "tests/test.h"

/*
 * The seven published scratchpad patterns, planned by place/exact on one core:
 * no more HBM bytes than the good allocation that was made by hand for each,
 * and every plan is executed.
 */
enum { CAPACITY = 1677721, SIMPLE_EVICTION = 1677824 /* 1677721 in whole sticks */ };

struct pattern {
	const char *name; /* of specs/workloads/pattern_<name>.yaml */
	int64_t good;     /* HBM bytes of the published good allocation, in whole sticks */
	int64_t capacity;
	int evicts, reloads; /* at least */
};

static const struct pattern patterns[] = {
	{"fragmentation", 1677696, CAPACITY, 0, 0},
	{"staircase", 1723392, CAPACITY, 0, 0},
	{"downward_staircase", 2269824, CAPACITY, 0, 0},
	{"eviction", 9 * (SIMPLE_EVICTION - 128), CAPACITY, 1, 1},
	{"simple_eviction", 9 * SIMPLE_EVICTION, SIMPLE_EVICTION, 1, 1},
	{"eviction_reallocation", 13980800, CAPACITY, 2, 2},
	{"gqa", 1775616, CAPACITY, 0, 0},
	{"moe_mlp", 4733952, CAPACITY, 0, 0},
};

static struct recipe_result make(
	struct arena *arena, const char *name, int64_t capacity, const char *place)
{
	const char *complaints;
	const char *path = arena_format(arena, "specs/workloads/pattern_%s.yaml", name);
	struct recipe recipe = {.place = solver_find(STAGE_PLACE, place)};
	const struct arch *arch = spyre_arch(arena, 32);
	recipe.planning = planning_default(arch);
	recipe.planning.cores = 1;
	recipe.planning.lx_capacity = capacity;
	recipe.arch = planning_arch(arena, arch, &recipe.planning);
	recipe.workload = workload_of_file(arena, path, &complaints);
	if (!recipe.workload)
		fail_msg("%s", complaints);
	struct recipe_result made = recipe_plan(&recipe, arena);
	if (!made.plan)
		fail_msg("%s: %s", name, made.why);
	return made;
}

static int count_moves(const struct plan *plan, enum move_kind kind)
{
	int count = 0;
	for (int s = 0; s < plan->step_count; s++)
		count += plan->workload->ops[s].move == kind;
	return count;
}

/* With identities: no fault, and the model's counts.  Answers the HBM bytes. */
static int64_t run(struct arena *arena, const struct plan *plan)
{
	const char *why;
	struct plan_cost cost;
	const struct program *program = lower_plan(plan, arena, &why);
	if (!program)
		fail_msg("%s: %s", plan->workload->name, why);
	struct sim_options options = {.mode = SIM_IDENTITY, .seed = 1};
	struct sim_result result = sim_run(program, &options, arena);
	if (result.fault_count)
		fail_msg("%s: %s", plan->workload->name, result.faults[0].text);
	assert_true(cost_plan(plan, arena, &cost));
	assert_true(counts_equal(&result.counts, &cost.counts));
	return cost.score.hbm_bytes;
}

static void pattern_needs_no_more_than_the_good_allocation(void **state)
{
	const struct pattern *pattern = *state;
	struct arena *arena = arena_open();
	struct plan *plan = make(arena, pattern->name, pattern->capacity, "exact").plan;
	int64_t bytes = run(arena, plan);
	if (bytes > pattern->good)
		fail_msg("%" PRId64 " bytes, the good allocation needs %" PRId64, bytes,
			pattern->good);
	assert_true(count_moves(plan, MOVE_EVICT) >= pattern->evicts);
	assert_true(count_moves(plan, MOVE_RELOAD) >= pattern->reloads);
	arena_close(arena);
}

/* The published placers know no eviction: both patterns are beyond them. */
static void evictions_are_what_the_published_solvers_lack(void **state)
{
	static const char *const placers[] = {"greedy", "firstfit", "bestfit"};
	for (size_t p = 3; p <= 5; p++) {
		for (size_t i = 0; i < sizeof placers / sizeof *placers; i++) {
			struct arena *arena = arena_open();
			struct score score;
			const struct plan *plan =
				make(arena, patterns[p].name, patterns[p].capacity, placers[i])
					.plan;
			assert_true(cost_score(plan, arena, &score));
			assert_true(score.hbm_bytes > patterns[p].good);
			assert_int_equal(count_moves(plan, MOVE_EVICT), 0);
			arena_close(arena);
		}
	}
}

static void simple_eviction_cannot_fit_as_published(void **state)
{
	struct arena *arena = arena_open();
	struct recipe_result made = make(arena, "simple_eviction", CAPACITY, "exact");
	int found = 0;
	for (size_t i = 0; i < made.reason_count; i++) {
		const char *name = made.plan->workload->tensors[made.reasons[i].tensor].name;
		if (strcmp(name, "A") && strcmp(name, "B"))
			continue;
		found++;
		assert_string_equal(made.reasons[i].text,
			"its 1677824 bytes per core (13108 sticks) exceed the 1677721 of LX");
	}
	assert_int_equal(found, 2);
	arena_close(arena);
}

/* On data.  What LX holds of a clone of an input is in HBM already: eviction sends nothing. */
static void what_comes_back_is_what_left(void **state)
{
	struct arena *arena = arena_open();
	struct plan *plan = make(arena, "eviction_reallocation", CAPACITY, "exact").plan;
	struct executed executed = execute_plan(plan, 1, true, arena);
	if (executed.why)
		fail_msg("%s", executed.why);
	for (size_t t = 0; t < plan->workload->tensor_count; t++) {
		const struct tensor *tensor = &plan->workload->tensors[t];
		if (executed.result.outputs[t])
			assert_true(reference_compare(tensor, executed.expected[t],
					    executed.result.outputs[t])
					    .worst_ulps <= 1);
	}
	for (int s = 0; s < plan->step_count; s++)
		if (plan_is_evict(plan, s))
			assert_int_equal(
				executed.result.counts.steps[s].bytes[1][TRAFFIC_HBM_WRITE], 0);
	assert_int_equal(executed.cost.score.hbm_bytes, 13980800 - 2 * 559232);
	arena_close(arena);
}

int main(void)
{
	enum { PATTERNS = sizeof patterns / sizeof *patterns };
	struct CMUnitTest tests[PATTERNS + 3];
	size_t count = 0;
	for (; count < PATTERNS; count++)
		tests[count] = (struct CMUnitTest){.name = patterns[count].name,
			.test_func = pattern_needs_no_more_than_the_good_allocation,
			.initial_state = (void *)&patterns[count]};
	tests[count++] =
		(struct CMUnitTest)cmocka_unit_test(evictions_are_what_the_published_solvers_lack);
	tests[count++] =
		(struct CMUnitTest)cmocka_unit_test(simple_eviction_cannot_fit_as_published);
	tests[count++] = (struct CMUnitTest)cmocka_unit_test(what_comes_back_is_what_left);
	return cmocka_run_group_tests_name("patterns", tests, NULL, NULL);
}
