/*
 * Commands as users type them, and what they print: tests/commands/NAME.txt, and the examples of the pages of folders
 * of src and solvers.  ACCEPT=1 (make accept) writes what they print now.
 */
#include "base/arena.h"
#include "tests/support/draws.h"
#include "tests/support/transcript.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

enum { COMMANDS_LEAST = 12, PAGES_LEAST = 20, FILES_MOST = 100 };

static void prints_what_is_written(void **state)
{
	struct arena *arena = arena_open();
	transcript_check(arena, *state);
	arena_close(arena);
}

/* Adds the files of a pattern to the tests, one of so many. */
static size_t add_files(const char *pattern, size_t step, struct CMUnitTest *tests, size_t count)
{
	glob_t files;
	if (glob(pattern, 0, NULL, &files) != 0)
		return count;
	for (size_t i = 0; i < files.gl_pathc && count < FILES_MOST; i += step)
		tests[count++] = (struct CMUnitTest){.name = strdup(files.gl_pathv[i]),
			.test_func = prints_what_is_written,
			.initial_state = strdup(files.gl_pathv[i])};
	globfree(&files);
	return count;
}

int main(void)
{
	static struct CMUnitTest tests[FILES_MOST];
	setenv("LC_ALL", "C", 1);
	unsetenv("SENCORES");
	size_t step = (size_t)draws_apart(1);
	/* A thinned run with a sanitizer takes a quarter of the commands: what they print is compared without one. */
	size_t apart = draws_skip_searches() ? 4 : 1;
	size_t count = add_files("tests/commands/*.txt", apart, tests, 0);
	size_t pages = add_files("src/*/README.md", step, tests, count);
	pages = add_files("solvers/*/README.md", step, tests, pages);
	if (count * apart < COMMANDS_LEAST || (pages - count) * step < PAGES_LEAST ||
		pages == FILES_MOST)
		return 1;
	return run_table("transcripts", tests, pages);
}
