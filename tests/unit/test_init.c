/*
 * Files that `lxplore init` writes can be checked, explored and swept as they are; existing files
 * stay unchanged.
 */
#include "base/arena.h"
#include "tests/support/draws.h"
#include "tests/support/folder.h"

#include <string.h>

#include "tests/test.h"

static void expect(const char *command, int status, const char *err)
{
	struct ended ended = folder_run(command);
	if (ended.status != status || !strstr(ended.err, err))
		fail_msg("%s: status %d\n%s%s", command, ended.status, ended.out, ended.err);
}

FOLDER_TEST(the_starter_set_is_complete)
{
	struct ended ended = folder_run("\"$program\" init new/mine/");
	assert_int_equal(ended.status, 0);
	assert_string_equal(ended.out,
		"new/mine/arch.yaml\nnew/mine/workload.yaml\nnew/mine/constraints.yaml\n"
		"new/mine/search.yaml\nnew/mine/sweep/sweep.yaml\n");
	expect("\"$program\" check new/mine", 0, "");
	/* Thinned, with a few candidates. */
	const char *most = draws_apart(1) > 1 ? "--budget 5 --labels 1000" : "";
	expect(arena_format(arena, "\"$program\" explore new/mine %s -o out", most), 0,
		"on the frontier");
	assert_true(folder_has("out/plans/point-001.yaml"));
	expect("\"$program\" campaign run new/mine/sweep -q --budget 3 --labels 0 -o swept && "
	       "\"$program\" campaign status swept | grep -q 'found 9, impossible 0, wrong 0'",
		0, "");
	expect("grep -c '#' new/mine/arch.yaml new/mine/workload.yaml new/mine/constraints.yaml "
	       "new/mine/search.yaml new/mine/sweep/sweep.yaml | grep -q ':0$'",
		1, "");
}

FOLDER_TEST(nothing_is_overwritten)
{
	folder_put("search.yaml", "search: {seed: 7}\n");
	expect("\"$program\" init", 2,
		"lxplore: error: './search.yaml' exists already, and init overwrites nothing; name another folder\n");
	assert_string_equal(folder_text("search.yaml"), "search: {seed: 7}\n");
	assert_false(folder_has("arch.yaml"));
	expect("ln -s nowhere link.yaml; mkdir linked; ln -s nowhere linked/workload.yaml; "
	       "\"$program\" init linked",
		2, "'linked/workload.yaml' exists already");
	expect("\"$program\" init a b", 2, "init needs one folder");
	expect("\"$program\" init ''", 2, "the name of the folder is empty");
	expect("\"$program\" init search.yaml/x", 4, "lxplore: 'search.yaml' is not a folder");
}
