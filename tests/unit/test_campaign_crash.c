#include "base/arena.h"
#include "tests/support/folder.h"

#include <string.h>

#include "tests/test.h"

/*
 * Points that take the program with them: the solver `crash` of lxplore_toys dies of SIGSEGV, abort() and a stack
 * that has run out, by the first dimension.  The campaign goes on by itself, and tries each such point once.
 */
static const char sweep[] = "sweep:\n"
			    "  name: crashing\n"
			    "  specs: [specs/arch/three_level.yaml, specs/problems/gemm_16.yaml]\n"
			    "  vary:\n"
			    "    search.solver.map: [crash, random]\n"
			    "    problem.instance.M: [4, 8, 16]\n"
			    "search: {budget: 200}\n";

static struct ended campaign(const char *words)
{
	return folder_run(
		arena_format(arena, "$(dirname $program)/tests/lxplore_toys campaign %s", words));
}

static int set_up(void **state)
{
	folder_set_up(state);
	folder_put("sweep.yaml", sweep);
	return folder_run("ln -s $OLDPWD/specs").status;
}

static void crashed_points_do_not_stop_the_others(void **state)
{
	struct ended ended = campaign("run sweep.yaml -o out -j 2");
	assert_int_equal(ended.status, 4);
	assert_non_null(strstr(ended.err, "3 of the points took the program down"));
	const char *rows = campaign("export out | cut -d , -f 1,3-5 | sort -u").out;
	assert_string_equal(rows, "1,crash,4,crashed\n2,crash,8,crashed\n3,crash,16,crashed\n"
				  "4,random,4,found\n5,random,8,found\n6,random,16,found\n"
				  "point,search.solver.map,problem.instance.M,status\n");
	const char *json = campaign("export out --format json").out;
	assert_non_null(strstr(json, "ended by signal 11"));
	assert_non_null(strstr(json, "ended by signal 6"));
	assert_non_null(strstr(campaign("status out").out, "\ncrashed 3\n"));
	assert_false(folder_has("out/campaign.crashed"));
}

static void they_are_tried_again_on_demand_alone(void **state)
{
	campaign("run sweep.yaml -q -o out");
	const char *before = campaign("export out --format json").out;
	struct ended ended = campaign("run sweep.yaml -o out");
	assert_int_equal(ended.status, 4);
	assert_null(strstr(ended.err, "the others go on"));
	assert_non_null(strstr(ended.err, "6 of 6 done, 0 of them now"));
	ended = campaign("run sweep.yaml --retry -o out");
	assert_int_equal(ended.status, 4);
	assert_non_null(strstr(ended.err, "1 point took the program down"));
	assert_string_equal(campaign("export out --format json").out, before);
	/* mended */
	assert_int_equal(folder_run("sed -i s/crash,/toy,/ sweep.yaml").status, 0);
	assert_int_equal(campaign("run sweep.yaml -q -o out").status, 0);
	assert_null(strstr(campaign("export out").out, "crashed"));
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, folder_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(crashed_points_do_not_stop_the_others),
		IN_FOLDER(they_are_tried_again_on_demand_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
