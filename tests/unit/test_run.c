#include "base/arena.h"
#include "base/fatal.h"
#include "lower/graph/lower.h"
#include "model/graph/plan_check.h"
#include "model/graph/plan_file.h"
#include "model/graph/run.h"
#include "spec/sheet.h"
#include "tests/support/array_arch.h"
#include "tests/support/complaints.h"
#include "tests/support/executed.h"
#include "tests/support/spyre.h"
#include "tests/support/workload_text.h"

#include <string.h>

#include "tests/test.h"

static const char attention[] = "workload:\n"
				"  name: small\n"
				"  dimensions: {h: 2, q: 100, k: 128, d: 64}\n"
				"  ops:\n"
				"    - S[h,q,k] = sum(d) Q[h,q,d] * KT[h,d,k]\n"
				"    - amax[h,q] = max(k) S[h,q,k]\n"
				"    - sub[h,q,k] = S[h,q,k] - amax[h,q]\n"
				"    - exp[h,q,k] = neg(sub[h,q,k])\n"
				"    - O[h,q,d] = sum(k) exp[h,q,k] * V[h,k,d]\n";

static const char fused[] =
	"plan:\n"
	"  version: 1\n"
	"  workload: small\n"
	"  architecture: spyre32_published\n"
	"  cores: 32\n"
	"  steps:\n"
	"  - loop: {q: 5}\n"
	"    steps:\n"
	"    - {op: S, bundle: 0, mapping: \"core: h2 q4\"}\n"
	"    - {op: amax, bundle: 0, mapping: \"core: h2 q4\"}\n"
	"    - {op: sub, bundle: 0, mapping: \"core: h2 q4\"}\n"
	"    - {op: exp, bundle: 0, mapping: \"core: h2 q4\"}\n"
	"    - {op: O, bundle: 0, mapping: \"core: h2 q4\"}\n"
	"  bundles:\n"
	"  - {bundle: 0, arguments: [Q, KT, V, O]}\n"
	"  tensors:\n"
	"    S:\n"
	"    - {where: LX, view: \"cores 8: dim 0 / 4 by 2, dim 2 / 2 by 1\", address: 0, size: 1280, "
	"from: 0, to: 3}\n"
	"    amax:\n"
	"    - {where: LX, view: \"cores 8: dim 0 / 4 by 2, dim 2 / 2 by 1\", address: 1280, size: 640, "
	"from: 1, to: 3}\n"
	"    sub:\n"
	"    - {where: LX, view: \"cores 8: dim 0 / 4 by 2, dim 2 / 2 by 1\", address: 0, size: 1280, "
	"from: 2, to: 4, in_place_of: S}\n"
	"    exp:\n"
	"    - {where: LX, view: \"cores 8: dim 0 / 4 by 2, dim 2 / 2 by 1\", address: 0, size: 1280, "
	"from: 3, to: 5, in_place_of: sub}\n"
	"    O:\n"
	"    - {where: HBM, from: 0, to: 5}\n"
	"  proof: {status: none}\n";

static const struct plan *read_plan(struct arena *arena, const char *yaml, struct diag *diag)
{
	const struct node *root = node_read_text(arena, "plan.yaml", yaml, strlen(yaml), diag);
	struct sheet *sheet = sheet_open(arena, diag);
	if (!root)
		return NULL;
	sheet_add(sheet, root);
	struct reading reading = sheet_reading(sheet);
	return plan_read(&reading, sheet_find(sheet, "plan"), spyre_arch(arena, 32),
		workload_given(arena, attention));
}

static const struct plan *good_plan(struct arena *arena)
{
	struct diag *diag = diag_open(arena);
	const struct plan *plan = read_plan(arena, fused, diag);
	if (!plan)
		fail_msg("%s", complaints_text(arena, diag));
	return plan;
}

TEST(a_run_is_written_as_it_was_read)
{
	struct text text = text_open(arena);
	plan_write(good_plan(arena), &text);
	assert_string_equal(text_read(&text), fused);
}

TEST(an_iteration_has_a_part)
{
	const struct plan *plan = good_plan(arena);
	const struct tile_run *run = plan_run(plan, 2);
	const struct workload *workload = plan->workload;
	assert_int_equal(run_iterations(run), 5);
	assert_null(plan_run(plan, 5));
	const struct op *op = run_op(arena, workload, &workload->ops[0], run, 3);
	assert_int_equal(op->loops[run_loop(op, run, 0)].extent, 20);
	assert_int_equal(op->reads[0].host[1].offset, 60);
	assert_int_equal(op->reads[0].linear.offset, 60 * 64);
	assert_int_equal(op->reads[1].linear.offset, 0);
	const struct residency *stay = plan_lx(plan, workload_tensor(workload, "S"), 1);
	struct layout part = plan_stay_layout(plan, stay);
	assert_int_equal(part.size[0], 20);
	assert_int_equal(part.bytes, 2 * 20 * 2 * 128);
	assert_int_equal(plan_stay_first(plan, stay, 3, 0), 60);
	assert_int_equal(plan_stay_first(plan, stay, 3, 1), 0);
}

/* Loops that do not come out even: the last part of q is short, and all others are alike. */
TEST(iterations_are_in_classes)
{
	const struct workload *workload = workload_given(
		arena, "workload: {dimensions: {m: 6, n: 1000}, ops: ['y[m,n] = neg(x[m,n])']}");
	struct tile_run run = {0, 1, 2, {{"m", 3}, {"n", 4}}};
	struct run_classes classes = run_classes(arena, workload, &workload->ops[0], &run);
	assert_int_equal(classes.count, 2);
	assert_int_equal(classes.at[0].count, 9);
	assert_int_equal(classes.at[1].iteration, 3);
	assert_int_equal(classes.at[1].count, 3);
	assert_int_equal(run_part(workload, &workload->ops[0], &run, 7, 0).first, 2);
	assert_int_equal(run_part(workload, &workload->ops[0], &run, 7, 1).first, 768);
	assert_int_equal(run_part(workload, &workload->ops[0], &run, 7, 1).count, 232);
}

TEST(a_run_costs_its_iterations)
{
	const struct plan *plan = good_plan(arena);
	const char *why = execute_exactly(plan, 7, arena);
	if (why)
		fail_msg("%s", why);
	struct plan_cost cost;
	assert_true(cost_plan(plan, arena, &cost));
	assert_int_equal(cost.phase_count, 5);
	/* KT again in each iteration, Q and O once */
	assert_int_equal(cost.counts.steps[0].bytes[1][TRAFFIC_HBM_READ], 5 * 2 * 64 * 2 * 128);
	assert_int_equal(cost.counts.steps[0].bytes[0][TRAFFIC_HBM_READ], 2 * 100 * 128);
	assert_int_equal(cost.counts.steps[4].bytes[2][TRAFFIC_HBM_WRITE], 2 * 100 * 128);
	assert_int_equal(cost.counts.steps[1].computes, 2 * 100 * 128);
}

TEST(an_iteration_that_is_left_out_is_noticed)
{
	const char *why;
	struct program program = *lower_plan(good_plan(arena), arena, &why);
	size_t count = program.instruction_count;
	while (program.instructions[count - 1].tile != 3)
		count--;
	program.instruction_count = count + 1;
	struct sim_options options = {.mode = SIM_IDENTITY, .small_integers = true};
	struct sim_result result = sim_run(&program, &options, arena);
	assert_int_equal(result.fault_count, 1);
	assert_int_equal(result.faults[0].kind, FAULT_UNWRITTEN);
	assert_non_null(strstr(result.faults[0].text, "stick 160 of 'O' is not there"));
}

/* In one iteration of the run all of `a` is read, of which only a part is there. */
TEST(parts_are_read_as_they_are_made)
{
	const struct workload *workload = workload_given(arena,
		"workload: {dimensions: {m: 128, n: 128, k: 128}, ops: ['a[m,k] = neg(x[m,k])', "
		"'y[m,n] = sum(k) a[m,k] * w[k,n]', 'z[m,n] = sum(k) y[m,k] * y[k,n]']}");
	struct step steps[3];
	for (int s = 0; s < 3; s++)
		steps[s] = (struct step){
			.op = s, .mapping = mapping_make(spyre_arch(arena, 1), &workload->ops[s])};
	struct tile_run runs[] = {{0, 3, 1, {{"m", 4}}}};
	struct plan plan = {.arch = spyre_arch(arena, 1),
		.workload = workload,
		.cores = 1,
		.step_count = 3,
		.steps = steps,
		.run_count = 1,
		.runs = runs};
	struct plan_faults faults = plan_check(&plan, arena);
	assert_int_equal(faults.count, 1);
	assert_int_equal(faults.at[0].step, 2);
	assert_string_equal(faults.at[0].why,
		"it does not read 'y' in the parts in which 'y' makes it: end the run of 'm' before "
		"it");
	runs[0].end = 2;
	assert_int_equal(plan_check(&plan, arena).count, 0);
}

/* If tiles do not move in boxes, a step may sum over iterations; no step of the run reads its
 * output. */
TEST(sums_are_read_behind_the_run)
{
	const struct arch *arch = whole_arch(arena);
	const char *complaints;
	const struct workload *workload = workload_at_home(arena,
		"workload: {dimensions: {m: 4, n: 4, k: 4, j: 4}, ops: ['a[m,k] = neg(x[m,k])', "
		"'y[m,n] = sum(k) a[m,k] * w[k,n]', 'z[m,k] = sum(n) y[m,n] * v[n,k]']}",
		arch_home(arch), &complaints);
	struct step steps[3];
	for (int s = 0; s < 3; s++)
		steps[s] = (struct step){.op = s, .mapping = mapping_make(arch, &workload->ops[s])};
	struct tile_run runs[] = {{0, 3, 2, {{"k", 4}, {"m", 2}}}};
	struct plan plan = {.arch = arch,
		.workload = workload,
		.cores = 1,
		.step_count = 3,
		.steps = steps,
		.run_count = 1,
		.runs = runs};
	int step;
	assert_string_equal(plan_run_misfit(arena, &plan, 0, &step),
		"it reads 'y', to which 'y' adds up to the last iteration: end the run before it");
	assert_int_equal(step, 2);
	runs[0].end = 2;
	assert_null(plan_run_misfit(arena, &plan, 0, &step));
	const struct op *sums = &workload->ops[1];
	for (int64_t i = 0; i < 8; i++) {
		assert_int_equal(run_resumes(sums, runs, i), i >= 2);
		assert_int_equal(run_goes_on(sums, runs, i), i < 6);
		assert_false(run_resumes(&workload->ops[0], runs, i));
	}
	plan.arch = spyre_arch(arena, 1);
	assert_non_null(plan_run_misfit(arena, &plan, 0, &step));
}
