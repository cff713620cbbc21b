/*
 * The library inside a program: its results are those of the command line, wrong input is reported
 * with its place and nothing is printed, calls can be stopped, and handles do not disturb each
 * other.
 */
#include "base/arena.h"
#include "base/text.h"
#include "lib/lxplore.h"
#include "search/engine/parallel.h"
#include "tests/support/draws.h"
#include "tests/support/folder.h"

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/test.h"

static const char arch[] = "specs/starter/arch.yaml", workload[] = "specs/starter/workload.yaml";

static struct lxplore *open_with(const char *const *specs)
{
	struct lxplore *run = lxplore_open();
	for (; *specs; specs++)
		assert_int_equal(lxplore_add(run, *specs), LXPLORE_FOUND);
	return run;
}

static struct lxplore *open_starter(void)
{
	struct lxplore *run = open_with((const char *const[]){"specs/starter", NULL});
	lxplore_set(run, "cores", "2");
	lxplore_set(run, "labels", "1000");
	lxplore_set(run, "budget", "30");
	return run;
}

static const char *file_of(const struct lxplore *run, const char *name)
{
	for (size_t i = 0; i < lxplore_files(run); i++)
		if (!strcmp(lxplore_file_name(run, i), name))
			return lxplore_file_text(run, i);
	fail_msg("file '%s' is missing", name);
	return NULL;
}

/* --- results */

static void results_are_those_of_the_command_line(void **state)
{
	static const struct {
		const char *specs[4], *name, *value;
	} rows[] = {
		{{"specs/starter"}, "cores", "2"},
		{{"specs/arch/three_level.yaml", "specs/problems/gemm_16.yaml"}, "objective",
			"energy"},
		{{"specs/arch/eyeriss.yaml", "specs/workloads/alexnet.yaml"}, "budget", "60"},
		{{"specs/space_time/matmul.yaml"}, "simulate", "none"},
		{{"specs/broadcasts/put_block.yaml"}, "jobs", "1"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i += (size_t)draws_apart(1)) {
		struct lxplore *run = open_with(rows[i].specs);
		lxplore_set(run, rows[i].name, rows[i].value);
		enum lxplore_status status = lxplore_explore(run);
		struct ended ended = shell(arena,
			"$LXPLORE explore %s %s %s --%s %s -o %s/line >/dev/null 2>&1 && cat %s/line/pareto.csv",
			rows[i].specs[0], rows[i].specs[1] ? rows[i].specs[1] : "",
			rows[i].specs[1] && rows[i].specs[2] ? rows[i].specs[2] : "", rows[i].name,
			rows[i].value, folder, folder);
		if ((int)status != ended.status ||
			strcmp(file_of(run, "pareto.csv"), ended.out) != 0)
			fail_msg("%s: status %d and %d\n%s", rows[i].specs[0], (int)status,
				ended.status, lxplore_message(run));
		assert_true(lxplore_points(run) > 0);
		assert_int_equal(lxplore_write(run, arena_format(arena, "%s/library", folder)), 0);
		ended = shell(arena, "cd %s && diff -r -I '\"seconds\":' line library", folder);
		assert_string_equal(ended.out, "");
		lxplore_close(run);
	}
}

static void points_have_named_columns(void **state)
{
	struct lxplore *run = open_starter();
	assert_int_equal(lxplore_points(run), 0);
	assert_int_equal(lxplore_explore(run), LXPLORE_FOUND);
	assert_string_equal(lxplore_message(run), "");
	assert_string_equal(lxplore_column(run, 0), "point");
	assert_null(lxplore_column(run, lxplore_columns(run)));
	for (size_t i = 0; i < lxplore_points(run); i++) {
		assert_true(lxplore_number(run, i, "latency_cycles") > 0);
		assert_int_equal(lxplore_number(run, i, "point"), i + 1);
		assert_string_equal(
			lxplore_plan(run, i), file_of(run, lxplore_cell(run, i, "plan")));
		assert_non_null(strstr(lxplore_plan(run, i), "plan:"));
	}
	assert_string_equal(lxplore_cell(run, 0, "pes"), "");
	assert_true(isnan(lxplore_number(run, 0, "pes")));
	assert_true(isnan(lxplore_number(run, 0, "solver")));
	assert_null(lxplore_cell(run, 0, "latency"));
	assert_null(lxplore_cell(run, lxplore_points(run), "point"));
	assert_null(lxplore_plan(run, lxplore_points(run)));
	assert_null(lxplore_file_text(run, lxplore_files(run)));
	struct ended ended = shell(arena, "$LXPLORE --version");
	assert_string_equal(ended.out, arena_format(arena, "lxplore %s\n", lxplore_version()));
	lxplore_close(run);
}

static void specs_may_be_in_memory(void **state)
{
	struct lxplore *files = open_with((const char *const[]){arch, workload, NULL});
	struct lxplore *run = open_with((const char *const[]){arch, NULL});
	char *text = arena_text(arena, text_of_file(arena, workload));
	assert_int_equal(lxplore_add_text(run, "mine", text, strlen(text)), LXPLORE_FOUND);
	memset(text, 'x', strlen(text));
	lxplore_set(run, "cores", "2");
	lxplore_set(files, "cores", "2");
	assert_int_equal(lxplore_check(run), LXPLORE_FOUND);
	assert_int_equal(lxplore_points(run), 0);
	assert_int_equal(lxplore_explore(run), LXPLORE_FOUND);
	assert_int_equal(lxplore_explore(files), LXPLORE_FOUND);
	assert_string_equal(file_of(run, "pareto.csv"), file_of(files, "pareto.csv"));
	lxplore_close(files);
	lxplore_close(run);
}

static void checks_and_scores_are_those_of_the_command_line(void **state)
{
	static const struct {
		const char *specs[4];
	} rows[] = {
		{{"specs/starter"}},
		{{"specs/arch/three_level.yaml", "specs/problems/gemm_16.yaml"}},
		{{"specs/space_time/output_stationary.yaml"}},
		{{"specs/broadcasts/put_block.yaml"}},
		{{"specs/arch/eyeriss.yaml", "specs/workloads/alexnet.yaml"}},
	};
	static const struct {
		const char *command;
		enum lxplore_status (*work)(struct lxplore *run);
	} works[] = {
		{"check", lxplore_check}, {"score", lxplore_score}, {"simulate", lxplore_simulate}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i += (size_t)draws_apart(1)) {
		struct lxplore *run = open_with(rows[i].specs);
		for (size_t k = 0; k < sizeof works / sizeof *works; k++) {
			enum lxplore_status status = works[k].work(run);
			struct ended ended =
				shell(arena, "$LXPLORE %s %s %s --format json", works[k].command,
					rows[i].specs[0], rows[i].specs[1] ? rows[i].specs[1] : "");
			if ((int)status != ended.status ||
				strcmp(lxplore_output(run), ended.out) != 0 ||
				strcmp(lxplore_message(run), ended.err) != 0)
				fail_msg("%s %s: status %d and %d\n%s%s", works[k].command,
					rows[i].specs[0], (int)status, ended.status,
					lxplore_output(run), lxplore_message(run));
		}
		lxplore_close(run);
	}
}

static void captures_are_answered_as_on_the_command_line(void **state)
{
	static const char capture[] = "tests/cases/captures/captures.json";
	struct lxplore *file = open_with((const char *const[]){capture, NULL}),
		       *memory = lxplore_open();
	const char *text = text_of_file(arena, capture);
	assert_int_equal(lxplore_add_text(memory, "mine.json", text, strlen(text)), LXPLORE_FOUND);
	lxplore_set(file, "capacity", "50%");
	lxplore_set(memory, "capacity", "50%");
	assert_int_equal(lxplore_place(file), LXPLORE_FOUND);
	assert_int_equal(lxplore_place(memory), LXPLORE_FOUND);
	struct ended ended =
		shell(arena, "$LXPLORE place %s --capacity 50%% --format json", capture);
	assert_string_equal(lxplore_output(file), ended.out);
	assert_non_null(strstr(lxplore_output(memory), "\"optimal\""));
	assert_string_equal(lxplore_message(memory), "");

	lxplore_add_text(file, "second.json", text, strlen(text));
	assert_int_equal(lxplore_place(file), LXPLORE_WRONG);
	assert_non_null(
		strstr(lxplore_message(file), "place works on one capture; add it by lxplore_add"));
	lxplore_set(memory, "cores", "2");
	assert_int_equal(lxplore_place(memory), LXPLORE_WRONG);
	assert_int_equal(lxplore_complaints(memory), 1);
	lxplore_close(file);
	lxplore_close(memory);
	memory = lxplore_open();
	lxplore_add_text(memory, "broken.json", "{\xff", 2);
	lxplore_set(memory, "capacity", "1KiB");
	assert_int_equal(lxplore_place(memory), LXPLORE_WRONG);
	assert_string_equal(lxplore_complaint(memory, 0)->file, "broken.json");
	lxplore_close(memory);
}

/* --- what is wrong */

/* Between these two, stdout and stderr are a file. */
static int kept[2] = {-1, -1};

static int quiet_set_up(void **state)
{
	folder_set_up(state);
	fflush(NULL);
	int file = open(run_folder_path("printed"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
	for (int i = 0; i < 2; i++) {
		kept[i] = dup(STDOUT_FILENO + i);
		dup2(file, STDOUT_FILENO + i);
	}
	return close(file);
}

static const char *printed(void)
{
	fflush(NULL);
	for (int i = 0; i < 2 && kept[i] >= 0; i++) {
		dup2(kept[i], STDOUT_FILENO + i);
		close(kept[i]);
		kept[i] = -1;
	}
	return folder_text("printed");
}

/* Prints the output of a failed test, which is in the file. */
static int quiet_tear_down(void **state)
{
	if (kept[0] >= 0)
		fprintf(stderr, "%s", printed());
	return folder_tear_down(state);
}

static void wrong_input_is_told_and_not_printed(void **state)
{
	static const char wrong[] = "workload:\n  name: mine\n  opps: []\n";
	struct lxplore *run = open_with((const char *const[]){arch, "specs/missing.yaml", NULL});
	lxplore_add_text(run, "mine", wrong, strlen(wrong));
	lxplore_set(run, "objectiv", "latency");
	assert_int_equal(lxplore_check(run), LXPLORE_WRONG);
	assert_int_equal(lxplore_complaints(run), 2);
	const struct lxplore_complaint *option = lxplore_complaint(run, 0),
				       *file = lxplore_complaint(run, 1);
	assert_string_equal(option->file, "argument 1");
	assert_string_equal(
		option->text, "unknown option '--objectiv'; did you mean '--objective'?");
	assert_string_equal(file->file, "specs/missing.yaml");
	assert_string_equal(file->text, "no such file");
	assert_int_equal(file->severity, LXPLORE_ERROR);
	assert_int_equal(file->line, 0);
	assert_null(lxplore_complaint(run, 2));
	assert_non_null(strstr(lxplore_message(run), "error: no such file\n"));
	lxplore_close(run);

	run = open_with((const char *const[]){arch, NULL});
	lxplore_add_text(run, "mine", wrong, strlen(wrong));
	assert_int_equal(lxplore_explore(run), LXPLORE_WRONG);
	const struct lxplore_complaint *key = lxplore_complaint(run, 0);
	for (size_t i = 1; key && key->severity != LXPLORE_NOTE; i++)
		key = lxplore_complaint(run, i);
	assert_non_null(key);
	assert_string_equal(key->file, "mine");
	assert_int_equal(key->line, 3);
	assert_int_equal(key->column, 3);
	assert_int_equal(key->end_column, 7);
	assert_string_equal(key->text, "did you mean 'ops' here?");
	assert_non_null(strstr(lxplore_message(run), "    3 |   opps: []\n      |   ^~~~\n"));
	lxplore_close(run);

	run = lxplore_open();
	assert_int_equal(lxplore_explore(run), LXPLORE_WRONG);
	assert_int_equal(lxplore_write(run, "nowhere"), LXPLORE_FAILED);
	lxplore_set(run, "write-lp", "file");
	lxplore_set(run, "quiet", NULL);
	lxplore_set(run, "output", "nowhere");
	assert_int_equal(lxplore_check(run), LXPLORE_WRONG);
	assert_int_equal(lxplore_complaints(run), 3);
	lxplore_close(run);
	lxplore_close(NULL);
	assert_string_equal(printed(), "");
}

static void what_cannot_be_is_told_and_not_printed(void **state)
{
	static const char tight[] = "constraints:\n  targets:\n"
				    "  - {target: PE, type: temporal, factors: [M=5]}\n";
	struct lxplore *run = open_with((const char *const[]){
		"specs/arch/three_level.yaml", "specs/problems/gemm_16.yaml", NULL});
	lxplore_add_text(run, "tight", tight, strlen(tight));
	enum lxplore_status status = lxplore_explore(run);
	if (status != LXPLORE_IMPOSSIBLE && status != LXPLORE_WRONG)
		fail_msg("%d: %s", (int)status, lxplore_message(run));
	assert_true(lxplore_message(run)[0] != '\0');
	assert_int_equal(lxplore_points(run), 0);
	lxplore_close(run);
	run = open_starter();
	assert_int_equal(lxplore_explore(run), LXPLORE_FOUND);
	assert_int_equal(
		lxplore_write(run, arena_format(arena, "%s/printed/x", folder)), LXPLORE_FAILED);
	assert_non_null(strstr(lxplore_message(run), "printed' is not a folder\n"));
	assert_true(lxplore_points(run) > 0);
	lxplore_close(run);
	assert_string_equal(printed(), "");
}

/* --- who listens */

struct listening {
	struct lxplore *run;
	int calls, busy;
	uint64_t count;
	bool stops;
};

static void listen(void *context, const struct lxplore_progress *progress)
{
	struct listening *listening = context;
	listening->calls++;
	listening->count = progress->count;
	listening->busy += lxplore_check(listening->run) == LXPLORE_BUSY;
	listening->busy += lxplore_add(listening->run, workload) == LXPLORE_BUSY;
	listening->busy += lxplore_on_progress(listening->run, NULL, NULL) == LXPLORE_BUSY;
	if (listening->stops)
		lxplore_stop(listening->run);
}

static void progress_is_told_and_a_stop_obeyed(void **state)
{
	struct listening listening = {
		.run = open_with((const char *const[]){
			"specs/arch/spyre32.yaml", "specs/workloads/gpt_block.yaml", NULL}),
		.stops = true};
	lxplore_stop(listening.run); /* no work yet: nothing ends */
	lxplore_on_progress(listening.run, listen, &listening);
	assert_int_equal(lxplore_explore(listening.run), LXPLORE_STOPPED);
	assert_true(listening.calls > 0);
	assert_int_equal(listening.busy, 3 * listening.calls);
	assert_true(lxplore_points(listening.run) > 0);
	assert_non_null(strstr(file_of(listening.run, "run.json"), "interrupted"));
	lxplore_close(listening.run);
}

static void *explore_starter(void *out)
{
	struct lxplore *run = open_starter();
	enum lxplore_status status = lxplore_explore(run);
	*(char **)out = strdup(status == LXPLORE_FOUND ? file_of(run, "pareto.csv") : "");
	lxplore_close(run);
	return NULL;
}

/* Small stacks, and handles at the same time. */
static void handles_do_not_disturb_each_other(void **state)
{
	enum { HANDLES = 4, STACK = 256 * 1024 };
	char *alone, *beside[HANDLES];
	pthread_t threads[HANDLES];
	pthread_attr_t attributes;
	explore_starter(&alone);
	assert_true(strlen(alone) > 100);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	for (int i = 0; i < HANDLES; i++)
		assert_int_equal(
			pthread_create(&threads[i], &attributes, explore_starter, &beside[i]), 0);
	for (int i = 0; i < HANDLES; i++) {
		pthread_join(threads[i], NULL);
		assert_string_equal(beside[i], alone);
		free(beside[i]);
	}
	free(alone);
	pthread_attr_destroy(&attributes);
}

#define FIXED(name) cmocka_unit_test_setup_teardown(name, folder_set_up, folder_tear_down)
#define QUIET(name) cmocka_unit_test_setup_teardown(name, quiet_set_up, quiet_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXED(results_are_those_of_the_command_line),
		FIXED(points_have_named_columns),
		FIXED(checks_and_scores_are_those_of_the_command_line),
		FIXED(specs_may_be_in_memory),
		FIXED(captures_are_answered_as_on_the_command_line),
		QUIET(wrong_input_is_told_and_not_printed),
		QUIET(what_cannot_be_is_told_and_not_printed),
		FIXED(progress_is_told_and_a_stop_obeyed),
		FIXED(handles_do_not_disturb_each_other),
	};
	/* The first thread that uses OpenMP must last: where a tool watches it, LLVM 14's runtime reads the record of
	 * that thread even after it has ended. */
	parallel_cores();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
