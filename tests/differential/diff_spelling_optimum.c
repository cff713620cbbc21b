/*
 * The best mapping of an op is the same, written as a problem and as a workload, on machines that move
 * words: both have one mapspace, and map/exact proves its optimum.
 */
#include "base/arena.h"
#include "tests/support/draws.h"
#include "tests/support/folder.h"
#include "tests/support/spelling_case.h"

#include <stdio.h>
#include <string.h>

#include "tests/test.h"

/* The energy of the one point of an exploration; NULL: none was found. */
static const char *explore(const struct spelling_case *test, const char *op, const char *settings)
{
	const char *spec = arena_format(arena, "%s%s", test->machine, op);
	struct ended ended = shell(arena,
		"$LXPLORE explore %s --objective energy --simulate none %s -q -o %s > /dev/null && "
		"sed -n 2p %s/pareto.csv | cut -d, -f4",
		folder_put("spec.yaml", spec), settings, folder, folder);
	return ended.status == 0 ? ended.out : NULL;
}

/* Of small mapspaces, which are the same. */
static void both_have_the_same_optimum(void **state)
{
	uint64_t seed = draws_seed(25);
	long count = draws(600) / 20, compared = 0, all = count > 120 ? 120 : count;
	for (long i = 0; i < all; i++) {
		struct random random = random_open(seed, (uint64_t)i);
		struct spelling_case test = spelling_case_draw(arena, &random, false);
		if (strstr(test.machine, "name: Sd"))
			continue;
		const char *problem =
			explore(&test, test.problem, "--solver map=exact --budget 20000");
		if (!problem || !strstr(folder_text("pareto.csv"), ",optimal,"))
			continue;
		const char *workload = explore(&test, test.workload, "");
		assert_non_null(workload);
		if (strcmp(problem, workload) != 0)
			fprintf(stderr, "draw %ld: %s%s%s%s\n", i, problem, workload, test.machine,
				test.problem);
		assert_string_equal(problem, workload);
		compared++;
	}
	if (draws_are_many(count * 20))
		assert_true(compared > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			both_have_the_same_optimum, folder_set_up, folder_tear_down),
	};
	return cmocka_run_group_tests_name("spelling_optimum", tests, NULL, NULL);
}
