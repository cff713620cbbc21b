#include "base/arena.h"
#include "base/text.h"
#include "lower/graph/lower.h"
#include "sim/graph/sim.h"
#include "sim/machine/kernel.h"
#include "tests/support/mutable_program.h"
#include "tests/support/plan_text.h"

#include <string.h>

#include "tests/test.h"

static const char *const none[] = {NULL};

static const struct program *lower(struct arena *arena, int cores, const char *workload,
	const char *const *mappings, const char *const *stays)
{
	const char *why;
	const struct plan *plan = plan_text(arena, cores, workload, mappings, stays);
	const struct program *program = lower_plan(plan, arena, &why);
	if (!program)
		fail_msg("%s", why);
	return program;
}

static struct sim_result run(const struct program *program, enum sim_mode mode, struct arena *arena)
{
	struct sim_options options = {.mode = mode, .small_integers = true, .trace = true};
	return sim_run(program, &options, arena);
}

/* One program, one change, one complaint. */

static const char chain[] = "{dimensions: {m: 8, n: 64}, ops: ['s[m,n] = exp(x[m,n])', "
			    "'y[m,n] = neg(s[m,n])']}";

static const struct program *lower_chain(struct arena *arena)
{
	static const char *const mappings[] = {"core: m2 | LX: m4", "core: m2 | LX: m2", NULL};
	static const char *const stays[] = {"s at 0 steps 0 2, cores 2: dim 1 / 2 by 1", NULL};
	return lower(arena, 2, chain, mappings, stays);
}

/* The first instruction of an engine in a step, on a core. */
static uint32_t find(const struct program *program, enum engine engine, int step, int core)
{
	for (uint32_t i = 0; i < program->instruction_count; i++) {
		const struct instruction *instruction = &program->instructions[i];
		if (instruction->engine == engine && instruction->step == step &&
			instruction->mask >> core & 1)
			return i;
	}
	fail_msg("no such instruction");
	return 0;
}

static void check_fault(const struct mutable_program *mutant, enum sim_fault_kind kind, int step,
	int core, int64_t address, const char *text)
{
	struct arena *arena = arena_open();
	struct sim_result result = run(&mutant->program, SIM_IDENTITY, arena);
	int i = 0;
	while (i < result.fault_count && result.faults[i].kind != kind)
		i++;
	if (i == result.fault_count)
		fail_msg("no fault '%s'; the first of %d is: %s", sim_fault_names[kind],
			result.fault_count, result.fault_count ? result.faults[0].text : "none");
	const struct sim_fault *fault = &result.faults[i];
	assert_string_equal(fault->text, text);
	assert_int_equal(fault->step, step);
	assert_int_equal(fault->core, core);
	assert_int_equal(fault->address, address);
	arena_close(arena);
}

TEST(a_read_of_what_nobody_wrote_is_told)
{
	struct mutable_program *mutant = mutable_copy(arena, lower_chain(arena));
	uint32_t i = find(&mutant->program, ENGINE_COMPUTE, 1, 1);
	mutant->instructions[i].reads[0]->lx.address = 512;
	check_fault(mutant, FAULT_UNWRITTEN, 1, 1, 512,
		"op 'y' (step 1, instruction 18), core 1, address 512, cycle 9: it reads stick "
		"4 of 's', which was never written");
}

TEST(a_stale_tile_is_told)
{
	struct mutable_program *mutant = mutable_copy(arena, lower_chain(arena));
	uint32_t i = find(&mutant->program, ENGINE_DMA_IN, 0, 0);
	mutant->instructions[i].transfer->hbm.address = 384;
	check_fault(mutant, FAULT_STALE, 0, -1, 384,
		"op 's' (step 0, instruction 0), HBM, address 384, cycle 0: it reads stick 0 of "
		"'x' and finds stick 3 of 'x'");
}

TEST(an_access_out_of_bounds_is_told)
{
	struct mutable_program *mutant = mutable_copy(arena, lower_chain(arena));
	uint32_t i = find(&mutant->program, ENGINE_COMPUTE, 0, 1);
	mutant->instructions[i].write->lx.address = (2 << 20) - 64;
	check_fault(mutant, FAULT_BOUNDS, 0, 1, (2 << 20) + 64,
		"op 's' (step 0, instruction 3), core 1, address 2097216, cycle 1: the box "
		"leaves the memory");
	mutant->instructions[i].write->lx.address = 1 << 20;
	check_fault(mutant, FAULT_BOUNDS, 0, 1, 1 << 20,
		"op 's' (step 0, instruction 3), core 1, address 1048576, cycle 1: bytes 1048576 "
		"to 1048704 of LX are neither allotted to 's' nor to tile buffers");
}

TEST(overlapping_live_buffers_are_told)
{
	struct mutable_program *mutant = mutable_copy(arena, lower_chain(arena));
	for (size_t a = 0; a < mutant->program.allotment_count; a++) {
		if (mutant->allotments[a].tensor < 0 && mutant->allotments[a].from == 1)
			mutant->allotments[a].address = 256;
	}
	check_fault(mutant, FAULT_OVERLAP, 1, 0, 256,
		"op 'y' (step 1), core 0, address 256, cycle 0: 's' and 'tile buffers' share "
		"bytes and live together");
}

TEST(a_child_may_take_the_place_of_its_dying_parent_only)
{
	static const char *const mappings[] = {"", "", "", NULL};
	static const char *const stays[] = {
		"a at 0 steps 0 2, cores 1", "b at 0 steps 1 3 in place of a, cores 1", NULL};
	const struct program *program = lower(arena, 1,
		"{dimensions: {m: 8, n: 64}, ops: ['a[m,n] = exp(x[m,n])', 'b[m,n] = "
		"neg(a[m,n])', 'y[m,n] = abs(b[m,n])']}",
		mappings, stays);
	assert_int_equal(run(program, SIM_IDENTITY, arena).fault_count, 0);
	struct mutable_program *mutant = mutable_copy(arena, program);
	for (size_t a = 0; a < program->allotment_count; a++) {
		if (mutant->allotments[a].in_place_of >= 0)
			mutant->allotments[a].in_place_of = -1;
	}
	check_fault(mutant, FAULT_OVERLAP, 1, 0, 0,
		"op 'b' (step 1), core 0, address 0, cycle 0: 'a' and 'b' share bytes and live "
		"together");
	mutant = mutable_copy(arena, program);
	for (size_t a = 0; a < program->allotment_count; a++) {
		if (mutant->allotments[a].to == 2 && mutant->allotments[a].tensor >= 0)
			mutant->allotments[a].to = 3;
	}
	check_fault(mutant, FAULT_OVERLAP, 1, 0, 0,
		"op 'b' (step 1), core 0, address 0, cycle 0: 'a' and 'b' share bytes and live "
		"together");
}

TEST(a_missing_dependence_is_told_even_where_timing_hides_it)
{
	static const char *const mappings[] = {"LX: m4", NULL};
	const struct program *program = lower(arena, 1,
		"{dimensions: {m: 8, n: 64}, ops: ['y[m,n] = exp(x[m,n])']}", mappings, none);
	struct mutable_program *mutant = mutable_copy(arena, program);
	/* the third tile's transfer into the first buffer waits for the first
	 * compute, which is long done when the second transfer is */
	struct instruction *third = mutant->instructions[6].head;
	assert_int_equal(third->engine, ENGINE_DMA_IN);
	assert_int_equal(third->dependence_count, 1);
	third->dependence_count = 0;
	check_fault(mutant, FAULT_DEPENDENCE, 0, 0, 1677824,
		"op 'y' (step 0, instruction 6), core 0, address 1677824, cycle 4: it overwrites "
		"what instruction 1 reads, and nothing makes the one wait for the other");
}

TEST(a_deadlock_names_who_waits)
{
	struct mutable_program *mutant = mutable_copy(arena, lower_chain(arena));
	uint32_t in = find(&mutant->program, ENGINE_DMA_IN, 0, 1);
	uint32_t compute = find(&mutant->program, ENGINE_COMPUTE, 0, 1);
	struct instruction *head = mutant->instructions[in].head;
	head->dependences = arena_copy(arena, &compute, sizeof compute);
	head->dependence_count = 1;
	check_fault(mutant, FAULT_DEADLOCK, 0, 1, 0,
		"op 's' (step 0, instruction 1), core 1, address 0, cycle 5: instruction 1 "
		"waits for 3, which waits for 1");
	assert_false(run(&mutant->program, SIM_COUNT, arena).finished);
	assert_int_equal(run(&mutant->program, SIM_COUNT, arena).fault_count, 1);
	uint32_t nobody = 1000;
	head->dependences = arena_copy(arena, &nobody, sizeof nobody);
	check_fault(mutant, FAULT_DEADLOCK, 0, 1, 0,
		"op 's' (step 0, instruction 1), core 1, address 0, cycle 5: instruction 1 "
		"waits for itself or for one that does not exist");
}

static const char product[] =
	"{dimensions: {m: 3, n: 64, k: 256}, ops: ['c[m,n] = sum(k) a[m,k] * b[k,n]']}";

TEST(a_core_that_never_comes_to_the_ring_is_told)
{
	static const char *const mappings[] = {"core: k4", NULL};
	const struct program *program = lower(arena, 4, product, mappings, none);
	struct mutable_program *mutant = mutable_copy(arena, program);
	uint32_t ring = find(program, ENGINE_RING, 0, 0);
	int64_t address = program->instructions[ring].combine->accumulator.address;
	mutant->instructions[ring].head->mask &= ~UINT64_C(4);
	struct sim_result result = run(&mutant->program, SIM_IDENTITY, arena);
	assert_true(result.fault_count > 0);
	assert_int_equal(result.faults[0].kind, FAULT_DEADLOCK);
	assert_int_equal(result.faults[0].core, 2);
	assert_int_equal(result.faults[0].address, address);
	assert_non_null(strstr(
		result.faults[0].text, "core 2 has a part in the ring but never comes to it"));
}

TEST(a_pass_left_out_of_a_sum_is_told)
{
	static const char *const mappings[] = {"LX: k4", NULL};
	struct mutable_program *mutant =
		mutable_copy(arena, lower(arena, 1, product, mappings, none));
	for (uint32_t i = 0; i < mutant->program.instruction_count; i++) {
		struct compute *compute = mutant->instructions[i].compute;
		if (compute && compute->first[2] == 128)
			compute->accumulator_read = false;
	}
	struct sim_result result = run(&mutant->program, SIM_IDENTITY, arena);
	assert_true(result.fault_count > 0);
	assert_int_equal(result.faults[0].kind, FAULT_STALE);
	assert_non_null(strstr(result.faults[0].text,
		"is finished with a part of its reduction missing or taken twice"));
}

TEST(faults_end_where_there_are_too_many)
{
	static const char *const mappings[] = {"LX: m32", NULL};
	struct mutable_program *mutant = mutable_copy(arena,
		lower(arena, 1, "{dimensions: {m: 32, n: 64}, ops: ['y[m,n] = exp(x[m,n])']}",
			mappings, none));
	for (uint32_t i = 0; i < mutant->program.instruction_count; i++) {
		if (mutant->instructions[i].transfer)
			mutant->instructions[i].transfer->hbm.address = -1;
	}
	struct sim_result result = run(&mutant->program, SIM_DATA, arena);
	assert_int_equal(result.fault_count, SIM_FAULTS_MOST);
	assert_false(result.finished);
}

/* 8 sticks; 8 sticks; HBM moves 16 sticks in 15 cycles, ports and LX one in one */

static int64_t cycles(int cores, const char *workload, const char *mapping)
{
	struct arena *arena = arena_open();
	const char *const mappings[] = {mapping, NULL};
	const struct program *program = lower(arena, cores, workload, mappings, none);
	int64_t result = run(program, SIM_COUNT, arena).cycles - program->overhead_cycles;
	arena_close(arena);
	return result;
}

static const char rows8[] = "{dimensions: {m: 8, n: 64}, ops: ['y[m,n] = exp(x[m,n])']}";

TEST(one_tile_is_moved_in_then_computed_then_moved_out)
{
	assert_int_equal(cycles(1, rows8, ""), 8 + 8 + 8);
}

TEST(tiles_in_two_buffers_overlap)
{
	/* in 4, in 4 beside compute 4; then the port takes turns */
	assert_int_equal(cycles(1, rows8, "LX: m2"), 4 + 4 + 4 + 4);
}

TEST(cores_share_hbm)
{
	/* 2 sticks in and out on each; HBM never rests */
	assert_int_equal(cycles(4, rows8, "core: m4"), 16 * 15 / 16);
}

TEST(a_broadcast_reads_hbm_once)
{
	static const char *const mappings[] = {"core: m4", NULL};
	const struct program *program = lower(arena, 4,
		"{dimensions: {m: 4, n: 64}, ops: ['y[m,n] = x[m,n] - b[n]']}", mappings, none);
	struct sim_result result = run(program, SIM_COUNT, arena);
	assert_int_equal(result.counts.steps[0].bytes[1][TRAFFIC_HBM_READ], 128);
	assert_int_equal(result.counts.steps[0].bytes[1][TRAFFIC_LX_FILL], 4 * 128);
}

/* A clone of the graph that only moves waits for short runs no more than one that a plan has. */
TEST(a_move_waits_for_no_runs)
{
	static const char *const mappings[] = {"LX: m4", "LX: m4", NULL};
	static const char *const stays[] = {"c at 0 steps 0 2, cores 1", NULL};
	const struct program *program = lower(arena, 1,
		"{dimensions: {m: 8, n: 64}, ops: ['c[m,n] = clone(x[m,n])', 'y[n] = sum(m) "
		"c[m,n]']}",
		mappings, stays);
	struct arch *slow = arena_copy(arena, program->arch, sizeof *slow);
	struct program other = *program;
	slow->levels[slow->hbm].storage.run = (struct ratio){100, 1};
	other.arch = slow;
	assert_int_equal(
		run(&other, SIM_COUNT, arena).cycles, run(program, SIM_COUNT, arena).cycles);
}

TEST(a_ring_goes_from_core_to_core)
{
	static const char *const mappings[] = {"core: k4", NULL};
	const struct program *program = lower(arena, 4, product, mappings, none);
	struct sim_result result = run(program, SIM_COUNT, arena);
	uint32_t ring = find(program, ENGINE_RING, 0, 0);
	const struct run_time *time = &result.trace[ring];
	/* 3 sticks of fp16 are 768 bytes of fp32, at 32 bytes a cycle; the
	 * second and the third link each begin a stick after the one before */
	assert_int_equal(time->end - time->start, (768 + 2 * 128) / 32 * result.ticks_per_cycle);
	assert_int_equal(result.counts.steps[0].bytes[2][TRAFFIC_RING], 3 * 768);
}

TEST(the_trace_keeps_to_queues_and_dependences)
{
	const struct program *program = lower_chain(arena);
	struct sim_result result = run(program, SIM_COUNT, arena);
	for (uint32_t i = 0; i < program->instruction_count; i++) {
		const struct instruction *instruction = &program->instructions[i];
		assert_true(result.trace[i].start <= result.trace[i].end);
		for (size_t k = 0; k < instruction->dependence_count; k++)
			assert_true(result.trace[instruction->dependences[k]].end <=
				    result.trace[i].start);
		for (uint32_t j = 0; j < i; j++) {
			const struct instruction *other = &program->instructions[j];
			if (other->engine == instruction->engine &&
				(other->mask & instruction->mask))
				assert_true(result.trace[j].end <= result.trace[i].start);
		}
	}
}

TEST(the_end_of_every_step_is_told)
{
	const struct program *program = lower_chain(arena);
	struct sim_result result = run(program, SIM_COUNT, arena);
	assert_int_equal(result.step_ends[1], result.cycles - program->overhead_cycles);
	assert_in_range(result.step_ends[0], 1, result.step_ends[1] - 1);
}

TEST(a_limit_of_steps_ends_a_run)
{
	const struct program *program = lower_chain(arena);
	struct sim_options options = {.steps_most = program->instruction_count - 1};
	struct sim_result result = sim_run(program, &options, arena);
	assert_false(result.finished);
	assert_int_equal(result.events, program->instruction_count - 1);
	assert_int_equal(result.fault_count, 0);
	options.steps_most++;
	result = sim_run(program, &options, arena);
	assert_true(result.finished);
}

TEST(inputs_that_are_given_are_used)
{
	const struct program *program = lower_chain(arena);
	int x = workload_tensor(program->workload, "x"),
	    y = workload_tensor(program->workload, "y");
	char array[8 * 64 * 2];
	for (int i = 0; i < 8 * 64; i++)
		kernel_store(DTYPE_FP16, array + i * 2, i == 77 ? 0.0f : -20.0f);
	void *inputs[3] = {0};
	inputs[x] = array;
	struct sim_options options = {.mode = SIM_DATA, .inputs = inputs};
	struct sim_result result = sim_run(program, &options, arena);
	assert_int_equal(result.fault_count, 0);
	for (int i = 0; i < 8 * 64; i++) {
		float value = kernel_load(DTYPE_FP16, (char *)result.outputs[y] + i * 2);
		assert_true(i == 77 ? value == -1.0f : value > -1e-6f);
	}
	assert_null(result.outputs[workload_tensor(program->workload, "s")]);
}
