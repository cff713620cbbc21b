#include "base/arena.h"
#include "lower/graph/lower.h"
#include "sim/graph/reference.h"
#include "sim/graph/sim.h"
#include "sim/nest/nest.h"
#include "tests/support/array_arch.h"
#include "tests/support/mutable_program.h"
#include "tests/support/sample.h"
#include "tests/support/workload_text.h"

#include <string.h>

#include "tests/test.h"

/* Nests in computes of a graph, and what goes wrong in them. */
static struct plan *plan_one(struct arena *arena, const struct arch *arch, bool linear)
{
	struct workload *workload = sample_op(
		arena, OP_EINSUM, DTYPE_FP16, "mk,kn->mn", "mnk", (int64_t[]){8, 64, 128});
	struct tensor *tensors = (struct tensor *)workload->tensors;
	for (size_t t = 0; linear && t < workload->tensor_count; t++)
		layout_linear(DTYPE_FP16, tensors[t].layout.host_size, tensors[t].layout.host_rank,
			&tensors[t].layout);
	struct plan *plan = arena_new(arena, struct plan);
	*plan = (struct plan){.arch = arch,
		.workload = workload,
		.cores = 2,
		.step_count = 1,
		.steps = arena_new(arena, struct step),
		.residencies = arena_array(arena, struct residency, workload->tensor_count)};
	plan->steps[0].mapping = mapping_make(arch, &workload->ops[0]);
	if (linear)
		return plan;
	plan->steps[0].mapping.rows[arch->core].spatial[0] = 2;
	plan->steps[0].mapping.rows[arch->lx].temporal[2] = 2; /* two passes */
	return plan;
}

/* Registers keep the output for as long as k runs there; the loops outside come back to it. */
static void map_nest(struct plan *plan)
{
	const struct arch *arch = plan->arch;
	bool boxes = arch_moves_boxes(arch);
	struct mapping *mapping = &plan->steps[0].mapping;
	int outer = arch->hbm, registers = arch_level(arch, "registers");
	int64_t m = boxes ? 4 : 8, k = boxes ? 64 : 128;
	mapping->rows[arch_level(arch, "lane")].spatial[1] = 4;
	mapping->rows[registers].temporal[2] = 16;
	mapping->rows[outer].temporal[0] = (uint32_t)m;
	mapping->rows[outer].temporal[1] = 16;
	mapping->rows[outer].temporal[2] = (uint32_t)(k / 16);
	mapping->rows[outer].temporal_order[0] = 1; /* n inside of k, inside of m */
	mapping->rows[outer].temporal_order[1] = 2;
	mapping->rows[outer].temporal_order[2] = 0;
	for (int i = 0; i < 3; i++)
		mapping->residency[i] |= 1u << registers;
}

static const struct program *lower(struct arena *arena, const struct plan *plan)
{
	const char *why;
	const struct program *program = lower_plan(plan, arena, &why);
	if (!program)
		fail_msg("%s", why);
	return program;
}

static bool is_right(struct arena *arena, const struct plan *plan, const struct sim_result *result)
{
	void **arrays = arena_array(arena, void *, plan->workload->tensor_count);
	int output = plan->workload->ops[0].writes[0].tensor;
	reference_inputs(plan->workload, 5, true, arena, arrays);
	reference_run(plan->workload, arena, arrays);
	return !reference_compare(
		&plan->workload->tensors[output], arrays[output], result->outputs[output])
			.different;
}

static struct sim_options options_of(enum sim_mode mode)
{
	return (struct sim_options){.mode = mode, .seed = 5, .small_integers = true};
}

BARE_TEST(what_goes_wrong_in_a_nest_is_seen)
{
	static const struct {
		enum nest_sim_fault fault;
		bool counted; /* moves cannot be done; else only values are wrong */
	} table[] = {
		{NEST_SIM_FILL_LOST, true},
		{NEST_SIM_DRAIN_LOST, false},
		{NEST_SIM_SUM_UNREAD, false},
		{NEST_SIM_SUM_COPIED, false},
	};
	for (int boxes = 0; boxes < 2; boxes++) {
		struct arena *arena = arena_open();
		const struct arch *arch = boxes ? array_arch(arena, 2) : whole_arch(arena);
		struct plan *plan = plan_one(arena, arch, !boxes);
		map_nest(plan);
		const struct program *program = lower(arena, plan);
		struct sim_options data = options_of(SIM_DATA);
		struct sim_result result = sim_run(program, &data, arena);
		if (result.fault_count)
			fail_msg("%s", result.faults[0].text);
		assert_true(is_right(arena, plan, &result));
		assert_int_equal(result.nests, 1);
		assert_int_equal(result.nest_tiles, boxes ? 4 : 1);
		for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
			struct sim_options count = options_of(SIM_COUNT);
			count.nest_fault = data.nest_fault = (int)table[i].fault;
			count.nest_fault_at = data.nest_fault_at = 3;
			result = sim_run(program, &count, arena);
			assert_int_equal(result.fault_count > 0, table[i].counted);
			if (table[i].counted)
				assert_non_null(strstr(result.faults[0].text, "its nest, step "));
			result = sim_run(program, &data, arena);
			assert_true(result.fault_count > 0 || !is_right(arena, plan, &result));
		}
		arena_close(arena);
	}
}

/* Sums are in the accumulators between passes and inside of each. */
TEST(wrong_accumulators_are_seen)
{
	struct plan *plan = plan_one(arena, array_arch(arena, 2), false);
	map_nest(plan);
	const struct program *program = lower(arena, plan);
	int seen[3] = {0};
	for (size_t i = 0; i < program->instruction_count; i++) {
		const struct instruction *at = &program->instructions[i];
		if (at->engine != ENGINE_COMPUTE)
			continue;
		assert_non_null(at->compute->nest);
		assert_true(at->compute->accumulator_write); /* even by the pass that finishes */
		for (int how = 0; how < 3; how++) {
			struct mutable_program *broken = mutable_copy(arena, program);
			struct mutable_instruction *copy = &broken->instructions[i];
			bool finishes = at->compute->finish;
			if (how == 0 && finishes)
				copy->accumulator->address += 128; /* reads what is not its own */
			else if (how == 1)
				copy->accumulator->address = 0; /* not in the reserve */
			else if (how == 2 && finishes)
				copy->compute->accumulator_read = false;
			else
				continue;
			struct sim_options options = options_of(SIM_DATA);
			struct sim_result result = sim_run(&broken->program, &options, arena);
			assert_true(result.fault_count > 0);
			seen[how]++;
		}
	}
	assert_true(seen[0] == 2 && seen[1] == 4 && seen[2] == 2);
}

/* y is read when z has come; both are in the scratchpad. */
static struct plan *plan_chain(struct arena *arena)
{
	static const char yaml[] = "workload:\n"
				   "  dimensions: {m: 6, n: 20}\n"
				   "  ops:\n"
				   "    - y[m,n] = neg(x[m,n])\n"
				   "    - z[m,n] = abs(y[m,n])\n"
				   "    - w[m,n] = y[m,n] + z[m,n]\n";
	const struct workload *workload = workload_in_rows(workload_given(arena, yaml), arena);
	struct plan *plan = arena_new(arena, struct plan);
	*plan = (struct plan){.arch = whole_arch(arena),
		.workload = workload,
		.cores = 1,
		.step_count = 3,
		.steps = arena_array(arena, struct step, 3),
		.residency_count = 2,
		.residencies = arena_array(arena, struct residency, 2)};
	for (int s = 0; s < 3; s++) {
		plan->steps[s] = (struct step){
			.op = s, .mapping = mapping_make(plan->arch, &workload->ops[s])};
		struct mapping_row *row = &plan->steps[s].mapping.rows[plan->arch->hbm];
		row->temporal[0] = 6;
		row->temporal[1] = 20;
	}
	for (int i = 0; i < 2; i++) {
		int t = workload_tensor(workload, i ? "z" : "y");
		plan->residencies[i] = (struct residency){.tensor = t,
			.place = PLACE_LX,
			.view = {.cores = 1},
			.address = 300 * i,
			.size = workload->tensors[t].layout.bytes,
			.from = i,
			.to = 3,
			.in_place_of = -1};
	}
	return plan;
}

static bool has_kind(const struct sim_result *result, enum sim_fault_kind kind, const char *text)
{
	bool has = false;
	for (int i = 0; i < result->fault_count; i++)
		has |= result->faults[i].kind == kind && strstr(result->faults[i].text, text);
	return has;
}

TEST(what_is_overwritten_in_the_scratchpad_is_seen)
{
	struct plan *plan = plan_chain(arena);
	for (int mode = SIM_IDENTITY; mode <= SIM_DATA; mode++) {
		struct sim_options options = options_of((enum sim_mode)mode);
		plan->residencies[1].address = 300;
		struct sim_result result = sim_run(lower(arena, plan), &options, arena);
		if (result.fault_count)
			fail_msg("%s", result.faults[0].text);
		assert_int_equal(result.lx_peak_bytes, 300 + 6 * 20 * 2);
		assert_int_equal(result.nests, 3);
		plan->residencies[1].address = 100;
		result = sim_run(lower(arena, plan), &options, arena);
		assert_true(has_kind(&result, FAULT_OVERLAP, ""));
		assert_true(has_kind(&result, FAULT_STALE,
			"it reads byte 100 of 'y' and finds byte 0 of 'z' of step 1"));
	}
	/* no move brought x there */
	plan->residencies[1] = plan->residencies[0];
	plan->residencies[0] = (struct residency){.tensor = workload_tensor(plan->workload, "x"),
		.place = PLACE_LX,
		.view = {.cores = 1},
		.address = 300,
		.size = 240,
		.to = 1,
		.in_place_of = -1};
	struct sim_options options = options_of(SIM_IDENTITY);
	struct sim_result result = sim_run(lower(arena, plan), &options, arena);
	assert_true(has_kind(
		&result, FAULT_UNWRITTEN, "it reads byte 0 of 'x' that was never written"));
	/* and it does not fit beside y */
	plan->residencies[0].address = arch_lx(plan->arch)->capacity - 100;
	result = sim_run(lower(arena, plan), &options, arena);
	assert_true(has_kind(&result, FAULT_BOUNDS, "are not allotted to 'x'"));
}

/* From HBM to HBM neg and abs do the same to the machine. */
TEST(equal_nests_are_executed_once)
{
	struct plan *plan = plan_chain(arena);
	plan->residency_count = 0;
	struct sim_options options = options_of(SIM_COUNT);
	struct sim_result result = sim_run(lower(arena, plan), &options, arena);
	assert_int_equal(result.nests, 2);
	assert_int_equal(result.nest_tiles, 3);
	assert_true(nest_totals_equal(result.counts.steps[0].nests, result.counts.steps[1].nests));
}

TEST(long_nests_are_not_executed)
{
	struct plan *plan = plan_one(arena, array_arch(arena, 2), false);
	map_nest(plan);
	const struct program *program = lower(arena, plan);
	int64_t work = 4 * 64 * 64, once = 104; /* of a tile; of its periods */
	for (int mode = SIM_COUNT; mode <= SIM_DATA; mode++)
		for (int enough = 0; enough < 2; enough++) {
			struct sim_options options = options_of((enum sim_mode)mode);
			int64_t needed = (mode == SIM_DATA ? 4 * work : 0) + once;
			options.steps_most = (uint64_t)(needed - !enough);
			struct sim_result result = sim_run(program, &options, arena);
			assert_int_equal(result.finished, enough);
			assert_int_equal(result.too_long == NULL, enough);
		}
}
