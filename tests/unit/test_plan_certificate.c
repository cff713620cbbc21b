#include "base/arena.h"
#include "base/text.h"
#include "tests/support/folder.h"

#include <stdio.h>
#include <string.h>

#include "tests/test.h"

/*
 * Proven plans as a user meets them: explore writes what is proven into the plan, check finds out whether it
 * holds, and the joint search can be written as an integer program.
 */
#define SPECS "specs/arch/spyre32_published.yaml specs/workloads/softmax_dim0.yaml"

static struct ended check(const char *name, const char *how)
{
	return shell(arena, "$LXPLORE check " SPECS " --certificate %s/%s %s", folder, name, how);
}

/* The plan with a change. */
static void change(const char *from, const char *to)
{
	const char *plan = folder_text("plan.yaml"), *at = strstr(plan, from);
	assert_non_null(at);
	folder_put("changed.yaml",
		arena_format(arena, "%.*s%s%s", (int)(at - plan), plan, to, at + strlen(from)));
}

FOLDER_TEST(what_a_plan_says_is_checked)
{
	static const struct {
		const char *from, *to, *how;
		int status;
		const char *told;
	} changes[] = {
		{"bound: 22543", "bound: 22544", "", 1, "the bound is above the value"},
		{"value: 22543, bound: 22543", "value: 22542, bound: 22542", "", 1,
			"the plan is worth 22543, not 22542"},
		{"status: optimal", "status: bound", "", 0, "certificate  holds"},
		{"tiles by published", "tiles by guess", "", 1, "at 'guess"},
		{" bytes of LX", "0 bytes of LX", "", 1, "bytes of LX, these settings leave"},
		{"value: 22543, bound: 22543", "value: 22543, bound: 22000", "", 1,
			"it is called optimal, but the bound is below the value"},
		{"status: optimal", "status: none}\n#", "", 1,
			"the plan claims no proof; add 'proof:' or run explore"},
		{"status: optimal", "status: optimal", "--budget 2", 3, "undecided"},
	};
	struct ended explored = shell(arena,
		"$LXPLORE explore " SPECS " --solver joint=ilp --price bound --tiles published "
		"--objective latency --simulate none --write-lp %s/program.lp -q -o %s/out && cp "
		"%s/out/plans/*.yaml %s/plan.yaml",
		folder, folder, folder, folder);
	if (explored.status != 0)
		fail_msg("%s", explored.err);
	assert_non_null(strstr(folder_text("program.lp"), "\nMinimize\n"));
	struct ended ended = check("plan.yaml", "");
	if (ended.status != 0 || !strstr(ended.out, "certificate  holds"))
		fail_msg("%s%s", ended.out, ended.err);
	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
		change(changes[i].from, changes[i].to);
		ended = check("changed.yaml", changes[i].how);
		if (ended.status != changes[i].status ||
			!(strstr(ended.out, changes[i].told) || strstr(ended.err, changes[i].told)))
			fail_msg("%s: status %d: %s%s", changes[i].to, ended.status, ended.out,
				ended.err);
	}
}

FOLDER_TEST(what_is_no_plan_is_refused)
{
	struct ended ended = shell(arena,
		"printf 'plan: 7' > %s/plan.yaml; $LXPLORE check " SPECS
		" --certificate %s/plan.yaml",
		folder, folder);
	assert_int_equal(ended.status, 2);
	ended = shell(arena,
		"$LXPLORE check specs/arch/eyeriss.yaml specs/problems/resnet50_3x3.yaml "
		"--certificate %s/plan.yaml",
		folder);
	assert_int_equal(ended.status, 2);
}
