#include "base/arena.h"
#include "cost/graph/cost.h"
#include "cost/nest/nest.h"
#include "lower/graph/lower.h"
#include "sim/graph/reference.h"
#include "sim/graph/sim.h"
#include "tests/support/array_arch.h"
#include "tests/support/draws.h"
#include "tests/support/executed.h"
#include "tests/support/program_text.h"
#include "tests/support/random_plan.h"

#include <inttypes.h>

#include "tests/test.h"

/*
 * Plans on a chip whose arrays are described: every compute is a nest.  Its counts are those of
 * cost/nest for one tile, times the tiles; it takes no less time than there; and what comes out is the
 * reference's, bit for bit where the arithmetic is exact.
 */
struct met {
	long run, refused, nests, shared, rings, summed, passes;
};

/* By cost/nest, of all tiles. */
static bool count_step(const struct plan *plan, int step, int64_t tiles, struct nest_counts *all,
	struct nest_score *score, struct arena *arena)
{
	struct inner_question question = inner_nest_question(arena, plan, step);
	const char *why;
	struct inner_nest nest = inner_nest_make(&question, arena, &why);
	struct nest_counts one = {0};
	const struct nest_model *model =
		nest_model_make(arena, nest.hierarchy, nest.shape, COUNTING_EXACT);
	*all = (struct nest_counts){0};
	if (nest_evaluate(model, &nest.mapping, &one, score) != NEST_FITS)
		fail_msg("%s: %s: %s", question.op->name,
			mapping_print(arena, plan->arch, question.op, question.mapping),
			nest_verdict_text(arena, nest.hierarchy, nest.shape, score));
	return nest_counts_add(all, &one, tiles);
}

/* Bytes at LX, as the contract of counts has them. */
static bool bytes_agree(const struct plan *plan, int step, const struct step_count *count,
	const struct nest_counts *all, int64_t tiles, int64_t again, int64_t finished)
{
	const struct op *op = &plan->workload->ops[plan->steps[step].op];
	const struct nest_count *at = NULL;
	for (int i = 0; i < ARCH_LEVELS_MOST; i++)
		if (all->at[i][0].capacity)
			at = all->at[i];
	bool agree = true;
	for (int i = 0; i < op->read_count; i++) {
		int t = op->reads[i].tensor;
		int64_t bytes = dtype_stored_bytes(plan->workload->tensors[t].layout.dtype);
		agree &= count->bytes[i][TRAFFIC_LX_READ] == at[i].reads * bytes;
	}
	int out = op->read_count, t = op->writes[0].tensor;
	int64_t stored = dtype_stored_bytes(plan->workload->tensors[t].layout.dtype);
	int64_t words = at[out].capacity / tiles;
	agree &= count->bytes[out][TRAFFIC_LX_READ] == 4 * (at[out].reads + again * words);
	agree &= count->bytes[out][TRAFFIC_LX_WRITE] ==
		 4 * (at[out].updates - at[out].capacity) +
			 words * (finished * stored + (tiles - finished) * 4);
	return agree;
}

static void check_step(const struct plan *plan, const struct program *program, int step,
	const struct sim_result *result, const char *where, struct met *met, struct arena *arena)
{
	int64_t tiles = 0, again = 0, finished = 0, longest = 0;
	bool ring = false;
	for (size_t i = 0; i < program->instruction_count; i++) {
		const struct instruction *at = &program->instructions[i];
		if (at->step == step && at->engine == ENGINE_RING)
			ring = true;
		if (at->step != step || at->engine != ENGINE_COMPUTE || !at->compute->nest)
			continue;
		tiles++;
		again += at->compute->accumulator_read;
		finished += at->compute->finish;
		met->summed += at->compute->accumulator_write && at->compute->finish;
		int64_t ticks = result->trace[i].end - result->trace[i].start;
		longest = number_max(longest, ticks);
		struct nest_counts all;
		struct nest_score score;
		if (tiles > 1)
			continue;
		assert_true(count_step(plan, step, 1, &all, &score, arena));
		if (ticks < score.cycles * result->ticks_per_cycle)
			fail_msg("%s: step %d: a tile takes %" PRId64 " ticks, and %" PRId64
				 " cycles in the model",
				where, step, ticks, score.cycles);
	}
	met->rings += ring;
	met->passes += again;
	if (!tiles) {
		assert_null(result->counts.steps[step].nests);
		return;
	}
	struct nest_counts all;
	struct nest_score score;
	assert_true(count_step(plan, step, tiles, &all, &score, arena));
	if (!nest_totals_equal(&all, result->counts.steps[step].nests))
		fail_msg("%s: step %d: the nests count otherwise", where, step);
	if (!ring &&
		!bytes_agree(plan, step, &result->counts.steps[step], &all, tiles, again, finished))
		fail_msg("%s: step %d: other bytes at LX", where, step);
}

static void compare_values(const struct plan *plan, const struct sim_result *result, uint64_t seed,
	const char *where, struct arena *arena)
{
	const struct workload *workload = plan->workload;
	void **arrays = arena_array(arena, void *, workload->tensor_count);
	reference_inputs(workload, seed, true, arena, arrays);
	reference_run(workload, arena, arrays);
	for (size_t t = 0; t < workload->tensor_count; t++) {
		if (!result->outputs[t])
			continue;
		struct comparison comparison =
			reference_compare(&workload->tensors[t], arrays[t], result->outputs[t]);
		if (comparison.worst_of_largest > 4)
			fail_msg("%s: tensor '%s': %" PRId64 " of %" PRId64
				 " elements differ, by up to %g ulps",
				where, workload->tensors[t].name, comparison.different,
				comparison.elements, comparison.worst_of_largest);
	}
}

/* The model's counts of the whole plan, and no fewer cycles. */
static void compare_cost(const struct plan *plan, const struct sim_result *result,
	const char *where, struct arena *arena)
{
	struct plan_cost cost;
	assert_true(cost_plan(plan, arena, &cost));
	if (!counts_equal(&cost.counts, &result->counts))
		fail_msg("%s: the model counts otherwise", where);
	if (result->cycles < cost.score.cycles)
		fail_msg("%s: %" PRId64 " cycles, %" PRId64 " in the model", where, result->cycles,
			cost.score.cycles);
}

BARE_TEST(random_plans_carry_out_their_nests)
{
	static const struct random_options options = {
		.elements_most = 4000, .legal = true, .opaque = true};
	uint64_t seed = draws_seed(21);
	long count = draws(100);
	struct met met = {0};
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		const struct arch *arch = array_arch(arena, 4);
		struct plan *plan = random_plan(&random, &options, arch, 4, arena);
		array_draw_nests(&random, plan, arena);
		const char *where = arena_format(arena, "draw %ld of seed %" PRIu64, i, seed);
		const char *why;
		const struct program *program = lower_plan(plan, arena, &why);
		met.refused += !program;
		for (int mode = SIM_IDENTITY; program && mode <= SIM_DATA; mode++) {
			struct sim_options how = {.mode = (enum sim_mode)mode,
				.seed = seed,
				.small_integers = true,
				.trace = true};
			struct sim_result result = sim_run(program, &how, arena);
			if (result.fault_count)
				fail_msg("%s: %s\n%s", where, result.faults[0].text,
					program_text(arena, program));
			assert_true(result.finished);
			for (int s = 0; s < plan->step_count && mode == SIM_DATA; s++)
				check_step(plan, program, s, &result, where, &met, arena);
			if (mode == SIM_DATA) {
				compare_values(plan, &result, seed, where, arena);
				compare_cost(plan, &result, where, arena);
			}
			met.run += mode == SIM_DATA;
			met.nests += result.nests;
			met.shared += result.nest_tiles - result.nests;
		}
		arena_close(arena);
	}
	print_message(
		"%ld plans run, %ld refused; %ld nests, %ld tiles more; %ld rings, %ld passes, "
		"%ld tiles add up and finish\n",
		met.run, met.refused, met.nests, met.shared, met.rings, met.passes, met.summed);
	assert_true(met.run >= count / 2);
	assert_true(!draws_are_many(count) || (met.summed && met.rings && met.passes));
}

/* Whole ops on a machine without boxes: the model's counts, no fewer cycles, the reference's results. */
BARE_TEST(whole_ops_are_nests)
{
	uint64_t seed = draws_seed(22);
	long count = draws(150);
	struct met met = {0};
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		struct plan *plan = whole_plan(&random, whole_arch(arena), arena);
		const char *where = arena_format(arena, "draw %ld of seed %" PRIu64, i, seed);
		struct executed executed = execute_plan(plan, seed, true, arena);
		if (executed.why)
			fail_msg("%s: %s", where, executed.why);
		compare_values(plan, &executed.result, seed, where, arena);
		struct sim_options how = {.mode = SIM_IDENTITY, .seed = seed};
		struct sim_result identity = sim_run(executed.program, &how, arena);
		if (identity.fault_count)
			fail_msg("%s: %s", where, identity.faults[0].text);
		assert_int_equal(identity.cycles, executed.result.cycles);
		met.run++;
		met.nests += executed.result.nests;
		met.shared += plan->residency_count;
		arena_close(arena);
	}
	print_message("%ld plans run, %ld nests, %ld tensors in the scratchpad\n", met.run,
		met.nests, met.shared);
	assert_true(!draws_are_many(count) || met.shared);
}
