#include "base/arena.h"
#include "base/number.h"
#include "cost/graph/floor.h"
#include "lower/graph/lower.h"
#include "model/graph/plan.h"
#include "model/graph/run.h"
#include "tests/support/draws.h"
#include "tests/support/executed.h"
#include "tests/support/mechanisms.h"
#include "tests/support/random_plan.h"

#include <inttypes.h>

#include "tests/test.h"

/*
 * Mechanisms that cost machines time: the model adds it up in closed form, the simulator as
 * instructions need it.  Each alone on a machine that is ideal but for that: the two must say the
 * same cycles, and no plan is below the lower bound of all plans (cost/graph/floor.h).  Then all
 * at once on random plans: no execution is below the model's bound.
 */
enum { CORES = 8, MECHANISMS_MOST = 32 };

static const struct random_options options = {
	.elements_most = 20000, .legal = true, .opaque = false, .restickifies = true};

struct met {
	long equal, busy; /* plans with the same cycles; those that take any */
	long tight;       /* busy plans that reach the lower bound of all plans */
};

/* True if cores have equal shares and nothing moves: then no mechanism is a mere lower bound. */
static bool is_even(const struct plan *plan, struct arena *arena)
{
	for (int s = 0; s < plan->step_count; s++) {
		const struct op *op = plan_step_op(arena, plan, s);
		int64_t cores = mapping_cores(plan->arch, &plan->steps[s].mapping);
		if (op->move != MOVE_NONE || (cores & (cores - 1)))
			return false;
		for (int l = 0; l < op->loop_count; l++)
			if (op_units(plan->workload, op, l) * op_grain(plan->workload, op, l) !=
				op->loops[l].extent)
				return false;
	}
	return true;
}

static int cores_of(const struct plan *plan)
{
	int64_t most = 1;
	for (int s = 0; s < plan->step_count; s++)
		most = number_max(most, mapping_cores(plan->arch, &plan->steps[s].mapping));
	return (int)most;
}

/* Runs a plan on the machine with one mechanism; returns the first difference that is not allowed, NULL: none. */
static const char *run_on(const struct mechanism *mechanism, const struct plan *plan,
	const struct program *program, bool even, struct met *met, struct arena *arena)
{
	const struct sim_options how = {.mode = SIM_COUNT};
	struct arch *arch = ideal_arch(arena, CORES);
	struct plan own = *plan;
	struct program executed = *program;
	struct plan_cost cost;
	mechanism->set(arch);
	own.arch = executed.arch = arch;
	if (!cost_plan(&own, arena, &cost))
		return "it has no cost";
	int64_t cycles = sim_run(&executed, &how, arena).cycles, model = cost.score.cycles;
	bool exact = mechanism->equal == 100 || (even && !mechanism->overlap);
	int64_t round = mechanism->parts ? (int64_t)program->instruction_count : 0;
	met->equal += cycles <= model + round;
	met->busy += model > 0;
	int64_t floor = latency_floor(arch, plan->workload, cores_of(plan));
	met->tight += floor == model && model > 0;
	if (floor > model)
		return arena_format(arena,
			"%" PRId64 " cycles in the model, at least %" PRId64 " in every plan",
			model, floor);
	if (cycles < model || (exact && cycles > model + round))
		return arena_format(arena, "%" PRId64 " cycles executed, %" PRId64 " in the model",
			cycles, model);
	return NULL;
}

BARE_TEST(each_mechanism_takes_what_the_model_says)
{
	uint64_t seed = draws_seed(36);
	long count = draws(300), run = 0, evens = 0, tight = 0;
	struct met met[MECHANISMS_MOST] = {{0}};
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		const char *why;
		const struct plan *plan =
			random_plan(&random, &options, ideal_arch(arena, CORES), CORES, arena);
		const struct program *program = lower_plan(plan, arena, &why);
		bool even = is_even(plan, arena);
		for (int m = 0; program && m < mechanism_count; m++) {
			why = run_on(&mechanisms[m], plan, program, even, &met[m], arena);
			if (why)
				fail_msg("%s, draw %ld of seed %" PRIu64 ": %s", mechanisms[m].name,
					i, seed, why);
		}
		run += program != NULL;
		evens += program && even;
		arena_close(arena);
	}
	print_message("%ld plans, %ld of them with equal shares\n", run, evens);
	assert_true(run >= count / 2);
	assert_true(!draws_are_many(count) || evens >= run / 20);
	for (int m = 0; m < mechanism_count; m++) {
		const struct mechanism *mechanism = &mechanisms[m];
		print_message("%s: %ld plans, %ld with equal cycles, %ld that it slows, "
			      "%ld as fast as any\n",
			mechanism->name, run, met[m].equal, met[m].busy, met[m].tight);
		assert_true(!draws_are_many(count) || 100 * met[m].equal >= mechanism->equal * run);
		assert_true(met[m].busy >= run / (mechanism->rare ? 50 : 10));
		tight += met[m].tight;
	}
	assert_true(!draws_are_many(count) || tight > 0);
}

/* Overheads, which plan and program have from one function, counted bundle by bundle. */
BARE_TEST(bundles_and_cores_take_their_overheads)
{
	uint64_t seed = draws_seed(39);
	long count = draws(100), several = 0;
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		struct arch *arch = ideal_arch(arena, CORES);
		int64_t cycles = 0, widest = 0;
		arch->bundle_cycles = 3;
		arch->core_cycles = 7;
		const struct plan *plan = random_plan(&random, &options, arch, CORES, arena);
		for (int s = 0; s < plan->step_count; s++) {
			bool ends = s + 1 == plan->step_count ||
				    plan->steps[s + 1].bundle != plan->steps[s].bundle;
			widest = number_max(widest, mapping_cores(arch, &plan->steps[s].mapping));
			several += !ends;
			cycles += ends ? 3 + 7 * widest : 0;
			widest = ends ? 0 : widest;
		}
		struct executed executed = execute_plan(plan, seed + (uint64_t)i, true, arena);
		if (executed.program) {
			assert_int_equal(executed.cost.score.cycles, cycles);
			assert_int_equal(executed.result.cycles, cycles);
		}
		arena_close(arena);
	}
	assert_true(several > 0);
}

static struct executed run_one(const struct arch *arch, uint64_t seed, long i,
	const struct random_options *drawn, struct arena *arena)
{
	struct random random = random_open(seed, (uint64_t)i);
	const struct plan *plan = random_plan(&random, drawn, arch, CORES, arena);
	struct executed executed = execute_plan(plan, seed + (uint64_t)i, true, arena);
	if (executed.program && executed.why)
		fail_msg("draw %ld of seed %" PRIu64 ": %s", i, seed, executed.why);
	return executed;
}

/* Without a mechanism nothing takes time: all cycles of the tests above are its own. */
BARE_TEST(an_ideal_machine_takes_no_time)
{
	uint64_t seed = draws_seed(38);
	long count = draws(60);
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct executed executed =
			run_one(ideal_arch(arena, CORES), seed, i, &options, arena);
		assert_int_equal(executed.result.cycles, 0);
		arena_close(arena);
	}
}

BARE_TEST(all_mechanisms_keep_the_bound)
{
	struct random_options opaque = options;
	opaque.opaque = true;
	uint64_t seed = draws_seed(37);
	long count = draws(300);
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		run_one(mechanisms_arch(arena, CORES), seed, i, &opaque, arena);
		arena_close(arena);
	}
}
