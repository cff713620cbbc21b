#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"
#include "tests/support/complaints.h"

#include <string.h>

#include "tests/test.h"

static int open_arena(void **state)
{
	*state = arena_open();
	return 0;
}

static int close_arena(void **state)
{
	arena_close(*state);
	return 0;
}

/* Returns the printed text of one error at characters `column` up to `end` of line 1. */
static const char *shown(struct arena *arena, const char *line, int column, int end)
{
	struct source *source = arena_new(arena, struct source);
	*source = (struct source){.name = "f", .bytes = line, .length = strlen(line)};
	struct diag *diag = diag_open(arena);
	diag_error(diag, (struct span){source, 1, column, 1, end}, "no");
	const char *text = complaints_text(arena, diag);
	const char *head = arena_format(arena, "f:1:%d: error: no\n", column);
	assert_memory_equal(text, head, strlen(head));
	return text + strlen(head);
}

static void the_caret_runs_under_the_span(void **state)
{
	assert_string_equal(shown(*state, "size: 64KB\nmore", 7, 11), "    1 | size: 64KB\n"
								      "      |       ^~~~\n");
}

static void an_empty_span_has_one_caret(void **state)
{
	assert_string_equal(shown(*state, "size:", 6, 6), "    1 | size:\n"
							  "      |      ^\n");
}

static void tabs_are_shown_as_blanks(void **state)
{
	assert_string_equal(shown(*state, "a\tb: c", 6, 7), "    1 | a       b: c\n"
							    "      |            ^\n");
}

static void characters_count_not_bytes(void **state)
{
	assert_string_equal(shown(*state, "größe: µ x", 10, 11), "    1 | größe: µ x\n"
								 "      |          ^\n");
}

static void wide_and_combining_characters_keep_the_caret_in_place(void **state)
{
	assert_string_equal(shown(*state, "大小: e\u0301 x", 8, 9), "    1 | 大小: e\u0301 x\n"
								    "      |         ^\n");
}

static void control_characters_and_broken_bytes_do_not_reach_the_terminal(void **state)
{
	assert_string_equal(shown(*state, "a\x1b[1m\xff: x", 8, 9), "    1 | a?[1m?: x\n"
								    "      |        ^\n");
}

static void a_long_line_is_cut_around_the_caret(void **state)
{
	struct arena *arena = *state;
	char *line = arena_alloc(arena, 1001);
	memset(line, '.', 1000);
	memcpy(line + 500, "here", 4);
	const char *text = shown(arena, line, 501, 505);
	const char *caret = strchr(text, '^');
	assert_non_null(caret);
	assert_true(strlen(text) < 250);
	const char *second = strchr(text, '\n') + 1;
	assert_memory_equal(text + (caret - second), "here", 4);
	assert_memory_equal(text, "    1 | ...", 11);
}

static void a_span_of_several_lines_ends_with_its_first(void **state)
{
	struct source source = {.name = "f", .bytes = "a: [1,\n2]", .length = 9};
	struct diag *diag = diag_open(*state);
	diag_error(diag, (struct span){&source, 1, 4, 2, 3}, "no");
	assert_string_equal(complaints_text(*state, diag), "f:1:4: error: no\n"
							   "    1 | a: [1,\n"
							   "      |    ^~~\n");
}

/* Lines of several lengths, with characters of two and three bytes; byte by byte, and back. */
static void marks_change_no_place(void **state)
{
	static const char *const words[] = {"abc", "\u00e9", "\n", "\u4e2d", "\r\n", " ", "\u2028"};
	struct text text = text_open(*state);
	for (int i = 0; i < 1500; i++)
		text_add(&text, "%s", words[i * i % 1001 % (i < 700 ? 2 : 7)]);
	struct source source = {.name = "f", .bytes = text_read(&text), .length = text.length};
	struct source marked = source;
	source_mark(*state, &marked);
	assert_true(marked.mark_count > 5);
	for (size_t at = 0; at <= source.length; at++) {
		struct span slow = source_span(&source, at, source.length);
		struct span fast = source_span(&marked, at, source.length);
		assert_int_equal(slow.line, fast.line);
		assert_int_equal(slow.column, fast.column);
		assert_int_equal(slow.end_line, fast.end_line);
		assert_int_equal(slow.end_column, fast.end_column);
		assert_int_equal(source_offset(&source, slow.line, slow.column),
			source_offset(&marked, slow.line, slow.column));
		assert_int_equal(source_offset(&source, slow.line, slow.column + 2000),
			source_offset(&marked, slow.line, slow.column + 2000));
	}
	assert_int_equal(source_offset(&marked, 100000, 1), source.length);
}

static void places_may_be_unknown_or_a_whole_file(void **state)
{
	struct source source = {.name = "f", .bytes = ""};
	struct diag *diag = diag_open(*state);
	diag_error(diag, (struct span){0}, "nowhere");
	diag_warning(diag, (struct span){.source = &source}, "the file");
	assert_string_equal(complaints_text(*state, diag), "lxplore: error: nowhere\n"
							   "f: warning: the file\n");
}

static void past_the_most_errors_are_only_counted(void **state)
{
	struct diag *diag = diag_open(*state);
	assert_false(diag_failed(diag));
	diag_warning(diag, (struct span){0}, "first");
	assert_false(diag_failed(diag));
	for (int i = 1; i <= DIAG_MOST + 5; i++) {
		diag_error(diag, (struct span){0}, "number %d", i);
		diag_note(diag, (struct span){0}, "note %d", i);
	}
	assert_true(diag_failed(diag));
	assert_int_equal(diag_errors(diag), DIAG_MOST + 5);
	const char *text = complaints_text(*state, diag);
	assert_non_null(strstr(text, "number 20\nlxplore: note: note 20\nand 5 more errors\n"));
	assert_null(strstr(text, "21"));
}

static void the_same_complaint_is_kept_once(void **state)
{
	struct diag *diag = diag_open(*state);
	for (int i = 0; i < 3; i++) {
		diag_error(diag, (struct span){0}, "twice");
		diag_note(diag, (struct span){0}, "so");
	}
	assert_int_equal(diag_errors(diag), 1);
	assert_string_equal(
		complaints_text(*state, diag), "lxplore: error: twice\nlxplore: note: so\n");
}

static void long_messages_lose_their_middle(void **state)
{
	char *name = arena_alloc(*state, 1000001);
	memset(name, 'x', 1000000);
	struct diag *diag = diag_open(*state);
	diag_error(diag, (struct span){0}, "unknown key '%s'; did you mean '\n'?", name);
	const char *text = complaints_text(*state, diag);
	assert_true(strlen(text) < 500);
	assert_non_null(strstr(text, "unknown key 'xx"));
	assert_non_null(strstr(text, "xx'; did you mean ' '?\n"));
}

static void the_nearest_word_is_suggested(void **state)
{
	static const char *const known[] = {"capacity", "class", "clock", "name", "reads", "B",
		"spatial", "workload", "x", "read_bandwidth", "max", NULL};
	static const struct {
		const char *word, *near;
	} table[] = {
		{"capcity", "capacity"},
		{"capactiy", "capacity"},
		{"Capacity", "capacity"},
		{"cap", "capacity"},
		{"clokc", "clock"},
		{"nam", "name"},
		{"workloads", "workload"},
		{"raeds", "reads"},
		{"mxa", "max"},
		{"axm", NULL},
		{"read", "reads"},
		{"read_", "reads"},
		{"read_band", "read_bandwidth"},
		{"b", "B"},
		{"y", NULL},
		{"", NULL},
		{"zebra", NULL},
		{"ca", NULL},
		{"capasetee", NULL},
	};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		const char *near = suggest(table[i].word, known);
		if (table[i].near)
			assert_string_equal(near ? near : "(nothing)", table[i].near);
		else if (near)
			fail_msg("'%s' is not suggested for '%s'", near, table[i].word);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_arena, close_arena)
	const struct CMUnitTest tests[] = {
		TEST(the_caret_runs_under_the_span),
		TEST(an_empty_span_has_one_caret),
		TEST(tabs_are_shown_as_blanks),
		TEST(characters_count_not_bytes),
		TEST(wide_and_combining_characters_keep_the_caret_in_place),
		TEST(control_characters_and_broken_bytes_do_not_reach_the_terminal),
		TEST(a_long_line_is_cut_around_the_caret),
		TEST(a_span_of_several_lines_ends_with_its_first),
		TEST(marks_change_no_place),
		TEST(places_may_be_unknown_or_a_whole_file),
		TEST(past_the_most_errors_are_only_counted),
		TEST(the_same_complaint_is_kept_once),
		TEST(long_messages_lose_their_middle),
		TEST(the_nearest_word_is_suggested),
	};
	return cmocka_run_group_tests_name("diag", tests, NULL, NULL);
}
