#include "base/arena.h"
#include "base/fatal.h"
#include "model/graph/plan_file.h"
#include "spec/node.h"
#include "spec/sheet.h"
#include "tests/support/complaints.h"
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

TEST(a_plan_is_written_as_it_was_read)
{
	struct diag *diag = diag_open(arena);
	const struct plan *plan = read_plan(arena, stage4, diag);
	if (!plan)
		fail_msg("%s", complaints_text(arena, diag));
	struct text text = text_open(arena);
	plan_write(plan, &text);
	assert_string_equal(text_read(&text), stage4);
}

/* A chain of 8,000 ops: more than a MiB of plan. */
TEST(plans_of_long_graphs_are_read)
{
	enum { OPS = 8000 };
	const char *name = "a_tensor_with_a_long_name_as_converters_from_other_formats_make_them";
	struct text spec = text_open(arena), steps = text_open(arena);
	text_add(&spec, "workload:\n  dimensions: {m: 64}\n  ops:\n  - a0[m] = neg(x[m])\n");
	for (int i = 0; i < OPS; i++) {
		text_add(&spec, "  - {op: 'a%d[m] = neg(a%d[m])', name: %s_%d}\n", i + 1, i, name,
			i);
		text_add(&steps, "  - {op: %s_%d, bundle: %d, mapping: undivided}\n", name, i,
			i + 1);
	}
	const struct workload *workload = workload_given(arena, text_read(&spec));
	struct text text = text_open(arena);
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
	struct diag *diag = diag_open(arena);
	const struct plan *plan = read_plan_of(arena, workload, text_read(&text), diag);
	if (!plan)
		fail_msg("%s", complaints_text(arena, diag));
	assert_int_equal(plan->step_count, OPS + 1);
	struct text again = text_open(arena);
	plan_write(plan, &again);
	assert_string_equal(text_read(&again), text_read(&text));
}

TEST(a_plan_means_what_it_says)
{
	struct diag *diag = diag_open(arena);
	const struct plan *plan = read_plan(arena, stage4, diag);
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

TEST(a_tensor_that_comes_back_has_three_stays)
{
	struct diag *diag = diag_open(arena);
	const struct plan *plan = read_plan(arena, evicted, diag);
	if (!plan)
		fail_msg("%s", complaints_text(arena, diag));
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
	struct text text = text_open(arena);
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

/* Tensors that a plan does not list lie in HBM. */
TEST(inputs_and_intermediates_need_no_stay)
{
	struct diag *diag = diag_open(arena);
	const struct plan *plan = read_plan(
		arena, replace(arena, "    x:\n    - {where: HBM, from: 0, to: 1}\n", ""), diag);
	assert_non_null(plan);
	assert_null(plan_lx(plan, workload_tensor(plan->workload, "x"), 0));
}

TEST(words_are_quoted_where_readers_differ)
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
		struct text text = text_open(arena);
		quote_yaml(&text, rows[i][0]);
		assert_string_equal(text_read(&text), rows[i][1]);
	}
}
