#include "base/arena.h"
#include "model/graph/plan_check.h"
#include "model/graph/run.h"
#include "search/graph/evaluate.h"
#include "search/graph/lx.h"
#include "tests/support/draws.h"
#include "tests/support/executed.h"
#include "tests/support/program_text.h"
#include "tests/support/random_plan.h"
#include "tests/support/spyre.h"

#include <inttypes.h>

#include "tests/test.h"

/*
 * Random graphs with random runs of steps that share tile loops: what the simulator counts is what the
 * model does, what it computes is what the reference does, bit for bit, and in identity mode nothing is found
 * at fault.
 */
struct met {
	long run, refused, iterations, parts, parents, ragged;
};

static void meet(const struct plan *plan, struct met *met)
{
	met->run++;
	for (int r = 0; r < plan->run_count; r++)
		met->iterations += run_iterations(&plan->runs[r]) - 1;
	for (int i = 0; i < plan->residency_count; i++) {
		const struct residency *stay = &plan->residencies[i];
		struct layout part = plan_stay_layout(plan, stay);
		bool is_part = part.bytes < plan->workload->tensors[stay->tensor].layout.bytes;
		met->parts += is_part;
		met->parents += is_part && stay->in_place_of >= 0;
	}
	for (int s = 0; s < plan->step_count; s++) {
		const struct op *op = &plan->workload->ops[s];
		for (int l = 0; l < op->loop_count; l++) {
			int64_t last = run_iterations(plan_run(plan, s)) - 1;
			met->ragged +=
				run_part(plan->workload, op, plan_run(plan, s), last, l).count <
				run_part(plan->workload, op, plan_run(plan, s), 0, l).count;
		}
	}
}

static void check_plan(const struct plan *plan, uint64_t seed, const char *where, struct met *met)
{
	struct arena *arena = arena_open();
	struct plan_faults faults = plan_check(plan, arena);
	if (faults.count)
		fail_msg("%s: step %d: %s", where, faults.at[0].step, faults.at[0].why);
	struct executed executed = execute_plan(plan, seed, true, arena);
	if (!executed.program) {
		met->refused++;
		arena_close(arena);
		return;
	}
	const char *why = execute_exactly(plan, seed, arena);
	if (why)
		fail_msg("%s: %s\n%s", where, why, program_text(arena, executed.program));
	struct sim_options options = {.mode = SIM_IDENTITY, .seed = seed, .small_integers = true};
	struct sim_result identity = sim_run(executed.program, &options, arena);
	if (identity.fault_count || identity.cycles != executed.result.cycles)
		fail_msg("%s: %s", where,
			identity.fault_count ? identity.faults[0].text : "other cycles");
	meet(plan, met);
	arena_close(arena);
}

BARE_TEST(random_runs_do_what_the_reference_does)
{
	static const struct random_options options = {.legal = true, .runs = true};
	uint64_t seed = draws_seed(41);
	long count = draws(300);
	struct met met = {0};
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		int cores = random_below(&random, 2) ? 8 : 4;
		struct arch arch = *spyre_arch(arena, cores);
		arch.bundle_tensors = 0; /* a run can use as many as it wants */
		const struct plan *plan = random_plan(&random, &options, &arch, cores, arena);
		check_plan(plan, seed + (uint64_t)i,
			arena_format(arena, "draw %ld of seed %" PRIu64, i, seed), &met);
		arena_close(arena);
	}
	print_message(
		"%ld plans run, %ld refused; %ld further iterations, %ld parts in LX, %ld in place "
		"of another, %ld loops with a short last part\n",
		met.run, met.refused, met.iterations, met.parts, met.parents, met.ragged);
	assert_true(met.run >= count / 2);
	assert_true(!draws_are_many(count) ||
		    (met.iterations && met.parts && met.parents && met.ragged));
}

/* One more tensor in LX, if the trial says that it fits: the plan can be carried out, and every core finds
 * what it uses. */
static void try_tensors(const struct plan *plan, uint64_t seed, const char *where, long *tried)
{
	const struct workload *workload = plan->workload;
	struct planning planning = planning_default(plan->arch);
	for (size_t t = 0; t < workload->tensor_count; t++) {
		struct arena *arena = arena_open();
		int step = workload->tensors[t].producer;
		bool lies = plan_lx(plan, (int)t, step < 0 ? 0 : step) != NULL;
		struct lx_trial trial = {0};
		if (!lies)
			trial = lx_try(plan, &planning, (int)t, arena);
		if (!lies)
			tried[trial.plan != NULL]++;
		if (trial.plan) {
			struct plan_faults faults = plan_check(trial.plan, arena);
			const char *why = faults.count ? faults.at[0].why
						       : execute_exactly(trial.plan, seed, arena);
			if (why)
				fail_msg("%s: '%s' in LX: %s", where, workload->tensors[t].name,
					why);
		}
		arena_close(arena);
	}
}

BARE_TEST(what_fits_in_lx_can_be_carried_out)
{
	uint64_t seed = draws_seed(43);
	long count = draws(200), tried[2] = {0};
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		struct random_options options = {
			.legal = true, .opaque = i % 8 == 1, .runs = i % 2 == 0};
		int cores = random_below(&random, 2) ? 8 : 4;
		struct arch arch = *spyre_arch(arena, cores);
		arch.bundle_tensors = 0;
		const struct plan *plan = random_plan(&random, &options, &arch, cores, arena);
		if (!evaluate_given(plan, UINT64_MAX, arena).why)
			try_tensors(plan, seed + (uint64_t)i,
				arena_format(arena, "draw %ld of seed %" PRIu64, i, seed), tried);
		arena_close(arena);
	}
	print_message("%ld tensors fit in LX, %ld did not\n", tried[1], tried[0]);
	assert_true(!draws_are_many(count) || (tried[0] && tried[1]));
}
