#include "spec/sheet.h"
#include "tests/support/complaints.h"

#include <string.h>

#include "tests/test.h"

struct two_files {
	struct diag *diag;
	struct sheet *sheet;
};

static struct two_files read_two(struct arena *arena, const char *first, const char *second)
{
	struct two_files two = {.diag = diag_open(arena)};
	two.sheet = sheet_open(arena, two.diag);
	const char *const texts[] = {first, second};
	for (int i = 0; i < 2; i++) {
		const struct node *root = node_read_text(
			arena, i ? "second" : "first", texts[i], strlen(texts[i]), two.diag);
		assert_non_null(root);
		sheet_add(two.sheet, root);
	}
	return two;
}

TEST(files_are_one_map)
{
	struct two_files two =
		read_two(arena, "workload: {a: 1}\nvariables: {n: 4}", "architecture: {b: n * 2}");
	struct reading reading = sheet_reading(two.sheet);
	assert_true(sheet_has(two.sheet, "workload"));
	assert_false(sheet_has(two.sheet, "search"));
	assert_null(sheet_find(two.sheet, "search"));
	assert_non_null(sheet_find(two.sheet, "workload"));
	const struct node *architecture = sheet_find(two.sheet, "architecture");
	int64_t n;
	assert_true(node_integer(&reading, node_find(architecture, "b"), "b", 0, 100, &n));
	assert_int_equal(n, 8);
	sheet_done(two.sheet);
	assert_string_equal(complaints_text(arena, two.diag), "");
}

TEST(an_empty_list_says_nothing)
{
	for (int first = 0; first < 2; first++) {
		struct two_files two = read_two(arena, first ? "mapping: [a]" : "mapping: []",
			first ? "mapping: []" : "mapping: [a]");
		assert_int_equal(sheet_find(two.sheet, "mapping")->count, 1);
		assert_string_equal(complaints_text(arena, two.diag), "");
	}
}

TEST(targets_of_constraints_add_up)
{
	static const char *const forms[] = {
		"constraints: {version: 0.4, targets: [{target: a}, {target: b}]}",
		"constraints: [{target: a}, {target: b}]",
	};
	for (int i = 0; i < 4; i++) {
		struct two_files two = read_two(arena, forms[i / 2], forms[i % 2]);
		const struct node *targets = sheet_find(two.sheet, "constraints");
		assert_false(diag_failed(two.diag));
		assert_int_equal(targets->kind, NODE_LIST);
		assert_int_equal(targets->count, 4);
		assert_string_equal(node_find(targets->items[3], "target")->text, "b");
		assert_string_equal(targets->items[3]->span.source->name, "second");
	}
	struct two_files two =
		read_two(arena, "constraints: {cores: 4}", "constraints: [{target: a}]");
	assert_true(diag_failed(two.diag));
}

TEST(a_key_outside_of_the_table_is_refused)
{
	struct two_files two = read_two(arena, "mapping: [1]", "globals: {}\nvariables: {a: 1}");
	sheet_reading(two.sheet);
	sheet_done(two.sheet);
	sheet_note(two.sheet);
	assert_int_equal(diag_errors(two.diag), 1);
	assert_string_equal(complaints_text(arena, two.diag),
		"first:1:1: error: 'mapping' is not read by this version; remove it to continue\n"
		"    1 | mapping: [1]\n"
		"      | ^~~~~~~\n"
		"second:1:1: note: not read, as in Timeloop: 'globals' in the file\n"
		"    1 | globals: {}\n"
		"      | ^~~~~~~\n");
}

/* Beside a problem Timeloop's users have files with more in them than is read. */
TEST(what_timeloop_ignores_is_noted_once)
{
	struct two_files two = read_two(arena,
		"problem: {}\nmodel: {verbose: True}\nout_prefix: x\nproblem2: 1\nERT_summary: []",
		"compound_components: 1\nmodel: 2\nlayout:\n");
	struct two_files again = read_two(arena, "problem: {}\ncompound_components: 1",
		"compound_components: {a: 1}\nmaping: 1");
	sheet_reading(two.sheet);
	sheet_find(two.sheet, "problem");
	sheet_done(two.sheet);
	sheet_note(two.sheet);
	assert_string_equal(complaints_text(arena, two.diag),
		"first:2:1: note: not read, as in Timeloop: 'model' in the file, 'out_prefix' in "
		"the file, 'problem2' in the file, 'layout' in the file, 'compound_components' in "
		"the file, 'ERT_summary' in the file\n"
		"    2 | model: {verbose: True}\n"
		"      | ^~~~~\n");
	sheet_reading(again.sheet);
	assert_int_equal(diag_errors(again.diag), 1);
	assert_string_equal(complaints_first(arena, again.diag),
		"error: unknown key 'maping' at the top of the file; did you mean 'mapping'?");
}

TEST(arch_is_architecture)
{
	struct two_files two = read_two(arena, "arch: {a: 1}", "problem: {}");
	assert_true(sheet_has(two.sheet, "architecture"));
	assert_non_null(node_find(sheet_find(two.sheet, "architecture"), "a"));
	struct two_files both = read_two(arena, "arch: {a: 1}", "architecture: {}");
	assert_int_equal(diag_errors(both.diag), 1);
}

/* Sparse features are refused by name, the empty list of them is not. */
TEST(only_sparsity_that_is_asked_for_is_refused)
{
	static const struct {
		const char *text;
		bool refused;
	} rows[] = {
		{"sparse_optimizations: {targets: []}", false},
		{"sparse_optimizations:\n  version: 0.4\n  targets:\n", false},
		{"sparse_optimizations: {}", false},
		{"sparse_optimizations:", false},
		{"sparse_optimizations: {targets: [{name: a}]}", true},
		{"sparse_optimizations: [{name: a}]", true},
		{"sparse_optimizations: 1", true},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct two_files two = read_two(arena, "problem: {}", rows[i].text);
		sheet_reading(two.sheet);
		sheet_find(two.sheet, "problem");
		sheet_done(two.sheet);
		assert_int_equal(diag_failed(two.diag), rows[i].refused);
		if (rows[i].refused)
			assert_string_equal(complaints_first(arena, two.diag),
				"error: 'sparse_optimizations' is not modelled: results would be "
				"those of dense data");
	}
}
