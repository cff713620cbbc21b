#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"
#include "tests/support/complaints.h"

#include <string.h>

#include "tests/test.h"

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

TEST(the_caret_runs_under_the_span)
{
	assert_string_equal(shown(arena, "size: 64KB\nmore", 7, 11), "    1 | size: 64KB\n"
								     "      |       ^~~~\n");
}

TEST(an_empty_span_has_one_caret)
{
	assert_string_equal(shown(arena, "size:", 6, 6), "    1 | size:\n"
							 "      |      ^\n");
}

TEST(tabs_are_shown_as_blanks)
{
	assert_string_equal(shown(arena, "a\tb: c", 6, 7), "    1 | a       b: c\n"
							   "      |            ^\n");
}

TEST(characters_count_not_bytes)
{
	assert_string_equal(shown(arena, "größe: µ x", 10, 11), "    1 | größe: µ x\n"
								"      |          ^\n");
}

TEST(wide_and_combining_characters_keep_the_caret_in_place)
{
	assert_string_equal(shown(arena, "大小: e\u0301 x", 8, 9), "    1 | 大小: e\u0301 x\n"
								   "      |         ^\n");
}

TEST(control_characters_and_broken_bytes_do_not_reach_the_terminal)
{
	assert_string_equal(shown(arena, "a\x1b[1m\xff: x", 8, 9), "    1 | a?[1m?: x\n"
								   "      |        ^\n");
}

TEST(a_long_line_is_cut_around_the_caret)
{
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

TEST(a_span_of_several_lines_ends_with_its_first)
{
	struct source source = {.name = "f", .bytes = "a: [1,\n2]", .length = 9};
	struct diag *diag = diag_open(arena);
	diag_error(diag, (struct span){&source, 1, 4, 2, 3}, "no");
	assert_string_equal(complaints_text(arena, diag), "f:1:4: error: no\n"
							  "    1 | a: [1,\n"
							  "      |    ^~~\n");
}

/* Lines of several lengths, with characters of two and three bytes; byte by byte, and back. */
TEST(marks_change_no_place)
{
	static const char *const words[] = {"abc", "\u00e9", "\n", "\u4e2d", "\r\n", " ", "\u2028"};
	struct text text = text_open(arena);
	for (int i = 0; i < 1500; i++)
		text_add(&text, "%s", words[i * i % 1001 % (i < 700 ? 2 : 7)]);
	struct source source = {.name = "f", .bytes = text_read(&text), .length = text.length};
	struct source marked = source;
	source_mark(arena, &marked);
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

TEST(places_may_be_unknown_or_a_whole_file)
{
	struct source source = {.name = "f", .bytes = ""};
	struct diag *diag = diag_open(arena);
	diag_error(diag, (struct span){0}, "nowhere");
	diag_warning(diag, (struct span){.source = &source}, "the file");
	assert_string_equal(complaints_text(arena, diag), "lxplore: error: nowhere\n"
							  "f: warning: the file\n");
}

TEST(past_the_most_errors_are_only_counted)
{
	struct diag *diag = diag_open(arena);
	assert_false(diag_failed(diag));
	diag_warning(diag, (struct span){0}, "first");
	assert_false(diag_failed(diag));
	for (int i = 1; i <= DIAG_MOST + 5; i++) {
		diag_error(diag, (struct span){0}, "number %d", i);
		diag_note(diag, (struct span){0}, "note %d", i);
	}
	assert_true(diag_failed(diag));
	assert_int_equal(diag_errors(diag), DIAG_MOST + 5);
	const char *text = complaints_text(arena, diag);
	assert_non_null(strstr(text, "number 20\nlxplore: note: note 20\nand 5 more errors\n"));
	assert_null(strstr(text, "21"));
}

TEST(the_same_complaint_is_kept_once)
{
	struct diag *diag = diag_open(arena);
	for (int i = 0; i < 3; i++) {
		diag_error(diag, (struct span){0}, "twice");
		diag_note(diag, (struct span){0}, "so");
	}
	assert_int_equal(diag_errors(diag), 1);
	assert_string_equal(
		complaints_text(arena, diag), "lxplore: error: twice\nlxplore: note: so\n");
}

TEST(long_messages_lose_their_middle)
{
	char *name = arena_alloc(arena, 1000001);
	memset(name, 'x', 1000000);
	struct diag *diag = diag_open(arena);
	diag_error(diag, (struct span){0}, "unknown key '%s'; did you mean '\n'?", name);
	const char *text = complaints_text(arena, diag);
	assert_true(strlen(text) < 500);
	assert_non_null(strstr(text, "unknown key 'xx"));
	assert_non_null(strstr(text, "xx'; did you mean ' '?\n"));
}

TEST(the_nearest_word_is_suggested)
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
