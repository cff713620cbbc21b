#include "base/arena.h"
#include "lower/graph/lower.h"
#include "model/graph/plan_check.h"
#include "model/graph/run.h"
#include "search/engine/kept.h"
#include "search/graph/nests.h"
#include "sim/graph/reference.h"
#include "tests/support/arch_text.h"
#include "tests/support/array_arch.h"
#include "tests/support/complaints.h"
#include "tests/support/draws.h"
#include "tests/support/executed.h"
#include "tests/support/mutable_program.h"
#include "tests/support/random_runs.h"

#include <inttypes.h>
#include <string.h>

#include "tests/test.h"

/*
 * Runs of steps that share tile loops, where tiles do not move in boxes: every iteration of a step is a
 * nest.  The model counts what the simulator does, all iterations together; results are the reference's.
 */
static const char *const machines[] = {"specs/arch/eyeriss.yaml", "specs/arch/simba.yaml",
	"specs/arch/tpu.yaml", "specs/arch/tpu_v4i.yaml"};
enum { MACHINES = sizeof machines / sizeof *machines, TICKS = 50 };

struct met {
	long run, iterations, parts, two_loops, adding_up, resident;
};

/* Gives every step some nest that fits; false: there is none. */
static bool fill_steps(struct random *random, struct plan *plan, bool drawn, struct kept *kept,
	struct arena *arena)
{
	const struct nests_wanted wanted = {.objective = OBJECTIVE_EDP, .kept = kept};
	const struct objectives energy = {1, {OBJECTIVE_ENERGY}};
	if (drawn) {
		array_draw_nests(random, plan, arena);
		return true;
	}
	for (int s = 0; s < plan->step_count; s++) {
		struct inner_question question = inner_nest_question(arena, plan, s);
		const struct nest_front *front =
			nests_front(&question, &wanted, &energy, TICKS, arena);
		if (front->why)
			return false;
		plan->steps[s].mapping = front->at[0].mapping;
	}
	return true;
}

static void compare_values(const struct plan *plan, const struct executed *executed,
	const char *where, struct arena *arena)
{
	for (size_t t = 0; t < plan->workload->tensor_count; t++) {
		if (!executed->result.outputs[t])
			continue;
		struct comparison comparison = reference_compare(&plan->workload->tensors[t],
			executed->expected[t], executed->result.outputs[t]);
		if (comparison.worst_of_largest > 4)
			fail_msg("%s: '%s': %" PRId64 " elements differ, by up to %g ulps", where,
				plan->workload->tensors[t].name, comparison.different,
				comparison.worst_of_largest);
	}
}

static const struct arch *draw_machine(
	struct random *random, const struct arch *const *read, bool *drawn, struct arena *arena)
{
	int machine = (int)draw_below(random, MACHINES + 1);
	*drawn = machine == MACHINES;
	return *drawn ? whole_arch(arena) : read[machine];
}

static void read_machines(struct arena *arena, const struct arch **out)
{
	struct diag *diag = diag_open(arena);
	for (int m = 0; m < MACHINES; m++) {
		out[m] = arch_of_file(arena, machines[m], diag);
		if (!out[m])
			fail_msg("%s: %s", machines[m], complaints_text(arena, diag));
	}
}

static struct plan *draw_plan(struct random *random, const struct arch *const *read,
	struct kept *kept, struct arena *arena)
{
	for (;;) {
		bool drawn;
		const struct arch *arch = draw_machine(random, read, &drawn, arena);
		struct plan *plan = random_runs(random, arch, arena);
		if (fill_steps(random, plan, drawn, drawn ? NULL : kept, arena))
			return plan;
	}
}

/* Keys of kept answers leave the machine out. */
static struct plan *draw_plan_alone(
	struct random *random, const struct arch *const *read, struct arena *arena)
{
	struct kept *kept = kept_open();
	struct plan *plan = draw_plan(random, read, kept, arena);
	kept_close(kept);
	return plan;
}

static int64_t count_parts(const struct plan *plan)
{
	int64_t parts = 0;
	for (int i = 0; i < plan->residency_count; i++) {
		struct layout layout = plan_stay_layout(plan, &plan->residencies[i]);
		const struct tensor *tensor = &plan->workload->tensors[plan->residencies[i].tensor];
		parts += layout.bytes < tensor->layout.bytes;
	}
	return parts;
}

/* A step that adds up over iterations; -1: none. */
static int find_adder(const struct plan *plan)
{
	for (int s = plan->runs->first; s < plan->runs->end; s++)
		for (int64_t i = 0; i < run_iterations(plan->runs); i++)
			if (run_resumes(&plan->workload->ops[s], plan->runs, i))
				return s;
	return -1;
}

BARE_TEST(runs_of_nests_do_what_the_model_says)
{
	uint64_t seed = draws_seed(31);
	long count = draws(100);
	struct arena *lasting = arena_open();
	const struct arch *read[MACHINES];
	struct met met = {0};
	read_machines(lasting, read);
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		struct plan *plan = draw_plan_alone(&random, read, arena);
		const char *where = arena_format(arena, "draw %ld of seed %" PRIu64, i, seed);
		struct plan_faults faults = plan_check(plan, arena);
		if (faults.count)
			fail_msg("%s: %s", where, faults.at[0].why);
		struct executed executed = execute_plan(plan, seed, true, arena);
		if (executed.why)
			fail_msg("%s: %s", where, executed.why);
		compare_values(plan, &executed, where, arena);
		struct sim_options how = {.mode = SIM_IDENTITY, .seed = seed};
		struct sim_result identity = sim_run(executed.program, &how, arena);
		if (identity.fault_count)
			fail_msg("%s: %s", where, identity.faults[0].text);
		assert_int_equal(identity.cycles, executed.result.cycles);
		met.run++;
		met.iterations += run_iterations(plan->runs);
		met.parts += count_parts(plan);
		met.two_loops += plan->runs->loop_count == 2;
		int adds = find_adder(plan);
		met.adding_up += adds >= 0;
		met.resident += adds >= 0 &&
				plan_lx(plan, plan->workload->ops[adds].writes[0].tensor, adds);
		arena_close(arena);
	}
	arena_close(lasting);
	print_message(
		"%ld plans run, %ld iterations, %ld tensors part by part, %ld with two loops, %ld "
		"that add up over iterations, %ld of these in the scratchpad\n",
		met.run, met.iterations, met.parts, met.two_loops, met.adding_up, met.resident);
	assert_true(!draws_are_many(count) || (met.parts && met.two_loops && met.resident));
}

/* --- broken on purpose */

enum fault { TOO_EARLY, DROPPED, ELSEWHERE, OVERWRITTEN, TWICE, FAULTS };

/* Returns the tensor that the last step of the run reads part by part; -1: none. */
static int find_part_read(const struct plan *plan)
{
	int last = plan->runs->end - 1;
	const struct op *op = &plan->workload->ops[last];
	for (int i = 0; i < op->read_count; i++) {
		const struct residency *stay = plan_lx(plan, op->reads[i].tensor, last);
		if (!stay)
			continue;
		struct layout layout = plan_stay_layout(plan, stay);
		if (layout.bytes < plan->workload->tensors[stay->tensor].layout.bytes)
			return i;
	}
	return -1;
}

/* The compute of a step in an iteration; NULL. */
static struct mutable_instruction *find_compute(
	struct mutable_program *copy, int step, int iteration)
{
	for (size_t i = 0; i < copy->program.instruction_count; i++) {
		const struct instruction *at = &copy->program.instructions[i];
		if (at->engine == ENGINE_COMPUTE && at->step == step && iteration-- == 0)
			return &copy->instructions[i];
	}
	return NULL;
}

/* A later iteration begins its sums again, or one that adds to them comes a second time in place of the next. */
static bool break_sums(const struct plan *plan, struct mutable_program *copy, enum fault fault)
{
	int step = find_adder(plan);
	struct mutable_instruction *before = NULL;
	for (int i = 0; step >= 0 && i < run_iterations(plan->runs); i++) {
		struct mutable_instruction *at = find_compute(copy, step, i);
		if (at->compute->accumulator_read) {
			if (fault == OVERWRITTEN)
				at->compute->accumulator_read = false;
			else
				at->compute->first = before->compute->first;
			return true;
		}
		before = at;
	}
	return false;
}

/* Breaks a program; false: it has nothing to break so. */
static bool break_program(const struct plan *plan, struct mutable_program *copy, enum fault fault,
	struct arena *arena)
{
	int step = plan->runs->end - 1, read = find_part_read(plan);
	if (fault >= OVERWRITTEN)
		return break_sums(plan, copy, fault);
	if (read < 0)
		return false;
	const struct op *op = &plan->workload->ops[step];
	int tensor = op->reads[read].tensor;
	if (fault == DROPPED) /* what makes the part makes the one before again */
		step = plan->workload->tensors[tensor].producer;
	struct mutable_instruction *first = find_compute(copy, step, 0),
				   *second = find_compute(copy, step, 1);
	struct whole_operand *whole = arena_copy(arena, second->compute->whole,
		(size_t)op_operands(&plan->workload->ops[step]) * sizeof *whole);
	int operand = fault == DROPPED ? plan->workload->ops[step].read_count : read;
	if (fault == ELSEWHERE)
		whole[operand].address += whole[operand].bytes;
	else if (fault == TOO_EARLY) /* the part of the next iteration, which is not there yet */
		*first->compute = *second->compute;
	else
		*second->compute = *first->compute;
	if (fault == ELSEWHERE)
		second->compute->whole = whole;
	return true;
}

BARE_TEST(broken_runs_are_caught)
{
	uint64_t seed = draws_seed(32);
	long count = draws(100), broken[FAULTS] = {0};
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		struct plan *plan = random_runs(&random, whole_arch(arena), arena);
		array_draw_nests(&random, plan, arena);
		enum fault fault = (enum fault)(i % FAULTS);
		const char *why;
		const struct program *program = lower_plan(plan, arena, &why);
		assert_non_null(program);
		struct mutable_program *copy = mutable_copy(arena, program);
		struct sim_options how = {.mode = SIM_IDENTITY, .seed = seed};
		if (break_program(plan, copy, fault, arena)) {
			struct sim_result result = sim_run(&copy->program, &how, arena);
			if (!result.fault_count)
				fail_msg("draw %ld of seed %" PRIu64 ": fault %d went unseen", i,
					seed, (int)fault);
			broken[fault]++;
		}
		arena_close(arena);
	}
	print_message("broken and caught: %ld read too early, %ld dropped, %ld elsewhere, %ld sums "
		      "overwritten, %ld added twice\n",
		broken[TOO_EARLY], broken[DROPPED], broken[ELSEWHERE], broken[OVERWRITTEN],
		broken[TWICE]);
	for (int f = 0; draws_are_many(count) && f < FAULTS; f++)
		assert_true(broken[f]);
}
