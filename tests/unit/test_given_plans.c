/*
 * Plans that a user wrote or edited: every command checks them before it prices, executes or
 * compares them, and says at which line they are illegal.
 */
#include "base/arena.h"
#include "tests/support/folder.h"

#include <string.h>

#include "tests/test.h"

/* Two ops over two sticks; `division` is how the second is divided. */
static const char *put_pair(const char *name, const char *division)
{
	folder_put("pair.yaml", "workload:\n"
				"  name: pair\n"
				"  dimensions: {m: 4, n: 128}\n"
				"  ops:\n"
				"    - b[m,n] = exp(a[m,n])\n"
				"    - c[m,n] = exp(b[m,n])\n");
	return folder_put(name,
		arena_format(arena,
			"plan:\n"
			"  version: 1\n"
			"  workload: pair\n"
			"  architecture: spyre32\n"
			"  cores: 2\n"
			"  steps:\n"
			"  - {op: b, bundle: 0, mapping: \"core: n2\"}\n"
			"  - {op: c, bundle: 0, mapping: \"%s\"}\n"
			"  bundles:\n"
			"  - {bundle: 0, arguments: [a, c]}\n"
			"  tensors:\n"
			"    b:\n"
			"    - {where: LX, view: \"cores 2: dim 0 / 2 by 1\", address: 0, size: 512, "
			"from: 0, to: 2}\n"
			"    c:\n"
			"    - {where: HBM, from: 1, to: 2}\n",
			division));
}

static struct ended run(const char *words)
{
	return shell(arena, "$LXPLORE %s", words);
}

/* A core of the second op uses what lies on another: no count is printed, the line is. */
FOLDER_TEST(illegal_plans_have_no_score)
{
	static const struct {
		const char *command;
		int status;
	} rows[] = {{"score", 1}, {"simulate", 1}, {"check", 1}, {"score --explain", 1}};
	const char *good = put_pair("good.yaml", "core: n2");
	const char *bad = put_pair("bad.yaml", "undivided");
	const char *place = arena_format(arena,
		"%s:8:5: error: illegal plan: op 'c' on core 0 uses 0..1 of device dimension 0 of "
		"'b', whose slice there is 0..0\n"
		"    8 |   - {op: c, bundle: 0, mapping: \"undivided\"}\n",
		bad);
	const char *specs = arena_format(arena, "specs/arch/spyre32.yaml %s/pair.yaml", folder);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ended ended = run(
			arena_format(arena, "%s %s %s --format csv", rows[i].command, specs, good));
		assert_int_equal(ended.status, 0);
		ended = run(
			arena_format(arena, "%s %s %s --format csv", rows[i].command, specs, bad));
		assert_int_equal(ended.status, rows[i].status);
		assert_string_equal(ended.out, "");
		assert_non_null(strstr(ended.err, place));
	}
	struct ended ended = run(arena_format(arena, "diff %s %s %s", specs, good, bad));
	assert_int_equal(ended.status, 2);
	assert_string_equal(ended.out, "");
	assert_non_null(strstr(ended.err, place));
	ended = run(arena_format(arena, "explore %s %s -q --simulate none --budget 5 -o %s/out",
		specs, bad, folder));
	assert_int_equal(ended.status, 0);
	assert_non_null(strstr(ended.err, "warning: the search starts without this plan: op 'c'"));
}

/* 1: the plan was read and breaks a rule; 2: it cannot be read.  diff has 2 for both, since 1 says that plans differ. */
FOLDER_TEST(the_status_tells_illegal_from_unreadable)
{
	static const struct {
		const char *edit;
		int status;
	} rows[] = {
		{"s/address: 0,/address: 64,/", 1},      /* no multiple of a stick */
		{"s/address: 0,/address: 1625088,/", 1}, /* beyond the capacity */
		{"s/core: n2/core: m3/", 1},             /* divides no 4 rows */
		{"s/from: 0, to: 2/from: 0, to: 1/", 1}, /* ends before its reader */
		{"s/core: n2/core: z2/", 2},             /* no such loop */
		{"s/op: c/op: d/", 2},                   /* no such op */
		{"s/address: 0,/address: far,/", 2},     /* no number */
		{"s/op: c/op: d/; s/address: 0,/at: 64,/", 2},
	};
	const char *good = put_pair("good.yaml", "core: n2");
	const char *specs = arena_format(arena, "specs/arch/spyre32.yaml %s/pair.yaml", folder);
	static const char *const commands[] = {"score", "check", "simulate"};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		shell(arena, "sed '%s' %s >%s/edited.yaml", rows[i].edit, good, folder);
		for (size_t c = 0; c < sizeof commands / sizeof *commands; c++) {
			struct ended ended = run(arena_format(
				arena, "%s %s %s/edited.yaml", commands[c], specs, folder));
			if (ended.status != rows[i].status || *ended.out ||
				!strstr(ended.err, "edited.yaml:"))
				fail_msg("%s after %s: %d, %s", commands[c], rows[i].edit,
					ended.status, ended.err);
		}
		struct ended ended =
			run(arena_format(arena, "diff %s %s %s/edited.yaml", specs, good, folder));
		assert_int_equal(ended.status, 2);
	}
}

/* Messages count device dimensions, and check -v says what they are. */
FOLDER_TEST(device_dimensions_are_shown)
{
	put_pair("pair_plan.yaml", "core: n2");
	struct ended ended =
		run(arena_format(arena, "check -v specs/arch/spyre32.yaml %s/pair.yaml", folder));
	assert_int_equal(ended.status, 0);
	assert_non_null(strstr(
		ended.out, "\nb                     0: 2 of n/64  1: 4 of m  stick 2: 64 of n\n"));
}

FIXTURE(folder_set_up, folder_tear_down);
