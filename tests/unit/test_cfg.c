#include "base/text.h"
#include "spec/node.h"
#include "tests/support/complaints.h"

#include <string.h>

#include "tests/test.h"

/* Files in libconfig syntax give the tree that YAML gives. */

static void print_node(struct text *out, const struct node *node)
{
	if (node->kind == NODE_SCALAR) {
		text_add(out, node->quoted ? "\"%s\"" : "%s", node->text);
		return;
	}
	bool map = node->kind == NODE_MAP;
	text_add(out, map ? "{" : "[");
	for (size_t i = 0; i < node->count; i++) {
		text_add(out, "%s", i ? ", " : "");
		if (map)
			text_add(out, "%s: ", node->entries[i].key);
		print_node(out, map ? node->entries[i].value : node->items[i]);
	}
	text_add(out, map ? "}" : "]");
}

static const struct node *parse(
	struct arena *arena, const char *name, const char *text, struct diag *diag)
{
	return node_read_text(arena, name, text, strlen(text), diag);
}

TEST(settings_become_maps_and_lists)
{
	static const struct {
		const char *text, *tree;
	} table[] = {
		{"a = 1;", "{a: 1}"},
		{"a : { b = [1, 2]; c = ( ); d = ({ e = \"x\" }, { e = \"y\"; }) };",
			"{a: {b: [1, 2], c: [], d: [{e: \"x\"}, {e: \"y\"}]}}"},
		{"word-bits = 8, n = True\nf = -1.5e-3; s = \"two \" \"words\";",
			"{word-bits: 8, n: true, f: -1.5e-3, s: \"two words\"}"},
		{"h = 0x1F; l = 5000000000L;", "{h: 0x1F, l: 5000000000}"},
		/* more digits than a double has, as they are written */
		{"t = 9.523809523809523809e-10;", "{t: 9.523809523809523809e-10}"},
		/* comments give no values */
		{"# a = 2\n/* a = 3; */ a = /* 4 */ 1; // a = 5\nb = 010;", "{a: 1, b: 10}"},
	};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct diag *diag = diag_open(arena);
		const struct node *root = parse(arena, "f.cfg", table[i].text, diag);
		if (!root)
			fail_msg("%s", complaints_text(arena, diag));
		struct text out = text_open(arena);
		print_node(&out, root);
		assert_string_equal(text_read(&out), table[i].tree);
	}
}

TEST(it_is_known_by_its_name_or_its_beginning)
{
	static const struct {
		const char *name, *text;
		const char *tree; /* NULL: it is read as YAML and refused */
	} table[] = {
		{"f.cfg", "a : 1;", "{a: 1}"},
		{"f", "a = 1;", "{a: 1}"},
		{"f", "# comment\narch :\n{ // one\n x = 1; };", "{arch: {x: 1}}"},
		{"f", "l = ({x = 1});", "{l: [{x: 1}]}"},
		{"f", "l : ( { x = 1; } );", "{l: [{x: 1}]}"},
		{"f", "a: {b: 1}", "{a: {b: 1}}"},
		{"f", "a : 1;", "{a: 1;}"},
		{"f", "- a = 1", "[a = 1]"},
		{"f", "a = 1: 2", NULL},
	};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct diag *diag = diag_open(arena);
		const struct node *root = parse(arena, table[i].name, table[i].text, diag);
		struct text out = text_open(arena);
		if (root)
			print_node(&out, root);
		assert_int_equal(root != NULL, table[i].tree != NULL);
		if (root)
			assert_string_equal(text_read(&out), table[i].tree);
	}
}

static void check_span(const struct span *span, int line, int column, int end)
{
	assert_int_equal(span->line, line);
	assert_int_equal(span->column, column);
	assert_int_equal(span->end_line, line);
	assert_int_equal(span->end_column, end);
}

TEST(places_are_those_of_the_text)
{
	struct diag *diag = diag_open(arena);
	const struct node *root = parse(arena, "f.cfg",
		"# name\narch = {\n  name = \"name\"; entries = 12L;\n};\nl = ({ x = 1 }, { x = 22 });",
		diag);
	const struct node_entry *arch = &root->entries[0], *list = &root->entries[1];
	check_span(&arch->key_span, 2, 1, 5);
	check_span(&arch->value->entries[0].key_span, 3, 3, 7);
	check_span(&arch->value->entries[0].value->span, 3, 10, 16);
	check_span(&arch->value->entries[1].key_span, 3, 18, 25);
	check_span(&arch->value->entries[1].value->span, 3, 28, 31);
	check_span(&list->value->items[0]->entries[0].key_span, 5, 8, 9);
	check_span(&list->value->items[1]->entries[0].key_span, 5, 19, 20);
	check_span(&list->value->items[1]->entries[0].value->span, 5, 23, 25);
}

/* Each of these would take libconfig, or us, a long time or much of the stack. */
TEST(large_files_are_refused_early)
{
	static const struct {
		const char *each, *error;
		int count;
	} rows[] = {
		{"a = (", "nested too deep", 3000},
		{"a = { ", "nested too deep", 10000},
		{"aaaa = 1; ", "has at most 64 KiB", 10000},
		{"a=1;", "has at most 5000 settings", 6000},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct diag *diag = diag_open(arena);
		struct text text = text_open(arena);
		for (int k = 0; k < rows[i].count; k++)
			text_add(&text, "%s", rows[i].each);
		assert_null(parse(arena, "f.cfg", text_read(&text), diag));
		if (!strstr(complaints_text(arena, diag), rows[i].error))
			fail_msg("%s", complaints_text(arena, diag));
	}
	struct diag *diag = diag_open(arena);
	struct text deep = text_open(arena);
	for (int k = 0; k < 100; k++)
		text_add(&deep, "a = {");
	for (int k = 0; k < 100; k++)
		text_add(&deep, "};");
	assert_null(parse(arena, "f.cfg", text_read(&deep), diag));
	assert_non_null(strstr(complaints_text(arena, diag), "nested more than 64 deep"));
}
