#include "base/arena.h"
#include "base/fatal.h"
#include "model/graph/plan_file.h"
#include "spec/node.h"
#include "spec/sheet.h"
#include "tests/support/complaints.h"
#include "tests/support/set_up.h"
#include "tests/support/spyre.h"
#include "tests/support/workload_text.h"

#include <string.h>

#include "tests/test.h"

/* Stage 4 of the published scratchpad document, on 4 cores. */
static const char stage4[] =
	"plan:\n"
	"  version: 1\n"
	"  workload: softmax\n"
	"  architecture: spyre32_published\n"
	"  cores: 4\n"
	"  steps:\n"
	"  - {move: clone, tensor: x, as: clone_x, bundle: 0, mapping: \"core: d1=4\"}\n"
	"  - {op: mx, bundle: 0, mapping: \"core: n4 | keep LX: 0 1\"}\n"
	"  - {op: s, bundle: 0, mapping: \"core: n4 | keep LX: 0 1 2\"}\n"
	"  - {op: e, bundle: 0, mapping: \"core: n4 | keep LX: 0 1\"}\n"
	"  - {op: d, bundle: 0, mapping: \"core: n4 | keep LX: 0 1\"}\n"
	"  - {op: y, bundle: 1, mapping: \"core: n4 | keep LX: 0 1\"}\n"
	"  bundles:\n"
	"  - {bundle: 0, arguments: [x]}\n"
	"  - {bundle: 1, arguments: [y]}\n"
	"  tensors:\n"
	"    x:\n"
	"    - {where: HBM, from: 0, to: 1}\n"
	"    mx:\n"
	"    - {where: LX, view: \"cores 4: dim 0 / 4 by 1\", address: 262144, size: 512, from: 1, "
	"to: 3}\n"
	"    s:\n"
	"    - {where: LX, view: \"cores 4: dim 0 / 4 by 1\", address: 0, size: 262144, from: 2, "
	"to: 4, in_place_of: clone_x}\n"
	"    e:\n"
	"    - {where: LX, view: \"cores 4: dim 0 / 4 by 1\", address: 0, size: 262144, from: 3, "
	"to: 6, in_place_of: s}\n"
	"    d:\n"
	"    - {where: LX, view: \"cores 4: dim 0 / 4 by 1\", address: 262144, size: 512, from: 4, "
	"to: 6}\n"
	"    y:\n"
	"    - {where: HBM, from: 5, to: 6}\n"
	"    clone_x:\n"
	"    - {where: LX, view: \"cores 4: dim 0 / 4 by 1\", address: 0, size: 262144, from: 0, "
	"to: 3}\n"
	"  proof: {status: bound, method: place/greedy, space: placements, value: 2097152, bound: "
	"1048576.5}\n";

/* The same until `e` leaves LX and comes back to another address. */
static const char evicted[] =
	"plan:\n"
	"  version: 1\n"
	"  workload: softmax\n"
	"  architecture: spyre32_published\n"
	"  cores: 4\n"
	"  steps:\n"
	"  - {op: mx, bundle: 0, mapping: \"core: n4 | keep LX: 0 1\"}\n"
	"  - {op: s, bundle: 0, mapping: \"core: n4 | keep LX: 0 1 2\"}\n"
	"  - {op: e, bundle: 0, mapping: \"core: n4 | keep LX: 0 1\"}\n"
	"  - {op: d, bundle: 0, mapping: \"core: n4 | keep LX: 0 1\"}\n"
	"  - {move: evict, tensor: e, bundle: 1, mapping: \"core: d1=4\"}\n"
	"  - {move: reload, tensor: e, bundle: 1, mapping: \"core: d1=4\"}\n"
	"  - {op: y, bundle: 1, mapping: \"core: n4 | keep LX: 0 1\"}\n"
	"  bundles:\n"
	"  - {bundle: 0, arguments: [x, mx, s, d]}\n"
	"  - {bundle: 1, arguments: [e, d, y]}\n"
	"  tensors:\n"
	"    e:\n"
	"    - {where: LX, view: \"cores 4: dim 0 / 4 by 1\", address: 0, size: 262144, from: 2, "
	"to: 5}\n"
	"    - {where: HBM, from: 4, to: 6}\n"
	"    - {where: LX, view: \"cores 4: dim 0 / 4 by 1\", address: 512, size: 262144, from: 5, "
	"to: 7}\n"
	"    y:\n"
	"    - {where: HBM, from: 6, to: 7}\n"
	"  proof: {status: none}\n";

static const struct plan *read_plan_of(
	struct arena *arena, const struct workload *workload, const char *yaml, struct diag *diag)
{
	struct sheet *sheet = sheet_open(arena, diag);
	const struct node *root = node_read_text(arena, "p.yaml", yaml, strlen(yaml), diag);
	if (!root)
		return NULL;
	sheet_add(sheet, root);
	struct reading reading = sheet_reading(sheet);
	return plan_read(&reading, sheet_find(sheet, "plan"), spyre_arch(arena, 32), workload);
}

static const struct plan *read_plan(struct arena *arena, const char *yaml, struct diag *diag)
{
	return read_plan_of(arena, workload_given(arena, softmax_yaml), yaml, diag);
}

static void a_plan_is_written_as_it_was_read(void **state)
{
	struct diag *diag = diag_open(*state);
	const struct plan *plan = read_plan(*state, stage4, diag);
	if (!plan)
		fail_msg("%s", complaints_text(*state, diag));
	struct text text = text_open(*state);
	plan_write(plan, &text);
	assert_string_equal(text_read(&text), stage4);
}

/* A chain of 8,000 ops: more than a MiB of plan. */
static void plans_of_long_graphs_are_read(void **state)
{
	enum { OPS = 8000 };
	const char *name = "a_tensor_with_a_long_name_as_converters_from_other_formats_make_them";
	struct text spec = text_open(*state), steps = text_open(*state);
	text_add(&spec, "workload:\n  dimensions: {m: 64}\n  ops:\n  - a0[m] = neg(x[m])\n");
	for (int i = 0; i < OPS; i++) {
		text_add(&spec, "  - {op: 'a%d[m] = neg(a%d[m])', name: %s_%d}\n", i + 1, i, name,
			i);
		text_add(&steps, "  - {op: %s_%d, bundle: %d, mapping: undivided}\n", name, i,
			i + 1);
	}
	const struct workload *workload = workload_given(*state, text_read(&spec));
	struct text text = text_open(*state);
	text_add(&text,
		"plan:\n  version: 1\n  workload: workload\n  architecture: spyre32_published\n  cores: 1\n  steps:\n"
		"  - {op: a0, bundle: 0, mapping: undivided}\n%s"
		"  bundles:\n  - {bundle: 0, arguments: [x, a0]}\n",
		text_read(&steps));
	for (int i = 0; i < OPS; i++)
		text_add(&text, "  - {bundle: %d, arguments: [a%d, a%d]}\n", i + 1, i, i + 1);
	text_add(&text, "  tensors:\n");
	for (int i = 0; i <= OPS; i++)
		text_add(&text, "    a%d:\n    - {where: HBM, from: %d, to: %d}\n", i, i,
			i < OPS ? i + 2 : OPS + 1);
	text_add(&text, "  proof: {status: none}\n");
	assert_true(text.length > 5 * SPEC_BYTES_MOST / 4);
	struct diag *diag = diag_open(*state);
	const struct plan *plan = read_plan_of(*state, workload, text_read(&text), diag);
	if (!plan)
		fail_msg("%s", complaints_text(*state, diag));
	assert_int_equal(plan->step_count, OPS + 1);
	struct text again = text_open(*state);
	plan_write(plan, &again);
	assert_string_equal(text_read(&again), text_read(&text));
}

static void a_plan_means_what_it_says(void **state)
{
	struct diag *diag = diag_open(*state);
	const struct plan *plan = read_plan(*state, stage4, diag);
	assert_non_null(plan);
	const struct workload *workload = plan->workload;
	int clone = workload_tensor(workload, "clone_x"), s = workload_tensor(workload, "s");
	assert_int_equal(plan->cores, 4);
	assert_int_equal(plan->step_count, 6);
	assert_true(plan_is_move(plan, 0));
	assert_int_equal(workload->ops[1].reads[0].tensor, clone);
	assert_int_equal(mapping_cores(plan->arch, &plan->steps[3].mapping), 4);
	assert_int_equal(plan->steps[5].bundle, 1);
	assert_null(plan_lx(plan, workload_tensor(workload, "x"), 0));
	assert_int_equal(plan_lx(plan, s, 2)->in_place_of, clone);
	assert_int_equal(plan_lx(plan, s, 2)->size, 262144);
	assert_int_equal(plan->proof.status, PROOF_BOUND);
	assert_true(plan->proof.bound == 1048576.5);
}

static void a_tensor_that_comes_back_has_three_stays(void **state)
{
	struct diag *diag = diag_open(*state);
	const struct plan *plan = read_plan(*state, evicted, diag);
	if (!plan)
		fail_msg("%s", complaints_text(*state, diag));
	const struct workload *workload = plan->workload;
	int e = workload_tensor(workload, "e"), away = workload_tensor(workload, "evict_e");
	int back = workload_tensor(workload, "reload_e");
	assert_true(plan_is_evict(plan, 4));
	assert_true(plan_is_move(plan, 5));
	assert_int_equal(workload->ops[3].reads[0].tensor, e);
	assert_int_equal(workload->ops[5].reads[0].tensor, away);
	assert_int_equal(workload->ops[6].reads[0].tensor, back);
	assert_int_equal(plan_lx(plan, back, 6)->address, 512);
	assert_int_equal(tensor_home(workload, away), away);
	struct text text = text_open(*state);
	plan_write(plan, &text);
	assert_string_equal(text_read(&text), evicted);
}

static const char *replace_in(
	struct arena *arena, const char *plan, const char *from, const char *to)
{
	const char *at = strstr(plan, from);
	if (!at)
		BUG("'%s' is not in the plan", from);
	return arena_format(arena, "%.*s%s%s", (int)(at - plan), plan, to, at + strlen(from));
}

static const char *replace(struct arena *arena, const char *from, const char *to)
{
	return replace_in(arena, stage4, from, to);
}

static void what_is_wrong_with_moves_is_said(void **state)
{
	static const struct {
		const char *from, *to, *error;
	} rows[] = {
		{"move: evict, tensor: e", "move: evict, tensor: s",
			"'evict_s': it evicts 's', which does not lie in LX or goes on there"},
		{"move: reload, tensor: e", "move: reload, tensor: y",
			"'y' is moved before an op writes it"},
		{"move: reload, tensor: e", "move: reload, tensor: s",
			"'reload_s': it reloads 's', which does not lie in HBM or goes on there"},
		{"move: evict, tensor: e", "move: evict, tensor: e, as: f",
			"unknown key 'as' in step"},
		{"move: evict", "move: evicts",
			"'move' in step is 'evicts'; it can be clone, evict, reload or relayout; did you "
			"mean 'evict'?"},
		{"size: 262144, from: 2, to: 5", "size: 262144, from: 2, to: 4",
			"'evict_e': it evicts 'e', which does not lie in LX or goes on there"},
		{"size: 262144, from: 2, to: 5", "size: 262144, from: 2, to: 6",
			"'e': it lives in steps 2 to 5, and stays in LX for 2 to 6"},
		{"size: 262144, from: 5, to: 7", "size: 262144, from: 4, to: 7",
			"'evict_e': it evicts 'e', which does not lie in LX or goes on there"},
		{"address: 512", "address: 513", "'reload_e': its address is not aligned"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct arena *arena = arena_open();
		struct diag *diag = diag_open(arena);
		if (read_plan(arena, replace_in(arena, evicted, rows[i].from, rows[i].to), diag))
			fail_msg("accepted: %s", rows[i].error);
		const char *error = complaints_first(arena, diag) + strlen("error: ");
		if (strncmp(error, rows[i].error, strlen(rows[i].error)))
			fail_msg("%s\ninstead of %s", error, rows[i].error);
		arena_close(arena);
	}
}

static void what_is_wrong_is_said(void **state)
{
	static const struct {
		const char *from, *to, *error;
	} rows[] = {
		{"version: 1", "version: 2", "'version' in plan is 2; it can be only 1"},
		{"cores: 4", "cores: 64", "'cores' in plan is 64; it can be 1 to 32"},
		{"cores: 4", "cores: 2", "'clone_x': it uses 4 cores of 2"},
		{"cores: 4", "core: 4", "plan has no 'cores'"},
		{"op: mx", "op: mix", "no op 'mix'; did you mean 'mx'?"},
		{"op: mx", "op: amaximum", "no op 'amaximum' in the workload"},
		{"op: mx", "op: s", "op 's' is not next: the workload runs 'mx' here"},
		{"  - {op: y, bundle: 1, mapping: \"core: n4 | keep LX: 0 1\"}\n", "",
			"the steps end before op 'y'"},
		{"  bundles:\n", "  - {op: y, bundle: 1, mapping: undivided}\n  bundles:\n",
			"op 'y' ran before"},
		{"  proof:", "  prof:", "unknown key 'prof' in plan; did you mean 'proof'?"},
		{"move: clone", "move: clown",
			"'move' in step is 'clown'; it can be clone, evict, reload or relayout; did you mean "
			"'clone'?"},
		{"tensor: x", "tensor: z", "no tensor 'z' in the workload"},
		{"as: clone_x", "as: mx", "there is a tensor or an op 'mx' already"},
		{"core: d1=4", "core: q4", "mapping of 'clone_x': op 'clone_x' has no loop 'q'"},
		{"core: d1=4", "core: d1=3",
			"'clone_x': the factors of 'd1' do not divide its 16 units"},
		{"\"core: n4 | keep LX: 0 1 2\"", "\"core: n4 | HBM: m2\"",
			"'s': loop 'm' has a factor at 'HBM'; a plan divides loops over the cores "
			"and tiles them at 'LX'"},
		{"op: y, bundle: 1", "op: y, bundle: 2", "'y': after bundle 0 comes 1, not 2"},
		{"op: d, bundle: 0", "op: d, bundle: 2147483647",
			"'bundle' in step is 2147483647; it can be 0 to 2147483646"},
		{"op: y, bundle: 1", "op: y", "step has no 'bundle'"},
		{"arguments: [x]", "arguments: [x, mx]",
			"steps and tensors make other bundles or arguments"},
		{"  - {bundle: 1, arguments: [y]}\n", "", "bundle 1 is not listed"},
		{"    d:\n", "    dd:\n", "no tensor 'dd'; did you mean 'd'?"},
		{"where: HBM", "where: L2", "'where' in stay is 'L2'; it can be HBM or LX"},
		{"where: HBM, from: 5", "where: HBM, address: 3, from: 5",
			"unknown key 'address' in stay"},
		{"size: 512, from: 1, to: 3", "size: 512, from: 1, to: 9",
			"'to' in stay is 9; it can be 0 to 6"},
		{"size: 512, from: 1, to: 3", "size: 512, from: 1, to: 4",
			"'mx': it lives in steps 1 to 3, and stays in LX for 1 to 4"},
		{"size: 512, from: 1", "size: 1024, from: 1",
			"'mx': its slice has 512 bytes, not 1024"},
		{"cores 4: dim 0 / 4 by 1", "cores four",
			"a view reads 'cores 8: dim 1 / 4 by 2, dim 2 / 2 by 1'"},
		{"cores 4: dim 0 / 4 by 1", "cores 4: dim 0 / 3 by 1",
			"'mx': dimension 0 has 16 parts, not 3"},
		{"cores 4: dim 0 / 4 by 1", "cores 33: dim 0 / 4 by 1",
			"'mx': its view has 33 cores, the machine 32"},
		{"address: 262144, size: 512, from: 1", "address: 262100, size: 512, from: 1",
			"'mx': its address is not aligned"},
		{"address: 262144, size: 512, from: 1", "address: 1677696, size: 512, from: 1",
			"'mx': it ends beyond the capacity"},
		{"address: 262144, size: 512, from: 1", "address: 262016, size: 512, from: 1",
			"'mx': and 'clone_x': they share bytes while both live"},
		{", in_place_of: clone_x", "",
			"'s': and 'clone_x': they share bytes while both live"},
		{", in_place_of: clone_x", ", in_place_of: mx",
			"'s': op 's' reads 'mx' elsewhere than it writes"},
		{", in_place_of: clone_x", ", in_place_of: y",
			"'s': op 's' does not map 'y' to it element by element"},
		{"in_place_of: s", "in_place_of: ss", "no tensor 'ss'; did you mean 's'?"},
		{"- {where: HBM, from: 5, to: 6}",
			"- {where: LX, view: cores 1, address: 0, size: 1048576, from: 5, to: 6}",
			"'y': it is an output, and must end up in HBM"},
		{"- {where: HBM, from: 0, to: 1}",
			"- {where: LX, view: cores 1, address: 0, size: 1048576, from: 0, to: 1}",
			"'x': it is an input, and lies in HBM"},
		{"- {where: HBM, from: 5, to: 6}",
			"- {where: HBM, from: 5, to: 6}\n    - {where: HBM, from: 5, to: 6}",
			"'y': it begins before the stay that stands before it ends"},
		{"- {where: HBM, from: 5, to: 6}", "- {where: HBM, from: 5, to: 5}",
			"'y': it is of no tensor, or of no steps"},
		{"- {where: HBM, from: 5, to: 6}", "  HBM",
			"the stays of 'y' are a word; a list is expected"},
		{"architecture: spyre32_published", "architecture: other",
			"the plan was made for architecture 'other', not 'spyre32_published'"},
		{"workload: softmax", "workload: tail",
			"the plan was made for workload 'tail', not 'softmax'"},
		{"- {where: HBM, from: 0, to: 1}", "- {where: HBM, from: 0, to: 2}",
			"'x': it lives in steps 0 to 1, and stays in HBM for 0 to 2"},
		{"- {where: HBM, from: 5, to: 6}", "- {where: HBM, from: 4, to: 6}",
			"'y': it lives in steps 5 to 6, and stays in HBM for 4 to 6"},
		{"    y:\n    - {where: HBM, from: 5, to: 6}\n", "",
			"output 'y' has no stay: {where: HBM, from: 5, to: 6}"},
		{"- {where: LX, view: \"cores 4: dim 0 / 4 by 1\", address: 262144, size: 512, from: 1, "
		 "to: 3}",
			"- {where: LX, view: \"cores 8: dim 0 / 4 by 2\", address: 262144, size: 512, "
			"from: 1, to: 3}",
			"'mx': its view has 8 cores, the plan 4"},
		{"  bundles:\n  - {bundle: 0, arguments: [x]}\n  - {bundle: 1, arguments: [y]}\n",
			"", "plan has no 'bundles'"},
		{"  - {bundle: 1, arguments: [y]}\n", "", "bundle 1 is not listed"},
		{"status: bound", "status: bounded",
			"'status' in proof is 'bounded'; it can be none, optimal, bound, "
			"infeasible "
			"or budget; did you mean 'bound'?"},
		{"1048576.5", "1048576.5x",
			"'bound' in proof is '1048576.5x'; a number is expected"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct arena *arena = arena_open();
		struct diag *diag = diag_open(arena);
		if (read_plan(arena, replace(arena, rows[i].from, rows[i].to), diag))
			fail_msg("accepted: %s", rows[i].error);
		const char *error = complaints_first(arena, diag) + strlen("error: ");
		if (strncmp(error, rows[i].error, strlen(rows[i].error)))
			fail_msg("%s\ninstead of %s", error, rows[i].error);
		arena_close(arena);
	}
}

static void complaints_point_at_their_place(void **state)
{
	struct diag *diag = diag_open(*state);
	assert_null(read_plan(*state, replace(*state, "op: mx", "op: mix"), diag));
	assert_string_equal(complaints_text(*state, diag),
		"p.yaml:8:10: error: no op 'mix'; did you mean 'mx'?\n"
		"    8 |   - {op: mix, bundle: 0, mapping: \"core: n4 | keep LX: 0 1\"}\n"
		"      |          ^~~\n");
}

/* Tensors that a plan does not list lie in HBM. */
static void inputs_and_intermediates_need_no_stay(void **state)
{
	struct diag *diag = diag_open(*state);
	const struct plan *plan = read_plan(
		*state, replace(*state, "    x:\n    - {where: HBM, from: 0, to: 1}\n", ""), diag);
	assert_non_null(plan);
	assert_null(plan_lx(plan, workload_tensor(plan->workload, "x"), 0));
}

static void words_are_quoted_where_readers_differ(void **state)
{
	static const char *const rows[][2] = {
		{"softmax", "softmax"},
		{"place/greedy", "place/greedy"},
		{"_x.1-b", "_x.1-b"},
		{"", "\"\""},
		{"1x", "\"1x\""},
		{"-x", "\"-x\""},
		{"Null", "\"Null\""},
		{"off", "\"off\""},
		{"a b", "\"a b\""},
		{"a\"b\\", "\"a\\\"b\\\\\""},
		{"a\nb\x7f", "\"a\\u000ab\\u007f\""},
		{"\xc3\xa9", "\"\xc3\xa9\""},
		{"\xc2\x85\xe2\x80\xa9\xef\xbb\xbf", "\"\\u0085\\u2029\\ufeff\""},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct text text = text_open(*state);
		quote_yaml(&text, rows[i][0]);
		assert_string_equal(text_read(&text), rows[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plan_is_written_as_it_was_read),
		cmocka_unit_test(a_plan_means_what_it_says),
		cmocka_unit_test(a_tensor_that_comes_back_has_three_stays),
		cmocka_unit_test(plans_of_long_graphs_are_read),
		cmocka_unit_test(what_is_wrong_with_moves_is_said),
		cmocka_unit_test(what_is_wrong_is_said),
		cmocka_unit_test(complaints_point_at_their_place),
		cmocka_unit_test(inputs_and_intermediates_need_no_stay),
		cmocka_unit_test(words_are_quoted_where_readers_differ),
	};
	return cmocka_run_group_tests_name("plan_file", tests, set_up, tear_down);
}
