#include "base/arena.h"
#include "base/text.h"
#include "tests/support/csv.h"
#include "tests/support/draws.h"
#include "tests/support/folder.h"

#include <glob.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

static bool says(const char *path, const char *word)
{
	struct arena *pages = arena_open();
	bool found = strstr(text_of_file(pages, path), word) != NULL;
	arena_close(pages);
	return found;
}

static bool is_network(const char *path)
{
	return says(path, "\nnetwork:");
}

/* Broadcasts need several. */
static bool has_ranks(const char *path)
{
	return says(path, "= broadcast ");
}

/* True if nothing is said but that a dimension, whose size is published, has few divisors; source lines are indented. */
static bool warns_of_sizes_alone(const char *err)
{
	for (const char *at = err; *at; at += strcspn(at, "\n"), at += *at == '\n') {
		const char *found = strstr(at, ": warning: dimension '");
		if (*at != ' ' && (!found || found > at + strcspn(at, "\n")))
			return false;
	}
	return true;
}

/* Executes the plan of a row: the machine agrees with the model, and takes no fewer cycles than the row says. */
static void expect_agreement(const char *specs, const char *csv, int row)
{
	const char *plan = csv_cell(arena, csv, row, "plan");
	struct ended ended = shell(arena, "$LXPLORE simulate %s %s/out/%s", specs, folder, plan);
	json_t *result = json_loads(ended.out, 0, NULL);
	if (ended.status != 0 || !json_is_true(json_object_get(result, "agrees")))
		fail_msg("%s, %s: status %d\n%s", specs, plan, ended.status, ended.err);
	json_int_t least = strtoll(csv_cell(arena, csv, row, "latency_cycles"), NULL, 10);
	json_int_t bytes = strtoll(csv_cell(arena, csv, row, "hbm_bytes"), NULL, 10);
	assert_int_equal(json_integer_value(json_object_get(result, "model_cycles")), least);
	assert_true(json_integer_value(json_object_get(result, "cycles")) >= least);
	assert_int_equal(json_integer_value(json_object_get(result, "hbm_bytes")), bytes);
	json_decref(result);
}

/* Every graph in specs/workloads is explored, and plans of its frontier run as the model says: the
 * first and the last.  By default only one candidate of each solver, on all cores;
 * N=100000 explores to the end and runs all plans. */
static void explored_rows_agree(void **state)
{
	const char *path = *state;
	const char *specs = arena_format(
		arena, "specs/arch/spyre32%s.yaml %s", has_ranks(path) ? "x4" : "", path);
	long budget = draws(1), executed = draws(2);
	struct ended ended = shell(arena,
		"$LXPLORE explore %s -q --budget %ld --simulate none %s -o %s/out", specs, budget,
		budget > 1 ? "" : "-c 32 --labels 0 --solver place=bestfit", folder);
	if (ended.status != 0 || !warns_of_sizes_alone(ended.err))
		fail_msg("%s: status %d\n%s", path, ended.status, ended.err);
	const char *csv = folder_text("out/pareto.csv");
	int rows = 0;
	while (csv_cell(arena, csv, rows + 1, "point"))
		rows++;
	assert_true(rows > 0);
	if (executed > rows)
		executed = rows;
	for (long i = 0; i < executed; i++)
		expect_agreement(
			specs, csv, 1 + (int)(executed > 1 ? i * (rows - 1) / (executed - 1) : 0));
}

int main(void)
{
	glob_t files;
	if (glob("specs/workloads/*.yaml", 0, NULL, &files) != 0)
		return 1;
	struct CMUnitTest *tests = calloc(files.gl_pathc, sizeof *tests);
	size_t count = 0;
	for (size_t i = 0; i < files.gl_pathc; i += (size_t)draws_apart(1))
		if (!is_network(files.gl_pathv[i]))
			tests[count++] =
				(struct CMUnitTest){.name = strrchr(files.gl_pathv[i], '/') + 1,
					.test_func = explored_rows_agree,
					.setup_func = folder_set_up,
					.teardown_func = folder_tear_down,
					.initial_state = files.gl_pathv[i]};
	int failed = run_table("shipped", tests, count);
	free(tests);
	globfree(&files);
	return failed;
}
