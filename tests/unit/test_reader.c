#include "base/arena.h"
#include "spec/reader.h"
#include "tests/support/complaints.h"

#include <string.h>

#include "tests/test.h"

static struct reading reading_of(struct arena *arena)
{
	return (struct reading){.arena = arena, .diag = diag_open(arena)};
}

/* A map `{x: TEXT}` open for reading. */
static struct reader open_map(struct arena *arena, const struct reading *reading, const char *text)
{
	const char *spec = arena_format(arena, "x: %s", text);
	const struct node *map = node_read_text(arena, "f", spec, strlen(spec), reading->diag);
	struct reader reader;
	assert_non_null(map);
	assert_true(reader_open(&reader, reading, map, "map"));
	return reader;
}

enum kind { INTEGER, SIZE, NUMBER, RATIO, HERTZ, RATE, ENERGY, TIME, BOOL, WORD, TEXT, LIST, MAP };

static const char *const colours[] = {"red", "green", "blue", NULL};

/* Returns the value that a typed read gives for a text, or the first line of its error. */
static const char *read_back(struct arena *arena, enum kind kind, enum need need, const char *text)
{
	struct reading reading = reading_of(arena);
	struct reader map = open_map(arena, &reading, text);
	int64_t whole = -1;
	double real = -1;
	struct ratio ratio = {0};
	bool flag = false, fine = false;
	int word = -1;
	const char *string = "";
	const char *result = "";
	switch (kind) {
	case INTEGER:
	case SIZE:
		fine = kind == SIZE ? read_size(&map, "x", need, 0, 1 << 30, &whole)
				    : read_integer(&map, "x", need, 1, 32, &whole);
		result = arena_format(arena, "%lld", (long long)whole);
		break;
	case NUMBER:
	case ENERGY:
		fine = kind == NUMBER ? read_number(&map, "x", need, &real)
				      : read_picojoules(&map, "x", need, &real);
		result = arena_format(arena, "%g", real);
		break;
	case BOOL:
		fine = read_bool(&map, "x", need, &flag);
		result = flag ? "yes" : "no";
		break;
	case WORD:
		fine = read_word(&map, "x", need, colours, &word);
		result = fine ? colours[word] : "";
		break;
	case TEXT:
		fine = read_text(&map, "x", need, &string);
		result = string;
		break;
	case LIST:
	case MAP:
		fine = (kind == LIST ? read_list : read_map)(&map, "x", need) != NULL;
		result = "there";
		break;
	default:
		fine = kind == RATIO   ? read_ratio(&map, "x", need, &ratio)
		       : kind == HERTZ ? read_hertz(&map, "x", need, &ratio)
		       : kind == RATE  ? read_rate(&map, "x", need, &ratio)
				       : read_nanoseconds(&map, "x", need, &ratio);
		result = arena_format(
			arena, "%lld/%lld", (long long)ratio.num, (long long)ratio.den);
	}
	reader_done(&map);
	if (fine) {
		assert_false(diag_failed(reading.diag));
		return result;
	}
	return diag_failed(reading.diag) ? complaints_first(arena, reading.diag) : "missing";
}

TEST(values_are_read_as_what_is_asked_for)
{
	static const struct {
		enum kind kind;
		const char *text, *result;
	} table[] = {
		{INTEGER, "12", "12"},
		{INTEGER, "64 / 2", "32"},
		{INTEGER, "sqrt(16)", "4"},
		{INTEGER, "4 ** 0.5", "2"},
		{INTEGER, "~", "missing"},
		{INTEGER, "null", "missing"},
		{INTEGER, "33", "error: 'x' in map is 33; it can be 1 to 32"},
		{INTEGER, "0", "error: 'x' in map is 0; it can be 1 to 32"},
		{INTEGER, "7/2", "error: 'x' in map is 3.5; a whole number is expected"},
		{INTEGER, "4KiB",
			"error: 'x' in map is a size; a number without a unit is expected"},
		{INTEGER, "[1]",
			"error: 'x' in map is a list; a number without a unit is expected"},
		{INTEGER, "'null'",
			"error: 'x' in map: unknown variable 'null'; a number or "
			"arithmetic is expected"},
		{SIZE, "64KiB", "65536"},
		{SIZE, "4096", "4096"},
		{SIZE, "2 * MiB - 64*1024", "2031616"},
		{SIZE, "0.3KiB",
			"error: 'x' in map is 307.2 bytes; a whole number of bytes is expected"},
		{SIZE, "2GiB", "error: 'x' in map is 2147483648 bytes; it can be 0 to 1073741824"},
		{SIZE, "3ns", "error: 'x' in map is a time; a size such as 64KiB is expected"},
		{NUMBER, "-1", "-1"},
		{NUMBER, "0.42564", "0.42564"},
		{NUMBER, "log2(3)", "1.58496"},
		{NUMBER, "1pJ",
			"error: 'x' in map is an energy; a number without a unit is expected"},
		{RATIO, "1/3", "1/3"},
		{RATIO, "0", "0/1"},
		{RATIO, "-1", "error: 'x' in map is -1; it must be at least 0"},
		{RATIO, "sqrt(2)",
			"error: 'x' in map is 1.4142135623730951; a fraction of fewer "
			"digits is expected"},
		{HERTZ, "1.5GHz", "1500000000/1"},
		{HERTZ, "1e9", "1000000000/1"},
		{HERTZ, "0", "error: 'x' in map is 0 Hz; it must be more than 0"},
		{HERTZ, "2GB/s", "error: 'x' in map is a rate; a clock such as 1.5GHz is expected"},
		{RATE, "204.8GB/s", "204800000000/1"},
		{RATE, "128B * 1.5GHz", "192000000000/1"},
		{RATE, "1000", "1000/1"},
		{ENERGY, "12pJ", "12"},
		{ENERGY, "500 fJ", "0.5"},
		{ENERGY, "2.5", "2.5"},
		{ENERGY, "-2pJ", "error: 'x' in map is -2 pJ; it must be at least 0"},
		{ENERGY, "1pJ/B",
			"error: 'x' in map is a product of units; an energy such as 12pJ is expected"},
		{TIME, "1us / 8", "125/1"},
		{TIME, "82.94ns", "4147/50"},
		{TIME, "0", "0/1"},
		{BOOL, "yes", "yes"},
		{BOOL, "Off", "no"},
		{BOOL, "1", "yes"},
		{BOOL, "'true'", "yes"},
		{BOOL, "2", "error: 'x' in map is '2'; true or false is expected"},
		{BOOL, "", "error: 'x' in map is empty; true or false is expected"},
		{WORD, "green", "green"},
		{WORD, "gren",
			"error: 'x' in map is 'gren'; it can be red, green or blue; did "
			"you mean 'green'?"},
		{WORD, "[red]", "error: 'x' in map is a list; a word is expected"},
		{TEXT, "some words", "some words"},
		{TEXT, "''", "error: 'x' in map is empty; a word is expected"},
		{TEXT, "!t a", "error: tag '!t' has no meaning on 'x' in map"},
		{TEXT, "{a: 1}", "error: 'x' in map is a map; a word is expected"},
		{LIST, "[1]", "there"},
		{LIST, "a", "error: 'x' in map is a word; a list is expected"},
		{LIST, "", "error: 'x' in map is empty; a list is expected"},
		{MAP, "{}", "there"},
		{MAP, "[1]", "error: 'x' in map is a list; a map is expected"},
	};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		const char *result = read_back(arena, table[i].kind, OPTIONAL, table[i].text);
		if (strcmp(result, table[i].result) != 0)
			fail_msg(
				"%s: \"%s\" is not \"%s\"", table[i].text, result, table[i].result);
	}
	assert_string_equal(
		read_back(arena, TEXT, REQUIRED, "~"), "error: 'x' in map is ~; it needs a value");
}

TEST(a_read_that_fails_keeps_the_default)
{
	struct reading reading = reading_of(arena);
	struct reader map = open_map(arena, &reading, "99");
	int64_t n = 7;
	assert_false(read_integer(&map, "x", OPTIONAL, 1, 32, &n));
	assert_int_equal(n, 7);
	assert_false(read_integer(&map, "y", OPTIONAL, 1, 32, &n));
	assert_int_equal(n, 7);
	assert_int_equal(diag_errors(reading.diag), 1);
}

TEST(words_come_alone_or_in_a_list)
{
	struct reading reading = reading_of(arena);
	const char *const *words;
	size_t count;
	struct reader map = open_map(arena, &reading, "[a, 'b c', 3]");
	assert_true(read_texts(&map, "x", REQUIRED, &words, &count));
	assert_int_equal(count, 3);
	assert_string_equal(words[1], "b c");
	map = open_map(arena, &reading, "alone");
	assert_true(read_texts(&map, "x", REQUIRED, &words, &count));
	assert_int_equal(count, 1);
	assert_string_equal(words[0], "alone");
	map = open_map(arena, &reading, "[]");
	assert_true(read_texts(&map, "x", REQUIRED, &words, &count));
	assert_int_equal(count, 0);
	map = open_map(arena, &reading, "[a, [b]]");
	assert_false(read_texts(&map, "x", REQUIRED, &words, &count));
	assert_string_equal(complaints_first(arena, reading.diag),
		"error: an item of 'x' in map is a list; a word is expected");
}

static const char *unknown_keys(struct arena *arena, const char *text)
{
	struct reading reading = reading_of(arena);
	const struct node *map = node_read_text(arena, "f", text, strlen(text), reading.diag);
	struct reader reader;
	const char *string;
	assert_non_null(map);
	if (reader_open(&reader, &reading, map, "level")) {
		read_text(&reader, "name", REQUIRED, &string);
		read_text(&reader, "capacity", OPTIONAL, &string);
		reader_done(&reader);
	}
	return complaints_text(arena, reading.diag);
}

TEST(keys_that_nobody_asks_for_are_refused)
{
	assert_string_equal(unknown_keys(arena, "{name: LX, capacity: 3}"), "");
	assert_string_equal(unknown_keys(arena, "name: LX\ncapcity: 2MiB\n"),
		"f:2:1: error: unknown key 'capcity' in level 'LX'; did you mean 'capacity'?\n"
		"    2 | capcity: 2MiB\n"
		"      | ^~~~~~~\n");
	assert_string_equal(unknown_keys(arena, "name: LX\nzzz: 1\n"),
		"f:2:1: error: unknown key 'zzz' in level 'LX'; the keys here are name and "
		"capacity\n"
		"    2 | zzz: 1\n"
		"      | ^~~\n");
	assert_string_equal(unknown_keys(arena, "nam: LX\n"),
		"f:1:1: error: level has no 'name'\n"
		"    1 | nam: LX\n"
		"      | ^\n"
		"f:1:1: note: did you mean 'name' here?\n"
		"    1 | nam: LX\n"
		"      | ^~~\n");
	assert_string_equal(unknown_keys(arena, "[name]\n"),
		"f:1:1: error: level is a list; a map is expected\n"
		"    1 | [name]\n"
		"      | ^~~~~~\n");
}

TEST(a_key_that_was_asked_for_is_no_misspelling)
{
	struct reading reading = reading_of(arena);
	struct reader map = open_map(arena, &reading, "1\nreads: 2");
	int64_t n;
	assert_true(read_integer(&map, "reads", OPTIONAL, 0, 9, &n));
	assert_false(read_integer(&map, "read", REQUIRED, 0, 9, &n));
	assert_null(strstr(complaints_text(arena, reading.diag), "did you mean"));
}

TEST(what_comes_through_an_alias_shows_both_places)
{
	static const char text[] = "- &a [1]\n- {name: *a}\n";
	struct reading reading = reading_of(arena);
	const struct node *list = node_read_text(arena, "f", text, sizeof text - 1, reading.diag);
	struct reader reader;
	const char *string;
	assert_true(reader_open(&reader, &reading, list->items[1], "level"));
	assert_false(read_text(&reader, "name", REQUIRED, &string));
	assert_string_equal(complaints_text(arena, reading.diag),
		"f:1:3: error: 'name' in level is a list; a word is expected\n"
		"    1 | - &a [1]\n"
		"      |   ^~~~~~\n"
		"f:2:10: note: used here through its alias\n"
		"    2 | - {name: *a}\n"
		"      |          ^~\n");
}

TEST(many_unknown_keys_are_counted)
{
	const char *text = "";
	for (int i = 0; i < 30; i++)
		text = arena_format(arena, "%sk%d: 1\n", text, i);
	text = arena_format(arena, "%sname: x\n", text);
	assert_non_null(strstr(unknown_keys(arena, text), "and 10 more errors\n"));
}
