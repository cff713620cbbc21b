#include "base/arena.h"
#include "cli/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

static const char *const counting[] = {"exact", "timeloop", NULL};

static const struct option table[] = {
	{"output", 'o', "DIR", "the folder", .type = OPTION_FOLDER},
	{"jobs", 'j', "N", "threads", .least = 1, .most = 9},
	{"counting", 0, "exact|timeloop", "of accesses", .words = counting},
	{"solver", 0, "STAGE=NAME", "a solver", .many = true},
	{"quiet", 'q', NULL, "no words", .type = OPTION_TEXT},
	{0},
};

static struct diag *diag;

static bool parse(struct arguments *out, int argc, const char *const *argv)
{
	diag = diag_open(test_arena);
	return option_parse(test_arena, table, argc, (char *const *)argv, diag, out);
}

static void assert_said(const char *expected)
{
	char *text;
	size_t length;
	FILE *stream = open_memstream(&text, &length);
	diag_print(diag, stream);
	fclose(stream);
	if (!strstr(text, expected))
		fail_msg("wanted '%s' in:\n%s", expected, text);
	free(text);
}

#define PARSE(out, ...)                                                                            \
	parse((out), (int)(sizeof(const char *[]){__VA_ARGS__} / sizeof(const char *)),            \
		(const char *const[]){__VA_ARGS__})

TEST(options_and_files_mix)
{
	struct arguments got;
	assert_true(PARSE(&got, "a.yaml", "-o", "x", "--solver=place=greedy", "-q", "b.yaml", "--",
		"-c.yaml"));
	assert_int_equal(got.count, 3);
	assert_string_equal(got.at[0], "a.yaml");
	assert_string_equal(got.at[2], "-c.yaml");
	assert_string_equal(option_find(&got, "output")->text, "x");
	assert_string_equal(option_find(&got, "solver")->text, "place=greedy");
	assert_non_null(option_find(&got, "quiet"));
}

TEST(the_last_value_counts_and_a_dash_is_a_file)
{
	struct arguments got;
	assert_true(PARSE(&got, "--output", "x", "-oy", "-"));
	assert_string_equal(option_find(&got, "output")->text, "y");
	assert_string_equal(got.at[0], "-");
}

TEST(an_unknown_option_is_told_with_the_nearest)
{
	struct arguments got;
	assert_false(PARSE(&got, "--ouput=x"));
	assert_said("unknown option '--ouput'; did you mean '--output'?");
}

TEST(a_missing_value_is_told)
{
	struct arguments got;
	assert_false(PARSE(&got, "--output"));
	assert_said("option '--output' needs a value: DIR");
}

TEST(a_flag_takes_no_value)
{
	struct arguments got;
	assert_false(PARSE(&got, "--quiet=yes"));
	assert_said("option '--quiet' takes no value");
}

TEST(a_number_outside_its_range_is_told)
{
	struct arguments got;
	assert_true(PARSE(&got, "--jobs", "12x"));
	int64_t number = 5;
	assert_false(option_integer(&got, "jobs", 0, diag, &number));
	assert_int_equal(number, 5);
	assert_said("'--jobs' needs a whole number from 1 to 9, not '12x'");
}

TEST(a_word_that_is_none_is_told)
{
	struct arguments got;
	int word = 7;
	assert_true(PARSE(&got, "--counting", "exakt"));
	assert_false(option_word(&got, "counting", diag, &word));
	assert_int_equal(word, 7);
	assert_said("'--counting' cannot be 'exakt'; did you mean 'exact'?");
}
