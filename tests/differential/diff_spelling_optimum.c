/*
 * The best mappings of an op are the same, written as a problem and as a workload, on machines that move
 * words: both have one mapspace, and map/exact proves its frontier, of either.
 */
#include "base/arena.h"
#include "base/text.h"
#include "tests/support/csv.h"
#include "tests/support/draws.h"
#include "tests/support/folder.h"
#include "tests/support/spelling_case.h"

#include <stdio.h>
#include <string.h>

#include "tests/test.h"

/* Returns the frontier of an exploration, and its statement of the proof. */
static const char *explore(const char *machine, const char *op, const char *settings)
{
	static const char *const columns[] = {
		"latency_cycles", "energy_pj", "edp", "hbm_bytes", "proof", "gap"};
	const char *spec = arena_format(arena, "%s%s", machine, op);
	struct ended ended =
		shell(arena, "$LXPLORE explore %s --solver map=exact --simulate none %s -q -o %s",
			folder_put("spec.yaml", spec), settings, folder);
	if (ended.status != 0)
		return NULL;
	const char *csv = folder_text("pareto.csv");
	struct text text = text_open(arena);
	for (int row = 1; csv_cell(arena, csv, row, "proof"); row++)
		for (int i = 0; i < 6; i++)
			text_add(&text, "%s%s", csv_cell(arena, csv, row, columns[i]),
				i < 5 ? " " : "\n");
	return text_read(&text);
}

enum { TICKS = 20000 }; /* of a problem's proof: other mapspaces are too large to compare */

/* 1: both have the same proven frontier; 0: they have not; -1: the problem's cannot be proven soon. */
static int compare(const struct spelling_case *test, const char *machine, const char *objectives)
{
	const char *problem = explore(test->machine, test->problem,
		arena_format(arena, "%s --budget %d", objectives, TICKS));
	if (!problem || !strstr(problem, " optimal "))
		return -1;
	const char *workload = explore(machine, test->workload, objectives);
	if (workload && strcmp(problem, workload) == 0)
		return 1;
	if (machine == test->machine)
		fprintf(stderr, "%s: %s%s%s%s\n", objectives, problem,
			workload ? workload : "nothing\n", test->machine, test->problem);
	return 0;
}

/* Small mapspaces, which are the same: each objective alone, and all of them. */
FOLDER_TEST(both_have_the_same_optimum)
{
	static const char *const asked[] = {"--objective latency", "--objective energy",
		"--objective edp", "--objective latency,energy,hbm_bytes"};
	uint64_t seed = draws_seed(25);
	long count = draws(320) / 20, compared = 0, all = count > 120 ? 120 : count;
	for (long i = 0; i < all; i++) {
		struct random random = random_open(seed, (uint64_t)i);
		struct spelling_case test = spelling_case_draw(arena, &random, false);
		if (strstr(test.machine, "name: Sd"))
			continue;
		for (int k = 0; k < 4; k++) {
			int same = compare(&test, test.machine, asked[k]);
			assert_int_not_equal(same, 0);
			compared += same == 1;
		}
	}
	if (draws_are_many(count * 20))
		assert_true(compared > 20);
}

/* The two machines differ in the energy of an access. */
FOLDER_TEST(another_machine_is_told_apart)
{
	static const char key[] = "vector_access_energy: ";
	long seen = 0, compared = 0;
	for (long i = 0; i < 12; i++) {
		struct random random = random_open(25, (uint64_t)i);
		struct spelling_case test = spelling_case_draw(arena, &random, false);
		const char *at = strstr(test.machine, key);
		const char *other = arena_format(arena, "%.*s%s9%s", (int)(at - test.machine),
			test.machine, key, at + strlen(key));
		if (strstr(test.machine, "name: Sd"))
			continue;
		int same = compare(&test, other, "--objective energy");
		compared += same >= 0;
		seen += same == 0;
	}
	assert_true(compared > 2 && seen == compared);
}
