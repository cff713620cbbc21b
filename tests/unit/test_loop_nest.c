#include "base/text.h"
#include "spec/foreign.h"
#include "tests/support/complaints.h"

#include <string.h>

#include "tests/test.h"

static const struct node *read_nest(const char *text, struct diag *diag)
{
	return node_read_text(test_arena, "map.txt", text, strlen(text), diag);
}

/* A tree as flow YAML. */
static void print(struct text *text, const struct node *node)
{
	if (node->kind == NODE_SCALAR)
		text_add(text, "%s", node->text);
	else if (node->kind == NODE_LIST)
		text_add(text, "[");
	else
		text_add(text, "{");
	for (size_t i = 0; i < node->count; i++) {
		text_add(text, "%s", i ? ", " : "");
		if (node->kind == NODE_MAP)
			text_add(text, "%s: ", node->entries[i].key);
		print(text, node->kind == NODE_MAP ? node->entries[i].value : node->items[i]);
	}
	if (node->kind != NODE_SCALAR)
		text_add(text, node->kind == NODE_LIST ? "]" : "}");
}

static void expect(const char *nest, const char *yaml)
{
	struct diag *diag = diag_open(test_arena);
	struct text text = text_open(test_arena);
	const struct node *root = read_nest(nest, diag);
	assert_string_equal(complaints_text(test_arena, diag), "");
	print(&text, root);
	assert_string_equal(text_read(&text), yaml);
}

/* As Timeloop prints them since 2022. */
TEST(loops_are_directives)
{
	expect("DRAM [ W:96 (96) I:18 (18) O:512 (512) ] \n"
	       "GLB [ I:18 (18) ] \n"
	       "---------------- \n"
	       "| for K in [0:16)\n"
	       "|   for P in [0:4,3)\n"
	       "|     for N in [0:2) (Spatial-Y)\n"
	       "|       for M in [0:4,3) (Spatial-X)\n"
	       "|         for C in [0:3) (Spatial-X)\n"
	       "\n"
	       "RF [ W:6 (6) O:2 (2) ] \n"
	       "----\n"
	       "|           << Compute >>\n",
		"{mapping: [{target: DRAM, type: bypass, keep: [W, I, O], bypass: []}, "
		"{target: GLB, type: bypass, keep: [I], bypass: [W, O]}, "
		"{target: GLB, type: temporal, factors: [P=4,3, K=16], permutation: [P, K]}, "
		"{target: GLB, type: spatial, factors: [C=3, M=4,3, N=2], permutation: [C, M, N], "
		"split: 2}, "
		"{target: RF, type: bypass, keep: [W, O], bypass: [I]}]}");
}

/* Before, with an empty line first, loops of bound 1 and no last line. */
TEST(older_nests_read)
{
	expect("\r\n"
	       "DRAM [ I:18 O:512 ] \r\n"
	       "-------------------\r\n"
	       "| for P in [0:56)\r\n"
	       "\r\n"
	       "dummy_buffer [ ] \r\n"
	       "----------------\r\n"
	       "|   for Q in [0:1)\r\n",
		"{mapping: [{target: DRAM, type: bypass, keep: [I, O], bypass: []}, "
		"{target: DRAM, type: temporal, factors: [P=56], permutation: [P]}, "
		"{target: dummy_buffer, type: bypass, keep: [], bypass: [I, O]}, "
		"{target: dummy_buffer, type: temporal, factors: [Q=1], permutation: [Q]}]}");
}

TEST(other_files_are_none)
{
	static const char *const texts[] = {"mapping: [a]\n", "[a, b]\n| for\n",
		"# GLB [ ]\n| for K in [0:2)\n", "GLB [ ]\n", "a: 'GLB [ ]'\n| for\n", "", "\n\n"};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		const struct source source = {
			.name = "f", .bytes = texts[i], .length = strlen(texts[i])};
		assert_false(loop_nest_is(&source));
	}
}

/* Nor do hostile files take long. */
TEST(long_nests_are_refused)
{
	for (int k = 0; k < 2; k++) {
		struct text text = text_open(test_arena);
		text_add(&text, "GLB [ W:6 ]\n| for P in [0:4)\n");
		for (int i = 0; i < 50000; i++)
			text_add(&text, k ? "A [ x%d:1 ]\n" : "A [ ]\n", i);
		struct diag *diag = diag_open(test_arena);
		assert_null(read_nest(text_read(&text), diag));
		assert_int_equal(diag_errors(diag), 1);
		assert_non_null(strstr(complaints_text(test_arena, diag), "at most 64 levels"));
	}
	struct text loops = text_open(test_arena);
	text_add(&loops, "GLB [ W:6 ]\n");
	for (int i = 0; i < 50000; i++)
		text_add(&loops, "| for P in [0:4)\n");
	struct diag *of_loops = diag_open(test_arena);
	assert_null(read_nest(text_read(&loops), of_loops));
	assert_non_null(
		strstr(complaints_text(test_arena, of_loops), "at most 64 loops at a level"));
	struct text text = text_open(test_arena);
	text_add(&text, "GLB [");
	for (int i = 0; i < 50000; i++)
		text_add(&text, " x%d:1", i);
	text_add(&text, " ]\n| for P in [0:4)\n");
	struct diag *diag = diag_open(test_arena);
	assert_null(read_nest(text_read(&text), diag));
	assert_non_null(strstr(complaints_text(test_arena, diag), "at most 64 dataspaces"));
}
