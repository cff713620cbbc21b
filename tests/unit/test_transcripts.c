/*
 * Commands as users type them, and what they print: tests/commands/NAME.txt, and the examples of the pages of folders
 * of src and solvers.  ACCEPT=1 (make accept) writes what they print now.
 */
#include "base/arena.h"
#include "tests/support/draws.h"
#include "tests/support/transcript.h"

#include <glob.h>
#include <stdlib.h>

#include "tests/test.h"

enum { PAGES_LEAST = 20 };

static void prints_what_is_written(void **state)
{
	struct arena *arena = arena_open();
	transcript_check(arena, *state);
	arena_close(arena);
}

int main(void)
{
	glob_t files;
	setenv("LC_ALL", "C", 1);
	unsetenv("SENCORES");
	if (glob("tests/commands/*.txt", 0, NULL, &files) != 0 ||
		glob("src/*/README.md", GLOB_APPEND, NULL, &files) != 0 ||
		glob("solvers/*/README.md", GLOB_APPEND, NULL, &files) != 0 ||
		files.gl_pathc < PAGES_LEAST)
		return 1;
	struct CMUnitTest *tests = calloc(files.gl_pathc, sizeof *tests);
	size_t count = 0;
	for (size_t i = 0; i < files.gl_pathc; i += (size_t)draws_apart(1))
		tests[count++] = (struct CMUnitTest){.name = files.gl_pathv[i],
			.test_func = prints_what_is_written,
			.initial_state = files.gl_pathv[i]};
	int failed = run_table("transcripts", tests, count);
	free(tests);
	globfree(&files);
	return failed;
}
