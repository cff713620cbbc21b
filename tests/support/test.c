#include "base/arena.h"
#include "tests/support/folder.h"

#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

/* The bounds of the sections, by the linker; NULL for a section that no file has. */
#define BOUND extern __attribute__((weak))
BOUND const struct test *const __start_tests[];
BOUND const struct test *const __stop_tests[];
BOUND const struct test_fixture *const __start_fixtures[];
BOUND const struct test_fixture *const __stop_fixtures[];

struct arena *test_arena;

static int open_arena(void **state)
{
	test_arena = arena_open();
	return 0;
}

static int close_arena(void **state)
{
	arena_close(test_arena);
	test_arena = NULL;
	return 0;
}

static void run_listed(void **state)
{
	const struct test *test = *state;
	test->run(test_arena);
}

static int compare_lines(const void *a, const void *b)
{
	const struct test *const *first = a, *const *second = b;
	return ((*first)->line > (*second)->line) - ((*first)->line < (*second)->line);
}

static const struct test_fixture *fixture_of(const char *file)
{
	for (const struct test_fixture *const *at = __start_fixtures; at < __stop_fixtures; at++)
		if (strcmp((*at)->file, file) == 0)
			return *at;
	return NULL;
}

static struct CMUnitTest listed_test(const struct test *test, bool shared)
{
	struct CMUnitTest listed = {
		.name = test->name, .test_func = run_listed, .initial_state = (void *)test};
	if (test->place == TEST_ARENA) {
		listed.setup_func = open_arena;
		listed.teardown_func = close_arena;
	} else if (test->place == TEST_FOLDER && !shared) {
		listed.setup_func = folder_set_up;
		listed.teardown_func = folder_tear_down;
	}
	return listed;
}

int test_file(const char *file)
{
	size_t most = (size_t)(__stop_tests - __start_tests), count = 0;
	const struct test_fixture *fixture = fixture_of(file);
	const struct test **own = calloc(most, sizeof *own);
	struct CMUnitTest *tests = calloc(most, sizeof *tests);
	for (size_t i = 0; i < most; i++)
		if (strcmp(__start_tests[i]->file, file) == 0)
			own[count++] = __start_tests[i];
	qsort(own, count, sizeof *own, compare_lines);
	for (size_t i = 0; i < count; i++)
		tests[i] = listed_test(own[i], fixture != NULL);
	int failed = count ? _cmocka_run_group_tests(file, tests, count,
				     fixture ? fixture->set_up : NULL,
				     fixture ? fixture->tear_down : NULL)
			   : 1;
	free(own);
	free(tests);
	return failed;
}
