#include "base/arena.h"
#include "base/text.h"
#include "tests/support/draws.h"
#include "tests/support/shell.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

static bool says(const char *path, const char *word)
{
	struct arena *arena = arena_open();
	bool found = strstr(text_of_file(arena, path), word) != NULL;
	arena_close(arena);
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

/* Every graph in specs/workloads is explored: each row ran, and as the model
 * says.  By default only some candidates each, on all cores;
 * N=100000 explores to the end. */
static void explored_rows_agree(void **state)
{
	const char *path = *state;
	struct arena *arena = arena_open();
	const char *folder = shell_folder(arena);
	long budget = draws(1);
	struct ended ended = shell(arena,
		"$LXPLORE explore specs/arch/spyre32%s.yaml %s -q --format csv --budget %ld "
		"--simulate frontier --simulate-budget 10000000 %s -o %s",
		has_ranks(path) ? "x4" : "", path, budget, budget > 1 ? "" : "-c 32 --labels 0",
		folder);
	if (ended.status != 0 || ended.err[0])
		fail_msg("%s: status %d\n%s", path, ended.status, ended.err);
	int rows = 0;
	for (const char *line = strchr(ended.out, '\n'); line && line[1];
		line = strchr(line + 1, '\n')) {
		char cycles[32], sim[32], agrees[8];
		rows++;
		if (sscanf(line + 1,
			    "%*[^,],%31[^,],%*[^,],%*[^,],%*[^,],%*[^,],%*[^,],%*[^,],%*[^,],"
			    "%31[^,],%*[^,],%*[^,],%7[^,]",
			    cycles, sim, agrees) != 3)
			fail_msg("%s: a row that did not run: %s", path, line + 1);
		assert_string_equal(agrees, "true");
		assert_true(strtoll(sim, NULL, 10) >= strtoll(cycles, NULL, 10));
	}
	assert_true(rows > 0);
	shell_remove(folder);
	arena_close(arena);
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
					.initial_state = files.gl_pathv[i]};
	int failed = run_table("shipped", tests, count);
	free(tests);
	globfree(&files);
	return failed;
}
