/*
 * Random and mutated specs through everything in src/spec.  Whatever the bytes:
 * no crash, a tree or a complaint, and places that lie in the text.
 *
 *	fuzz_node            N=100000 SEED=7 draw more, or others
 *	fuzz_node FILE...    these inputs instead, to see what each makes of it
 */
#include "base/arena.h"
#include "base/random.h"
#include "base/text.h"
#include "spec/sheet.h"
#include "tests/support/complaints.h"
#include "tests/support/draws.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/test.h"

static const char *const seeds[] = {
	("variables: {a: 2*b, b: c + 1, c: 64KiB}\n"
	 "architecture:\n  nodes:\n  - !Component {name: x, class: DRAM}\n  - !Nothing\n"),
	"d: &d {x: 1, y: [2, 3]}\nm: {<<: *d, y: 3}\nn: {<<: [*d, {z: 4}]}\n",
	"a: &x [1, {b: *y, ? c : d}]\nb: !!str 12\nc: 'it''s'\nd: \"\\x41\\u00e9\\n\"\n",
	"t: |\n  one\n   two\nu: >-\n  three\n\n  four\nv: plain\n  on two lines\n",
	"# comment\n%YAML 1.1\n---\nw: {k: , l: ~, m: null}\n...\n---\nz\n",
	"workload:\n  dimensions: {m: 512, n: 1024}\n  ops: ['y[m,n] = exp(x[m,n])']\n",
	"variables: {p: min(1, 2, 3.5) ** -2 // 0x1f % 7, q: ceil(log2(1e3)) KB, r: -(-(3))}\n",
	"constraints: {targets: [{target: L1, type: temporal, factors: C=1 M=2}]}\n",
	"größe: \"µ\u2028\"\n大: [\u00e9, \u0301]\n\tb: {{ jinja }}\n",
	"a: 1\na: 2\n? [x]\n: y\n<<: 3\n*q : 4\n",
};

static const char *const words[] = {"&a ", "*a", "<<: ", "- ", "? ", ": ", "[", "]", "{", "}", "\n",
	"\n  ", "\t", "\"", "'", "|\n", ">\n", "#", "!t ", "!!int ", "%TAG ! x\n", "---\n", "...\n",
	"\xef\xbb\xbf", "\xff", "\xc3", "\r\n", "\r", "\xe2\x80\xa8", ",", "{{", "{%",
	"variables: ", "1e999", "9223372036854775807", "**", "//", "(", ")", "KiB", "GB/s", "sqrt(",
	"0", "-", "~", "\\x00", "a", "b"};

enum { SEEDS = sizeof seeds / sizeof *seeds, WORDS = sizeof words / sizeof *words, MOST = 4000 };

struct input {
	char bytes[2 * MOST];
	size_t length;
};

static void insert(struct input *input, size_t at, const char *bytes, size_t count)
{
	if (input->length + count > MOST)
		return;
	memmove(input->bytes + at + count, input->bytes + at, input->length - at);
	memcpy(input->bytes + at, bytes, count);
	input->length += count;
}

static void mutate(struct random *random, struct input *input)
{
	size_t length = input->length, at = random_below(random, length + 1);
	size_t count = random_below(random, number_min(40, (int64_t)(length - at)) + 1);
	const char *word = words[random_below(random, WORDS)];
	char copy[64];
	switch (random_below(random, 6)) {
	case 0:
		if (at < length)
			input->bytes[at] = (char)random_next(random);
		break;
	case 1:
		memmove(input->bytes + at, input->bytes + at + count, length - at - count);
		input->length -= count;
		break;
	case 2:
		memcpy(copy, input->bytes + at, count);
		insert(input, random_below(random, length + 1), copy, count);
		break;
	case 3:
		word = seeds[random_below(random, SEEDS)];
		insert(input, at, word, strlen(word));
		break;
	default:
		insert(input, at, word, strlen(word));
	}
}

static void draw(struct random *random, struct input *input)
{
	input->length = 0;
	uint64_t kind = random_below(random, 8);
	for (uint64_t i = random_below(random, 200); kind == 0 && i > 0; i--) {
		char byte = (char)random_next(random);
		insert(input, input->length, &byte, 1);
	}
	for (uint64_t i = random_below(random, 100); kind == 1 && i > 0; i--) {
		const char *word = words[random_below(random, WORDS)];
		insert(input, input->length, word, strlen(word));
	}
	if (kind < 2)
		return;
	const char *seed = seeds[random_below(random, SEEDS)];
	insert(input, 0, seed, strlen(seed));
	for (uint64_t i = random_below(random, 5); i > 0; i--)
		mutate(random, input);
}

/* Counts lines from the beginning: only for the short inputs that we draw. */
static void check_span(struct span span)
{
	assert_non_null(span.source);
	if (span.source->length > MOST)
		return;
	assert_true(span.line >= 1 && span.column >= 1);
	assert_true(span.end_line > span.line ||
		    (span.end_line == span.line && span.end_column >= span.column));
	size_t at = source_offset(span.source, span.line, span.column);
	struct span back = source_span(span.source, at, at);
	assert_int_equal(back.line, span.line);
	assert_int_equal(back.column, span.column);
}

/* Reads every scalar as every kind of number; counts the nodes. */
static size_t visit(const struct reading *reading, const struct node *node)
{
	size_t count = 1;
	check_span(node->span);
	for (size_t i = 0; i < node->count; i++)
		count += visit(
			reading, node->kind == NODE_MAP ? node->entries[i].value : node->items[i]);
	for (size_t i = 0; node->kind == NODE_MAP && i < node->count; i++) {
		check_span(node->entries[i].key_span);
		assert_int_equal(node_index(node, node->entries[i].key), i);
	}
	if (node->kind == NODE_SCALAR) {
		size_t length = strlen(node->text);
		if (node->span.source->length <= MOST)
			check_span(node_part(node, length / 3, length));
		double number;
		int64_t whole;
		node_number(reading, node, "number", &number);
		node_integer(reading, node, "whole", -5, 1000, &whole);
	}
	return count;
}

static void read_typed(const struct reading *reading, const struct node *map)
{
	struct reader reader;
	int64_t bytes;
	struct ratio ratio;
	double pj;
	bool flag;
	const char *const *texts;
	size_t count;
	if (!reader_open(&reader, reading, map, "map"))
		return;
	read_size(&reader, "a", REQUIRED, 0, INT64_MAX, &bytes);
	read_rate(&reader, "b", OPTIONAL, &ratio);
	read_hertz(&reader, "c", OPTIONAL, &ratio);
	read_nanoseconds(&reader, "d", OPTIONAL, &ratio);
	read_ratio(&reader, "m", OPTIONAL, &ratio);
	read_picojoules(&reader, "n", OPTIONAL, &pj);
	read_bool(&reader, "t", OPTIONAL, &flag);
	read_texts(&reader, "u", OPTIONAL, &texts, &count);
	read_list(&reader, "v", OPTIONAL);
	reader_done(&reader);
}

/* True if the bytes are a tree; then everything was read from it. */
static bool run(const char *name, const char *bytes, size_t length, bool show)
{
	struct arena *arena = arena_open();
	struct diag *diag = diag_open(arena);
	const struct node *root = node_read_text(arena, name, bytes, length, diag);
	assert_int_equal(root != NULL, !diag_failed(diag));
	if (root) {
		struct sheet *sheet = sheet_open(arena, diag);
		sheet_add(sheet, root);
		struct reading reading = sheet_reading(sheet);
		assert_int_equal(visit(&reading, root), root->weight);
		read_typed(&reading, root);
		sheet_done(sheet);
	}
	const char *said = complaints_text(arena, diag);
	for (size_t i = 0, size; said[i]; i += size) {
		uint32_t c = 0;
		size = utf8_read(said + i, strlen(said + i) < 4 ? strlen(said + i) : 4, &c);
		assert_true(size > 0 && (c >= ' ' || c == '\n') && c != 0x7f);
	}
	if (show)
		fputs(said, stdout);
	arena_close(arena);
	return root != NULL;
}

static void any_bytes_end_in_a_tree_or_a_complaint(void **state)
{
	long count = draws(4000), trees = 0;
	uint64_t seed = draws_seed(1);
	static struct input input;
	for (int i = 0; i < SEEDS; i++)
		run("seed", seeds[i], strlen(seeds[i]), false);
	for (long i = 0; i < count; i++) {
		struct random random = random_open(seed, (uint64_t)i);
		draw(&random, &input);
		trees += run("draw", input.bytes, input.length, false);
	}
	printf("%ld of %ld are trees\n", trees, count);
	assert_true(!draws_are_many(count) || (trees > count / 20 && trees < count));
}

static int replay(int count, char **files)
{
	static char bytes[SPEC_BYTES_MOST + 1];
	for (int i = 0; i < count; i++) {
		FILE *file = fopen(files[i], "rb");
		if (!file) {
			perror(files[i]);
			return 4;
		}
		size_t length = fread(bytes, 1, sizeof bytes, file);
		fclose(file);
		printf("%s: %s\n", files[i],
			run(files[i], bytes, length, true) ? "a tree" : "no tree");
	}
	return 0;
}

int main(int count, char **arguments)
{
	if (count > 1)
		return replay(count - 1, arguments + 1);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_bytes_end_in_a_tree_or_a_complaint)};
	return cmocka_run_group_tests_name("fuzz_node", tests, NULL, NULL);
}
