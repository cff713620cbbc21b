#include "base/arena.h"
#include "base/text.h"
#include "report/run/json.h"
#include "report/run/pareto.h"
#include "tests/support/folder.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

/* Layout of the commands' output: 80 columns, colours only on terminals, JSON of every result. */
FOLDER_TEST(help_is_at_most_80_columns_wide)
{
	struct ended ended = folder_run(
		"for c in $($program --help | sed -n 's/^  \\([a-z]*\\)  .*/\\1/p'); do\n"
		"$program $c --help\ndone | tee all | awk 'length > 80'; wc -l < all");
	assert_true(strtol(ended.out, NULL, 10) > 200);
}

/* A terminal shows what names would have it do, and a spreadsheet does not compute them. */
FOLDER_TEST(names_from_specs_are_only_shown)
{
	folder_put("names.yaml", "workload:\n"
				 "  name: \"a\\e[31m\\u202Eb\"\n"
				 "  dimensions: {m: 4, n: 64}\n"
				 "  ops: ['y[m,n] = exp(x[m,n])']\n");
	struct ended ended = shell(arena,
		"$LXPLORE check specs/arch/spyre32.yaml %s/names.yaml --format text", folder);
	assert_int_equal(ended.status, 0);
	assert_non_null(strstr(ended.out, "; a\\u001b[31m\\u202eb, 1 ops"));
	ended = shell(arena, "$LXPLORE \"$(printf 'a\\033[31m')\"");
	assert_null(strchr(ended.err, '\033'));
	assert_non_null(strstr(ended.err, "unknown command 'a\\u001b[31m'"));
	struct text text = text_open(arena);
	csv_field(&text, "=1+2");
	text_add(&text, ",");
	csv_field(&text, "@x");
	text_add(&text, ",");
	csv_field(&text, "-2.5");
	assert_string_equal(text_read(&text), "\"'=1+2\",\"'@x\",-2.5");
	const char *line = text_read(&text);
	struct csv_cells cells = csv_cells(arena, &line);
	assert_string_equal(cells.at[0], "=1+2");
	assert_string_equal(cells.at[1], "@x");
}

/* Tables fold and lines are broken where a terminal has 80 columns; a file gets the lines whole. */
FOLDER_TEST(results_fit_a_terminal_of_80_columns)
{
	static const char *const graph = "specs/arch/spyre32.yaml specs/workloads/layernorm.yaml";
	static const char *const nest = "specs/arch/three_level.yaml specs/problems/gemm_16.yaml";
	static const char *const commands[] = {
		"explore %s --budget 20 --labels 0 -o run --force",
		"check -v %s",
		"score %s run/plans/point-001.yaml",
		"simulate %s run/plans/point-001.yaml",
		"score %s --explain",
		"diff %s run/plans/point-001.yaml other.yaml",
		"report run",
		"list ops",
		"place specs/buffers/attention.csv --minimize",
		"place specs/buffers/attention.csv --capacity 1GiB",
		"import specs/models/attention.mlir -o imported.yaml",
		"calibrate specs/arch/spyre32.yaml specs/measured/spyre32.csv --check",
		"check specs/arch/a2a3.yaml specs/broadcasts/put_block.yaml",
		"check specs/space_time/matmul.yaml",
		"check specs/arch/eyeriss.yaml specs/workloads/alexnet.yaml",
	};
	assert_int_equal(folder_run("ln -s $OLDPWD/specs").status, 0);
	if (folder_run("command -v script").status != 0)
		skip();
	bool was_wide = false;
	for (int k = 0; k < 2; k++)
		for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
			if (k > 0 && !strstr(commands[i], "%s") && !strstr(commands[i], "report"))
				continue;
			const char *words = arena_format(arena, commands[i], k ? nest : graph);
			if (i == 5)
				folder_run("cp $(ls run/plans/*.yaml | tail -1) other.yaml");
			struct ended ended = folder_run(arena_format(arena,
				"export program; script -qec \"stty cols 80; \\$program %s\" /dev/null | "
				"tr -d '\\r' | sed 's/\\x1b\\[[0-9;]*[A-Za-z]/\\n/g' | awk 'length > 80'",
				words));
			if (ended.out[0])
				fail_msg("%s:\n%s", words, ended.out);
			was_wide = was_wide ||
				   (i > 0 && folder_run(arena_format(arena,
								"$program %s --format text | "
								"awk 'length > 80' | grep -q .",
								words))
							     .status == 0);
		}
	assert_true(was_wide);
}

FOLDER_TEST(tables_fold_behind_their_first_column)
{
	const char *table = "name   first column          second column\n"
			    "alpha  1, 2 and no more                  3\n"
			    "beta   4                                55\n";
	assert_string_equal(fit_text(arena, table, 60), table);
	assert_string_equal(fit_text(arena, table, 32), "name   first column\n"
							"alpha  1, 2 and no more\n"
							"beta   4\n\n"
							"name   second column\n"
							"alpha              3\n"
							"beta              55\n");
	const char *short_row = "name   first column          second column\n"
				"alpha  1\n"
				"b\n";
	assert_string_equal(fit_text(arena, short_row, 32), "name   first column  second\n"
							    "                     column\n"
							    "alpha  1\n"
							    "b\n");
	assert_string_equal(fit_text(arena, "\n  a line of words, too long\n\nshort\n", 20),
		"\n  a line of words,\n    too long\n\nshort\n");
	assert_string_equal(
		fit_text(arena, "/a/path/without/any/spaces", 8), "/a/path/without/any/spaces");
}

/* A program that was built and not installed finds the specs of its checkout from any folder. */
FOLDER_TEST(specs_of_the_checkout_are_found_from_anywhere)
{
	struct ended ended = folder_run("$program check specs/arch/spyre32.yaml "
					"specs/workloads/softmax_dim1.yaml");
	if (ended.status)
		fail_msg("%s", ended.err);
	ended = folder_run("$program check specs/arch/none.yaml");
	assert_int_equal(ended.status, 2);
}

static const char *const results[] = {
	"explore -q specs/arch/three_level.yaml specs/problems/gemm_16.yaml "
	"specs/constraints/keep_all.yaml -o run",
	"score specs/arch/three_level.yaml specs/problems/gemm_16.yaml run/plans/point-001.yaml",
	"simulate specs/arch/three_level.yaml specs/problems/gemm_16.yaml run/plans/point-001.yaml",
	"check specs/arch/three_level.yaml specs/problems/gemm_16.yaml",
	"check specs/arch/spyre32.yaml specs/workloads/softmax_dim1.yaml -c 4",
	"check specs/space_time/output_stationary.yaml",
	"check specs/space_time/matmul.yaml",
	"check specs/arch/a2a3.yaml specs/broadcasts/put_block.yaml",
	"check specs/arch/eyeriss.yaml specs/workloads/alexnet.yaml",
	"diff specs/arch/three_level.yaml specs/problems/gemm_16.yaml run/plans/point-001.yaml "
	"run/plans/point-001.yaml",
	"report run",
	"list solvers",
	"list kinds",
	"list ops",
	"list objectives",
	"list constraints",
	"place specs/buffers/attention.csv --capacity 1GiB",
};

FOLDER_TEST(every_result_is_there_as_json)
{
	assert_int_equal(folder_run("ln -s $OLDPWD/specs").status, 0);
	for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
		json_error_t error;
		struct ended ended =
			folder_run(arena_format(arena, "$program %s --format json", results[i]));
		if (ended.status > 1)
			fail_msg("%s: %s", results[i], ended.err);
		json_t *root = json_loads(ended.out, 0, &error);
		if (!root)
			fail_msg("%s: line %d: %s", results[i], error.line, error.text);
		json_decref(root);
	}
}

FOLDER_TEST(lists_have_80_columns)
{
	static const char *const lists[] = {
		"solvers", "kinds", "ops", "objectives", "constraints", NULL};
	for (int i = 0; lists[i]; i++) {
		struct ended ended = folder_run(arena_format(arena, "$program list %s", lists[i]));
		for (const char *at = ended.out; *at; at += strcspn(at, "\n") + 1)
			if (strcspn(at, "\n") > 80)
				fail_msg("list %s: %.*s", lists[i], (int)strcspn(at, "\n"), at);
	}
}

/* Returns the output of a command on a terminal. */
static const char *on_terminal(const char *variables, const char *words)
{
	return folder_run(
		arena_format(arena, "export program; %s script -qec \"\\$program %s\" /dev/null",
			variables, words))
		.out;
}

FOLDER_TEST(colours_are_for_terminals_of_those_who_want_them)
{
	assert_null(strchr(folder_run("TERM=xterm $program score nowhere.yaml").err, '\033'));
	if (folder_run("command -v script").status != 0)
		skip();
	assert_non_null(
		strstr(on_terminal("TERM=xterm", "score nowhere.yaml"), "\033[1;31merror:\033[0m"));
	assert_null(strchr(on_terminal("TERM=dumb", "score nowhere.yaml"), '\033'));
	assert_null(strchr(on_terminal("NO_COLOR=1 TERM=xterm", "score nowhere.yaml"), '\033'));
	assert_non_null(strchr(on_terminal("NO_COLOR= TERM=xterm", "score nowhere.yaml"), '\033'));
}

/* A problem, a network, and a graph show how good the best is. */
FOLDER_TEST(progress_shows_the_best_and_the_gap)
{
	static const char *const runs[] = {
		"specs/arch/three_level.yaml specs/problems/gemm_16.yaml",
		"specs/arch/eyeriss.yaml specs/workloads/alexnet.yaml --budget 60",
		"specs/arch/spyre32.yaml specs/workloads/softmax_dim1.yaml --budget 10 --labels 0",
	};
	assert_int_equal(folder_run("ln -s $OLDPWD/specs").status, 0);
	if (folder_run("command -v script").status != 0)
		skip();
	for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
		const char *said = on_terminal("TERM=xterm",
			arena_format(arena, "explore %s --objective latency --simulate none -o run",
				runs[i]));
		const char *best = strstr(said, "best ");
		if (!best || strtod(best + 5, NULL) <= 0)
			fail_msg("%s: %s", runs[i], said);
		if (i == 1)
			assert_non_null(strstr(said, "gap "));
	}
}

/* On a terminal all of it is one line, and no part of that is wider than 80 columns; the first part is there before
 * the search is. */
FOLDER_TEST(progress_is_one_line_with_units)
{
	assert_int_equal(folder_run("ln -s $OLDPWD/specs").status, 0);
	if (folder_run("command -v script").status != 0)
		skip();
	const char *said = on_terminal("TERM=xterm",
		"explore specs/arch/spyre32.yaml specs/workloads/softmax_dim1.yaml --budget 10 "
		"--labels 0 --simulate none -o run");
	const char *table = strstr(said, "point ");
	int parts = 0;
	assert_non_null(table);
	for (const char *at = said; (at = strstr(at, "\r\033[K")) && at < table; parts++) {
		at += strlen("\r\033[K");
		assert_in_range(strcspn(at, "\r\n"), 0, 79);
		if (parts == 0) {
			assert_int_equal(strncmp(at, "best ", 5), 0);
			assert_non_null(strstr(at, " cycles"));
		}
	}
	assert_in_range(parts, 3, 1000);
	assert_true(!memchr(said, '\n', (size_t)(table - said)));
	assert_null(strstr(folder_run("$program explore specs/arch/spyre32.yaml "
				      "specs/workloads/softmax_dim1.yaml --budget 3 --labels 0 "
				      "--simulate none -o run")
				   .err,
		"best "));
}
