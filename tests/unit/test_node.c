#include "base/arena.h"
#include "base/text.h"
#include "spec/node.h"
#include "tests/support/complaints.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/test.h"

static void print_node(struct text *out, const struct node *node)
{
	if (node->tag)
		text_add(out, "%s ", node->tag);
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

/* The tree as text, or what was complained of. */
static const char *read_back(struct arena *arena, const char *text, size_t length)
{
	struct diag *diag = diag_open(arena);
	const struct node *root = node_read_text(arena, "f", text, length, diag);
	assert_int_equal(root == NULL, diag_failed(diag));
	if (!root)
		return complaints_text(arena, diag);
	struct text out = text_open(arena);
	print_node(&out, root);
	return text_read(&out);
}

TEST(trees_keep_what_was_written)
{
	static const struct {
		const char *text, *tree;
	} table[] = {
		{"a: 12", "{a: 12}"},
		{"a: '12'\nb: yes", "{a: \"12\", b: yes}"},
		{"- !Component {name: x}\n- !Nothing", "[!Component {name: x}, !Nothing ]"},
		{"a: !!str 12\nb: !!int 3\nc: ! x", "{a: \"12\", b: 3, c: \"x\"}"},
		{"a: &x [1, 2]\nb: *x", "{a: [1, 2], b: [1, 2]}"},
		{"a: &x 1\nb: &x 2\nc: *x", "{a: 1, b: 2, c: 2}"},
		{"&k a: 1\nb: *k", "{a: 1, b: a}"},
		{"&k a: {*k : 2}", "{a: {a: 2}}"},
		{"d: &d {x: 1, y: 2}\nm: {<<: *d, y: 3, z: 4}",
			"{d: {x: 1, y: 2}, m: {x: 1, y: 3, z: 4}}"},
		{"d: &d {x: 1, y: 2}\nm: {y: 3, <<: *d}", "{d: {x: 1, y: 2}, m: {y: 3, x: 1}}"},
		{"a: &a {x: 1}\nb: &b {x: 2, y: 2}\nm: {<<: [*a, *b]}",
			"{a: {x: 1}, b: {x: 2, y: 2}, m: {x: 1, y: 2}}"},
		{"a: &a {x: 1}\nb: &b {<<: *a, y: 2}\nm: {<<: *b}",
			"{a: {x: 1}, b: {x: 1, y: 2}, m: {x: 1, y: 2}}"},
		{"m: {<<: {x: 1}, <<: {x: 2, y: 2}}", "{m: {x: 1, y: 2}}"},
		{"m: {'<<': 1}", "{m: {<<: 1}}"},
		/* '<<<' merges maps into maps and puts lists behind lists, as Accelergy does */
		{"d: &d {x: 1, y: {a: 1, b: 2}, z: [1]}\nm: {<<<: *d, x: 2, y: {b: 3}, z: [2]}",
			"{d: {x: 1, y: {a: 1, b: 2}, z: [1]}, m: {x: 2, y: {b: 3, a: 1}, z: [2, 1]}}"},
		{"m: {<<<: [{x: [1], y: {a: 1}}, {x: [2], y: {b: 2}}], x: [0]}",
			"{m: {x: [0, 1, 2], y: {a: 1, b: 2}}}"},
		{"m: {<<: {y: {a: 1}}, y: {b: 2}}", "{m: {y: {b: 2}}}"},
		{"m: {<<<: {y: {a: 1}, z: [1]}, y: !nomerge {b: 2}, z: !nomerge []}",
			"{m: {y: !nomerge {b: 2}, z: !nomerge []}}"},
		{"m: {<<<: {y: {a: 1}}, y: [2]}", "{m: {y: [2]}}"},
		{"a: |\n  one\n  two\nb: >\n  one\n  two", "{a: \"one\ntwo\n\", b: \"one\ntwo\"}"},
		{"\xef\xbb\xbf"
		 "a: 1",
			"{a: 1}"},
		{"a: 1\r\nb: 2\r\n", "{a: 1, b: 2}"},
		{"# only {{ a comment }}\na: 1 # {% too %}", "{a: 1}"},
		{"---\na: 1\n...\n", "{a: 1}"},
		{"a:\nb: ~\nc: ''", "{a: , b: ~, c: \"\"}"},
		{"[]", "[]"},
		{"", "{}"},
		{"# nothing\n\n   \n", "{}"},
		{"%YAML 1.2\n---\na: 1", "{a: 1}"},
	};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		const char *tree = read_back(arena, table[i].text, strlen(table[i].text));
		if (i == 19) /* the last break of a folded text at the end of the file */
			assert_memory_equal(tree, "{a: \"one\ntwo\n\", b: \"one two", 27);
		else
			assert_string_equal(tree, table[i].tree);
	}
}

TEST(all_mistakes_of_a_file_are_reported)
{
	static const char text[] = "a: 1\na: 2\nb: *x\nc: {<<: 3}\n";
	const char *said = read_back(arena, text, sizeof text - 1);
	assert_non_null(strstr(said, "'a' is given twice"));
	assert_non_null(strstr(said, "no anchor '&x'"));
	assert_non_null(strstr(said, "'<<' takes a map"));
}

static const char *repeated(struct arena *arena, const char *text, size_t times)
{
	struct text out = text_open(arena);
	for (size_t i = 0; i < times; i++)
		text_add(&out, "%s", text);
	return text_read(&out);
}

/* Work is counted as the memory that reading took beside the text itself. */
TEST(deep_nesting_ends_at_once)
{
	static const char *const openings[] = {"[", "{a: ", "- ", "? ", "&a [", "!t ["};
	for (size_t i = 0; i < sizeof openings / sizeof *openings; i++) {
		const char *text = repeated(arena, openings[i], 1000000 / strlen(openings[i]));
		size_t before = arena_used(arena);
		const char *said = read_back(arena, text, strlen(text));
		if (!strstr(said, ": error: nested more than 64 deep\n"))
			fail_msg("%s: %s", openings[i], said);
		assert_true(arena_used(arena) - before < strlen(text) + 100000);
	}
}

TEST(nesting_up_to_the_limit_is_read)
{
	const char *text =
		arena_format(arena, "%s1%s", repeated(arena, "[", 63), repeated(arena, "]", 63));
	assert_string_equal(read_back(arena, text, strlen(text)), text);
}

TEST(aliases_do_not_nest_deeper_than_the_limit)
{
	struct text text = text_open(arena);
	text_add(&text, "a0: &a0 [x]\n");
	for (int i = 1; i < 200; i++)
		text_add(&text, "a%d: &a%d [*a%d]\n", i, i, i - 1);
	assert_non_null(strstr(read_back(arena, text_read(&text), text.length),
		"nested more than 64 deep once aliases are followed"));
}

TEST(the_last_level_may_come_through_an_alias)
{
	const char *open = repeated(arena, "[", 32), *shut = repeated(arena, "]", 32);
	const char *fits =
		arena_format(arena, "a: &a %s%s\nb: %.31s*a%.31s\n", open, shut, open, shut);
	assert_memory_equal(read_back(arena, fits, strlen(fits)), "{a: [", 5);
	const char *over = arena_format(arena, "a: &a %s%s\nb: %s*a%s\n", open, shut, open, shut);
	assert_non_null(strstr(read_back(arena, over, strlen(over)),
		"nested more than 64 deep once aliases are followed"));
}

TEST(many_tag_directives_are_refused)
{
	struct text text = text_open(arena);
	for (int i = 0; i < 64; i++)
		text_add(&text, "%%TAG !t%d! x\n", i);
	const char *fits = arena_format(arena, "%s---\na: 1\n", text_read(&text));
	assert_string_equal(read_back(arena, fits, strlen(fits)), "{a: 1}");
	text_add(&text, "%%TAG !more! x\n---\na: 1\n");
	assert_non_null(strstr(read_back(arena, text_read(&text), text.length),
		"f:65:1: error: more than 64 %TAG directives\n"));
}

/* Each line names nine times the one before: 9^9 nodes if anyone followed them. */
TEST(an_alias_bomb_ends_at_once)
{
	struct text text = text_open(arena);
	text_add(&text, "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n");
	for (int i = 1; i < 10; i++) {
		text_add(&text, "a%d: &a%d [*a%d", i, i, i - 1);
		for (int k = 1; k < 9; k++)
			text_add(&text, ", *a%d", i - 1);
		text_add(&text, "]\n");
	}
	size_t before = arena_used(arena);
	assert_non_null(strstr(read_back(arena, text_read(&text), text.length),
		"more than 1000000 nodes once aliases are followed"));
	assert_true(arena_used(arena) - before < 200000);
}

/* Timeloop's YAML library finds the first of two entries; in our own formats it is a mistake. */
TEST(a_key_given_twice_counts_once_where_timeloop_reads)
{
	static const char text[] = "problem:\n  instance: {R: 3, P: 16, R: 4, P: 8}\n";
	struct diag *diag = diag_open(arena);
	const struct node *root = node_read_text(arena, "f", text, strlen(text), diag);
	assert_non_null(root);
	const struct node *instance = node_find(node_find(root, "problem"), "instance");
	assert_int_equal(instance->count, 2);
	assert_string_equal(node_find(instance, "R")->text, "3");
	assert_string_equal(complaints_text(arena, diag),
		"f:2:27: note: key 'R' is given twice, and so are 1 more; the first counts, as in "
		"Timeloop\n"
		"    2 |   instance: {R: 3, P: 16, R: 4, P: 8}\n"
		"      |                           ^\n");
	static const char ours[] = "workload:\n  a: {x: 1, x: 1}\n";
	assert_non_null(strstr(read_back(arena, ours, strlen(ours)), "key 'x' is given twice"));
	static const char merged[] = "mapping:\n- {<<: {a: 1}, a: 2}\n";
	assert_string_equal(read_back(arena, merged, strlen(merged)), "{mapping: [{a: 2}]}");
}

TEST(a_merge_bomb_ends_at_once)
{
	static const struct {
		const char *head, *each, *complaint;
	} table[] = {
		{"b:\n", "- <<: *a\n", "more than 1000000 nodes once aliases are followed"},
		{"b:\n", "  <<: *a\n", "more than 1000000 entries copied by '<<'"},
		{"b:\n", "  <<<: *a\n", "more than 1000000 entries copied by '<<'"},
	};
	struct text base = text_open(arena);
	text_add(&base, "a: &a {");
	for (int i = 0; i < 2000; i++)
		text_add(&base, "k%d: , ", i);
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		const char *text = arena_format(arena, "%s}\n%s%s", text_read(&base), table[i].head,
			repeated(arena, table[i].each, 50000));
		size_t before = arena_used(arena);
		const char *said = read_back(arena, text, strlen(text));
		if (!strstr(said, table[i].complaint))
			fail_msg("%s", said);
		assert_true(arena_used(arena) - before < 200 << 20);
	}
}

TEST(large_maps_are_searched_by_hashing)
{
	struct text text = text_open(arena);
	for (int i = 0; i < 60000; i++)
		text_add(&text, "k%d: %d\n", i, i);
	struct diag *diag = diag_open(arena);
	const struct node *map = node_read_text(arena, "f", text_read(&text), text.length, diag);
	assert_non_null(map);
	assert_non_null(map->index);
	assert_string_equal(node_find(map, "k59999")->text, "59999");
	assert_null(node_find(map, "k60000"));
	assert_int_equal(node_index(map, "k7"), 7);
}

TEST(too_many_bytes_are_refused)
{
	const char *most = repeated(arena, "# 56789\n", SPEC_BYTES_MOST / 8 - 1);
	const char *fits = arena_format(arena, "%sa: 1\n#\n", most);
	assert_int_equal(strlen(fits), SPEC_BYTES_MOST - 1);
	assert_string_equal(read_back(arena, fits, strlen(fits)), "{a: 1}");
	const char *over = arena_format(arena, "%s# ", fits);
	assert_string_equal(read_back(arena, over, strlen(over)),
		"f: error: has 1048577 bytes; a spec has at most 1048576 (1 MiB)\n");
}

/* Plans may be longer, but no more nested and of no more nodes. */
TEST(too_many_bytes_of_a_plan_are_refused)
{
	const char *long_plan = repeated(arena, "# 56789\n", SPEC_BYTES_MOST / 8);
	const char *fits = arena_format(arena, "plan: 1\n%s", long_plan);
	assert_string_equal(read_back(arena, fits, strlen(fits)), "{plan: 1}");
	const char *other = arena_format(arena, "plane: 1\n%s", long_plan);
	assert_string_equal(read_back(arena, other, strlen(other)),
		"f: error: has 1048585 bytes; a spec has at most 1048576 (1 MiB)\n");
	const char *over = arena_format(
		arena, "plan: 1\n%s", repeated(arena, "# 56789\n", PLAN_BYTES_MOST / 8));
	assert_string_equal(read_back(arena, over, strlen(over)),
		"f: error: has 16777224 bytes; a plan has at most 16777216 (16 MiB)\n");
	const char *wide = arena_format(arena, "plan:\n%s", repeated(arena, "- [a]\n", 600000));
	assert_non_null(strstr(read_back(arena, wide, strlen(wide)), "more than 1000000 nodes"));
}

static const char *read_path(struct arena *arena, const char *path)
{
	struct diag *diag = diag_open(arena);
	assert_null(node_read_file(arena, path, diag));
	return complaints_text(arena, diag);
}

TEST(what_cannot_be_read_is_said)
{
	char folder[] = P_tmpdir "/node-XXXXXX";
	assert_non_null(mkdtemp(folder));
	const char *missing = arena_format(arena, "%s/missing.yaml", folder);
	const char *large = arena_format(arena, "%s/large.yaml", folder);
	int file = open(large, O_CREAT | O_WRONLY, 0600);
	assert_int_equal(ftruncate(file, 100 << 20), 0);
	close(file);

	assert_string_equal(read_path(arena, missing),
		arena_format(arena, "%s: error: no such file\n", missing));
	assert_string_equal(read_path(arena, folder),
		arena_format(arena, "%s: error: is a folder; name the YAML files in it\n", folder));
	assert_string_equal(read_path(arena, "/dev/zero"),
		"/dev/zero: error: is longer than 1048576 bytes (1 MiB), the most of a spec\n");
	size_t before = arena_used(arena);
	assert_string_equal(read_path(arena, large),
		arena_format(arena,
			"%s: error: has 104857600 bytes; a spec has at most 1048576 (1 MiB)\n",
			large));
	assert_true(arena_used(arena) - before < 10000);
	if (geteuid() != 0) {
		chmod(large, 0);
		assert_string_equal(read_path(arena, large),
			arena_format(arena, "%s: error: no permission to read it\n", large));
	}
	unlink(large);
	rmdir(folder);
}

static const struct node *value_of(struct arena *arena, const char *text)
{
	const struct node *map = node_read_text(arena, "f", text, strlen(text), diag_open(arena));
	assert_non_null(map);
	return map->entries[map->count - 1].value;
}

TEST(parts_of_scalars_have_places)
{
	static const struct {
		const char *text;
		size_t from, to;
		int line, column, end_column;
	} table[] = {
		{"a: x + yy", 4, 6, 1, 8, 10}, {"a: 'x + yy'", 4, 6, 1, 9, 11},
		{"a: &n !t x + yy", 4, 6, 1, 14, 16}, {"größe: µ + yy", 5, 7, 1, 12, 14},
		{"a: 1\nb: |\n  x\n  zz yy\n", 5, 7, 4, 6, 8}, {"b: |\n  xx\n", 0, 2, 2, 3, 5},
		{"a: \"x\\x41 yy\"", 3, 5, 1, 4, 14}, /* escapes: the whole scalar */
	};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct span part =
			node_part(value_of(arena, table[i].text), table[i].from, table[i].to);
		assert_int_equal(part.line, table[i].line);
		assert_int_equal(part.column, table[i].column);
		assert_int_equal(part.end_column, table[i].end_column);
	}
}

TEST(an_alias_knows_both_places)
{
	const struct node *b = value_of(arena, "a: &x {y: 1}\nb: *x");
	assert_int_equal(b->span.line, 1);
	assert_int_equal(b->alias.line, 2);
	assert_int_equal(b->alias.column, 4);
	assert_null(value_of(arena, "a: 1")->alias.source);
}
