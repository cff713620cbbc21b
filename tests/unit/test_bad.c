/*
 * Wrong input, and exactly what is said about it: tests/bad/NOUN.txt has good specs and changes of them, each with its
 * messages (tests/support/edits.h).  ACCEPT=1 (make accept) writes what is said now.
 */
#include "base/arena.h"
#include "tests/support/edits.h"

#include <glob.h>
#include <stdlib.h>

#include "tests/test.h"

enum { NOUNS_LEAST = 16 };

static void is_said_of_each_change(void **state)
{
	struct arena *arena = arena_open();
	edits_check(arena, *state);
	arena_close(arena);
}

int main(void)
{
	static const char *const variables[] = {
		"SENCORES", "LX_PLANNING", "DXP_LX_FRAC_AVAIL", "CO_OPTIMIZING_LX_PLANNING"};
	glob_t files;
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
		unsetenv(variables[i]);
	setenv("LC_ALL", "C", 1);
	if (glob("tests/bad/*.txt", 0, NULL, &files) != 0 || files.gl_pathc < NOUNS_LEAST)
		return 1;
	struct CMUnitTest *tests = calloc(files.gl_pathc, sizeof *tests);
	for (size_t i = 0; i < files.gl_pathc; i++)
		tests[i] = (struct CMUnitTest){.name = files.gl_pathv[i],
			.test_func = is_said_of_each_change,
			.initial_state = files.gl_pathv[i]};
	int failed = run_table("bad", tests, files.gl_pathc);
	free(tests);
	globfree(&files);
	return failed;
}
