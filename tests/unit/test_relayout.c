#include "base/arena.h"
#include "lower/graph/lower.h"
#include "model/graph/plan.h"
#include "model/graph/plan_check.h"
#include "model/graph/plan_file.h"
#include "sim/graph/sim.h"
#include "spec/sheet.h"
#include "tests/support/complaints.h"
#include "tests/support/executed.h"
#include "tests/support/mutable_program.h"
#include "tests/support/plan_text.h"
#include "tests/support/spyre.h"
#include "tests/support/workload_text.h"

#include <inttypes.h>
#include <string.h>

#include "tests/test.h"

/* A product whose sum is split over two cores leaves its result on their owners, 0 and 1.  From there it is laid
 * out again over all four, once for each reader. */
static const char yaml[] = "workload:\n"
			   "  name: owned\n"
			   "  dimensions: {m: 16, n: 128, k: 128}\n"
			   "  dtype: fp16\n"
			   "  ops:\n"
			   "  - c[m, n] = sum(k) a[m, k] * b[k, n]\n"
			   "  - d[m, n] = neg(c[m, n])\n"
			   "  - e[m, n] = c[m, n] + d[m, n]\n";

static const char plan_yaml[] =
	"plan:\n"
	"  version: 1\n"
	"  workload: owned\n"
	"  architecture: spyre32_published\n"
	"  cores: 4\n"
	"  steps:\n"
	"  - {op: c, bundle: 0, mapping: \"core: m2 k2\"}\n"
	"  - {move: relayout, tensor: c, as: relayout_c, readers: [d], bundle: 0, mapping: \"core: "
	"d0=4\"}\n"
	"  - {op: d, bundle: 0, mapping: \"core: m4\"}\n"
	"  - {move: relayout, tensor: c, as: rows_of_c, bundle: 0, mapping: \"core: d1=2 d0=2\"}\n"
	"  - {op: e, bundle: 0, mapping: \"core: n2 m2\"}\n"
	"  bundles:\n"
	"  - {bundle: 0, arguments: [a, b, d, e]}\n"
	"  tensors:\n"
	"    c:\n"
	"    - {where: LX, view: \"cores 4 only / 2 by 2: dim 1 / 2 by 1\", address: 0, size: 2048, "
	"from: 0, to: 4}\n"
	"    e:\n"
	"    - {where: HBM, from: 4, to: 5}\n"
	"    relayout_c:\n"
	"    - {where: LX, view: \"cores 4: dim 1 / 4 by 1\", address: 2048, size: 1024, from: 1, to: "
	"3}\n"
	"    rows_of_c:\n"
	"    - {where: LX, view: \"cores 4: dim 0 / 2 by 1, dim 1 / 2 by 2\", address: 2048, size: "
	"1024, from: 3, to: 5}\n"
	"  proof: {status: none}\n";

static const struct plan *read_plan(struct arena *arena, const char *text, struct diag *diag)
{
	struct sheet *sheet = sheet_open(arena, diag);
	sheet_add(sheet, node_read_text(arena, "p.yaml", text, strlen(text), diag));
	struct reading reading = sheet_reading(sheet);
	return plan_read(&reading, sheet_find(sheet, "plan"), spyre_arch(arena, 4),
		workload_given(arena, yaml));
}

static const struct plan *given_plan(struct arena *arena)
{
	struct diag *diag = diag_open(arena);
	const struct plan *plan = read_plan(arena, plan_yaml, diag);
	if (!plan)
		fail_msg("%s", complaints_text(arena, diag));
	return plan;
}

TEST(a_tensor_is_under_three_views)
{
	const struct plan *plan = given_plan(arena);
	struct text text = text_open(arena);
	plan_write(plan, &text);
	assert_string_equal(text_read(&text), plan_yaml);
	assert_true(plan_is_relayout(plan, 1));
	assert_string_equal(
		plan->workload->tensors[plan->workload->ops[2].reads[0].tensor].name, "relayout_c");
	assert_string_equal(
		plan->workload->tensors[plan->workload->ops[4].reads[0].tensor].name, "rows_of_c");
	const char *why = execute_exactly(plan, 1, arena);
	if (why)
		fail_msg("%s", why);
}

TEST(what_moves_is_counted)
{
	struct plan_cost cost;
	assert_true(cost_plan(given_plan(arena), arena, &cost));
	/* rows 0 .. 7 lie on core 0, the others on core 1: cores 0 and 1 get four rows of core 0, 2 and 3
	 * four of core 1, in 8 rows of 2 sticks: 2 boxes of 8 sticks a sender */
	const struct step_count *step = &cost.counts.steps[1];
	assert_int_equal(step->bytes[0][TRAFFIC_LX_DRAIN], 4096);
	assert_int_equal(step->bytes[1][TRAFFIC_LX_FILL], 4096);
	/* from 0 to 1, from 1 to 2, and from 1 to 3 over two links */
	assert_int_equal(step->bytes[1][TRAFFIC_DATA_RING], 4 * 1024);
	assert_int_equal(step->computes, 0);
	assert_int_equal(cost.phase_count, 5);
	assert_true(cost.phases[1].resource[RESOURCE_DATA_RING] > 0);
	assert_int_equal(cost.phases[1].cycles, cost.phases[1].resource[RESOURCE_DATA_RING]);
	assert_int_equal(cost.phases[1].estimate, cost.phases[1].cycles);
}

/* --- broken programs */

static struct sim_result simulate(const struct program *program, struct arena *arena)
{
	struct sim_options options = {.mode = SIM_DATA, .small_integers = true};
	return sim_run(program, &options, arena);
}

static const struct program *lower(const struct plan *plan, struct arena *arena)
{
	const char *why;
	const struct program *program = lower_plan(plan, arena, &why);
	if (!program)
		fail_msg("%s", why);
	return program;
}

/* The n-th instruction of step 1 on the data ring that moves a box, or that sets up runs. */
static struct mutable_instruction *find_send(struct mutable_program *program, bool moves, int n)
{
	for (size_t i = 0; i < program->program.instruction_count; i++) {
		struct mutable_instruction *at = &program->instructions[i];
		if (at->head->step == 1 && at->send && (at->send_from != NULL) == moves && n-- == 0)
			return at;
	}
	fail();
	return NULL;
}

static struct mutable_program *break_it(struct arena *arena)
{
	return mutable_copy(arena, lower(given_plan(arena), arena));
}

static void assert_caught(
	struct mutable_program *broken, enum sim_fault_kind kind, struct arena *arena)
{
	struct sim_result result = simulate(&broken->program, arena);
	for (int i = 0; i < result.fault_count; i++)
		if (result.faults[i].kind == kind)
			return;
	for (int i = 0; i < result.fault_count; i++)
		print_message("%s\n", result.faults[i].text);
	fail_msg("not caught");
}

TEST(a_wrong_slot_of_the_ring_is_caught)
{
	struct mutable_program *broken = break_it(arena);
	struct mutable_instruction *send = find_send(broken, true, 2);
	send->send->receivers = send->send->receivers << 1 | send->send->receivers >> 3;
	assert_caught(broken, FAULT_UNWRITTEN, arena);
}

TEST(a_sender_that_holds_nothing_is_caught)
{
	struct mutable_program *broken = break_it(arena);
	find_send(broken, true, 0)->head->mask = 1 << 2;
	assert_caught(broken, FAULT_BOUNDS, arena);
}

TEST(a_wrong_source_is_caught)
{
	struct mutable_program *broken = break_it(arena);
	find_send(broken, true, 0)->send_from->lx.address += STICK_BYTES;
	assert_caught(broken, FAULT_STALE, arena);
	broken = break_it(arena);
	find_send(broken, true, 0)->send_to->lx.address += 1024;
	assert_caught(broken, FAULT_BOUNDS, arena);
}

TEST(a_missing_wait_is_caught)
{
	struct mutable_program *broken = break_it(arena);
	struct mutable_instruction *reader = &broken->instructions[0];
	while (reader->head->step != 2 || reader->head->engine != ENGINE_COMPUTE)
		reader++;
	assert_int_equal(reader->head->dependence_count, 1);
	reader->head->dependence_count = 0;
	assert_caught(broken, FAULT_DEPENDENCE, arena);
}

TEST(runs_must_be_set_up)
{
	struct mutable_program *broken = break_it(arena);
	find_send(broken, false, 0)->send->runs--;
	assert_caught(broken, FAULT_BOUNDS, arena);
}

/* --- around opaque ops */

static const char around[] = "name: around\n"
			     "dimensions: {n: 256}\n"
			     "dtype: fp16\n"
			     "ops:\n"
			     "  - a[n] = neg(x[n])\n"
			     "  - {opaque: sort, reads: [x], writes: ['s[n]']}\n"
			     "  - b[n] = a[n] + s[n]\n";

TEST(nothing_stays_across_an_opaque_op)
{
	static const char *const mappings[] = {"core: n2", "", "core: n2 / 1", NULL};
	static const char *const stays[] = {"a at 0 steps 0 3, cores 2: dim 0 / 2 by 1", NULL};
	struct plan *plan = plan_text(arena, 2, around, mappings, stays);
	struct plan_faults faults = plan_check(plan, arena);
	assert_int_equal(faults.count, 1);
	assert_string_equal(faults.at[0].why,
		"the opaque op 's' runs while it stays, and leaves nothing in LX");
	struct sim_result result = simulate(lower(plan, arena), arena);
	assert_true(result.fault_count > 0);
	assert_int_equal(result.faults[0].kind, FAULT_STALE);
	assert_non_null(strstr(result.faults[0].text, "before an opaque op that may have changed"));
}

TEST(an_opaque_op_ends_its_bundle)
{
	static const char *const mappings[] = {"core: n2", "", "core: n2", NULL};
	struct plan *plan = plan_text(arena, 2, around, mappings, (const char *const[]){NULL});
	struct plan_faults faults = plan_check(plan, arena);
	assert_int_equal(faults.count, 1);
	assert_int_equal(faults.at[0].step, 2);
	assert_string_equal(
		faults.at[0].why, "it is in bundle 0, which ends with the opaque op 's'");
}

TEST(seven_tensors_are_too_many_for_a_bundle)
{
	static const char chain[] = "name: chain\n"
				    "dimensions: {n: 256}\n"
				    "dtype: fp16\n"
				    "ops:\n"
				    "  - b[n] = neg(a[n])\n"
				    "  - c[n] = neg(b[n])\n"
				    "  - d[n] = neg(c[n])\n"
				    "  - e[n] = neg(d[n])\n"
				    "  - f[n] = neg(e[n])\n"
				    "  - g[n] = neg(f[n])\n";
	const char *mappings[] = {"", "", "", "", "", "", NULL};
	struct plan *plan = plan_text(arena, 2, chain, mappings, (const char *const[]){NULL});
	struct plan_faults faults = plan_check(plan, arena);
	assert_int_equal(faults.count, 1);
	assert_int_equal(faults.at[0].step, 5);
	assert_string_equal(
		faults.at[0].why, "with it bundle 0 has 7 tensors in HBM; the machine takes 6");
	plan->steps[5].bundle = 1;
	assert_int_equal(plan_check(plan, arena).count, 0);
}

/* --- how near the simulator comes */

#define ROWS "cores 32: dim 1 / 32 by 1"

BARE_TEST(executed_times_are_near)
{
	static const struct {
		const char *name;
		int m;
		const char *made, *view, *read, *to;
	} rows[] = {
		{"shuffle by 2", 512, "core: m32", ROWS, "core: n2 m16",
			"cores 32: dim 0 / 2 by 1, dim 1 / 16 by 2"},
		{"shuffle by 4", 512, "core: m32", ROWS, "core: n4 m8",
			"cores 32: dim 0 / 4 by 1, dim 1 / 8 by 4"},
		{"shuffle by 8", 512, "core: m32", ROWS, "core: n8 m4",
			"cores 32: dim 0 / 8 by 1, dim 1 / 4 by 8"},
		{"shuffle by 16", 512, "core: m32", ROWS, "core: n16 m2",
			"cores 32: dim 0 / 16 by 1, dim 1 / 2 by 16"},
		{"shuffle by 32", 512, "core: m32", ROWS, "core: n32", "cores 32: dim 0 / 32 by 1"},
		{"shuffle across", 512, "core: m8 n4", "cores 32: dim 0 / 4 by 8, dim 1 / 8 by 1",
			"core: n4 m8", "cores 32: dim 0 / 4 by 1, dim 1 / 8 by 4"},
		{"all-gather", 128, "core: m32", ROWS, "core: m32", "cores 32"},
		{"many to one", 128, "core: m32", ROWS, "LX: m8", "cores 1"},
		{"one to many", 128, "LX: m8", "cores 1", "core: m32", ROWS},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct arena *arena = arena_open();
		const char *mappings[] = {rows[i].made, rows[i].read, NULL};
		const char *stay = arena_format(arena, "a at 0 steps 0 2, %s", rows[i].view);
		struct plan *plan = plan_text(arena, 32,
			arena_format(arena,
				"name: near\ndimensions: {m: %d, n: 2048}\ndtype: fp16\n"
				"ops: ['a[m, n] = neg(x[m, n])', 'b[m, n] = neg(a[m, n])']\n",
				rows[i].m),
			mappings, (const char *const[]){stay, NULL});
		struct plan_wish wish = {.kind = MOVE_RELAYOUT, .tensor = 1, .before = 1};
		const struct layout *layout = &plan->workload->tensors[1].layout;
		assert_null(view_parse(rows[i].to, &wish.stay.view));
		wish.stay.size = view_bytes(layout, &wish.stay.view);
		wish.stay.address = plan->residencies[0].size;
		struct executed executed =
			execute_plan(plan_with_moves(arena, plan, &wish, 1), 1, true, arena);
		if (executed.why)
			fail_msg("%s: %s", rows[i].name, executed.why);
		int64_t price = executed.cost.phases[1].cycles;
		int64_t taken = executed.result.step_ends[1] - executed.result.step_ends[0];
		print_message("%-20s %7" PRId64 " cycles by the model, %7" PRId64 " executed\n",
			rows[i].name, price, taken);
		assert_true(taken >= price && 3 * taken <= 4 * price);
		arena_close(arena);
	}
}
