#include "base/arena.h"
#include "sim/graph/reference.h"
#include "tests/support/draws.h"
#include "tests/support/executed.h"
#include "tests/support/program_text.h"
#include "tests/support/random_plan.h"
#include "tests/support/spyre.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/test.h"

/* True if the results must be equal; sums may differ, because the machine adds in fp32 and in
 * another order. */
static bool is_exact(const struct op *op)
{
	static const char *const inexact =
		" div exp log rsqrt sqrt reciprocal sigmoid silu tanh gelu "
		"mean ";
	char word[32];
	snprintf(word, sizeof word, " %s ", op->primitive->name);
	return !strstr(inexact, word);
}

/* Everything that the sum of an exact op comes from is exact, too. */
static void find_exact(const struct workload *workload, bool *exact)
{
	for (size_t t = 0; t < workload->tensor_count; t++)
		exact[t] = true;
	for (size_t o = 0; o < workload->op_count; o++) {
		const struct op *op = &workload->ops[o];
		for (int w = 0; w < op->write_count && op->primitive->kind != OP_OPAQUE; w++) {
			bool *out = &exact[op->writes[w].tensor];
			*out = is_exact(op);
			for (int i = 0; i < op->read_count; i++)
				*out &= exact[op->reads[i].tensor];
		}
	}
}

static void compare_values(const struct workload *workload, const struct sim_result *result,
	void **expected, const char *where)
{
	bool exact[64];
	assert_true(workload->tensor_count <= 64);
	find_exact(workload, exact);
	for (size_t t = 0; t < workload->tensor_count; t++) {
		if (!result->outputs[t])
			continue;
		const struct tensor *tensor = &workload->tensors[t];
		struct comparison comparison =
			reference_compare(tensor, expected[t], result->outputs[t]);
		if (comparison.worst_ulps > (exact[t] ? 0 : 1))
			fail_msg("%s: tensor '%s': %" PRId64 " of %" PRId64
				 " elements differ, by up to %g ulps",
				where, tensor->name, comparison.different, comparison.elements,
				comparison.worst_ulps);
	}
}

struct outcome {
	long run, refused, rings, accumulated, sent, kept; /* evictions with bytes and without */
	double worst_ratio;
};

/* Ops that have computes; identity mode computes a tile of each. */
static int count_computed(const struct program *program)
{
	bool computed[64] = {0};
	int count = 0;
	for (size_t i = 0; i < program->instruction_count; i++) {
		const struct instruction *instruction = &program->instructions[i];
		if (instruction->engine == ENGINE_COMPUTE)
			computed[instruction->compute->op] = true;
	}
	for (size_t o = 0; o < program->workload->op_count; o++)
		count += computed[o] && program->workload->ops[o].primitive->kind != OP_OPAQUE;
	return count;
}

static void check_identity(
	const struct executed *executed, uint64_t seed, const char *where, struct arena *arena)
{
	const struct program *program = executed->program;
	struct sim_options options = {.mode = SIM_IDENTITY, .seed = seed, .small_integers = true};
	struct sim_result identity = sim_run(program, &options, arena);
	if (identity.fault_count > 0)
		fail_msg(
			"%s: %s\n%s", where, identity.faults[0].text, program_text(arena, program));
	assert_int_equal(identity.tiles_computed, count_computed(program));
	assert_int_equal(identity.cycles, executed->result.cycles);
}

static void run_plan(const struct plan *plan, uint64_t seed, const char *where,
	struct outcome *outcome, struct arena *arena)
{
	struct executed executed = execute_plan(plan, seed, true, arena);
	const struct program *program = executed.program;
	if (!program) {
		outcome->refused++;
		return;
	}
	outcome->run++;
	if (executed.why)
		fail_msg("%s: %s\n%s", where, executed.why, program_text(arena, program));
	compare_values(plan->workload, &executed.result, executed.expected, where);
	check_identity(&executed, seed, where, arena);
	double ratio = (double)executed.result.cycles / (double)executed.cost.score.cycles;
	outcome->worst_ratio = fmax(outcome->worst_ratio, ratio);
	for (int s = 0; s < plan->step_count; s++) {
		if (!plan_is_evict(plan, s))
			continue;
		int to = plan->workload->ops[s].writes[0].tensor;
		outcome->sent += !plan->workload->tensors[to].copy_of;
		outcome->kept += plan->workload->tensors[to].copy_of > 0;
	}
	for (size_t i = 0; i < program->instruction_count; i++) {
		const struct instruction *instruction = &program->instructions[i];
		outcome->rings += instruction->engine == ENGINE_RING;
		if (instruction->engine == ENGINE_COMPUTE)
			outcome->accumulated += instruction->compute->accumulator_read;
	}
}

static void compare(const struct random_options *options, int cores, uint64_t stream)
{
	uint64_t seed = draws_seed(stream);
	long count = draws(300);
	struct outcome outcome = {0};
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		const struct arch *arch = spyre_arch(arena, cores);
		const struct plan *plan = random_plan(&random, options, arch, cores, arena);
		const char *where = arena_format(arena, "draw %ld of seed %" PRIu64, i, seed);
		run_plan(plan, seed + (uint64_t)i, where, &outcome, arena);
		arena_close(arena);
	}
	print_message("%ld plans run, %ld refused; %ld rings, %ld computes add to accumulators, "
		      "%ld evictions send, %ld need not, cycles up to %.2f of the model's\n",
		outcome.run, outcome.refused, outcome.rings, outcome.accumulated, outcome.sent,
		outcome.kept, outcome.worst_ratio);
	assert_true(outcome.run >= count / 2);
	assert_true(!draws_are_many(count) || (outcome.sent > 0 && outcome.kept > 0));
}

TEST(random_plans_do_what_the_reference_does)
{
	static const struct random_options options = {
		.elements_most = 20000, .legal = true, .opaque = true};
	compare(&options, 8, 11);
}

TEST(random_plans_on_many_cores_do_what_the_reference_does)
{
	static const struct random_options options = {
		.elements_most = 100000, .legal = true, .opaque = false};
	compare(&options, 32, 12);
}
