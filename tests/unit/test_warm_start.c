/*
 * A mapping from elsewhere is where a search starts: a plan of an earlier run, one in the form that
 * timeloop-mapper writes, a line.  The result is never worse, and fewer candidates are evaluated; a
 * file that cannot start a search is reported with the reason.
 */
#include "base/arena.h"
#include "tests/support/folder.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

#define SPECS                                                                                      \
	"specs/arch/three_level.yaml specs/problems/gemm_16.yaml specs/constraints/keep_all.yaml"

/* The best one of SPECS, as timeloop-mapper would write it. */
static const char best[] = "mapping:\n"
			   "  - target: RF\n"
			   "    type: datatype\n"
			   "    keep:\n"
			   "      - A\n"
			   "      - B\n"
			   "      - Z\n"
			   "    bypass:\n"
			   "      []\n"
			   "  - target: RF\n"
			   "    type: temporal\n"
			   "    factors: M8 N1 K4\n"
			   "    permutation: MKN\n"
			   "  - target: PE\n"
			   "    type: spatial\n"
			   "    factors: M1 N1 K4\n"
			   "    permutation: KMN\n"
			   "    split: 1\n"
			   "  - target: GLB\n"
			   "    type: temporal\n"
			   "    factors: M1 N16 K1\n"
			   "    permutation: NMK\n"
			   "  - target: DRAM\n"
			   "    type: temporal\n"
			   "    factors: M2 N1 K1\n"
			   "    permutation: MNK\n";

#define BEST "DRAM: M2 | GLB: N16 | PE: K4 | RF: K4 M8"

static struct ended explore(const char *words)
{
	return shell(
		arena, "$LXPLORE explore " SPECS " %s -q --objective edp -o %s", words, folder);
}

static int64_t evaluated(void)
{
	json_t *root = json_loads(folder_text("run.json"), 0, NULL);
	json_t *counters = json_object_get(root, "counters");
	int64_t count = json_integer_value(json_object_get(counters, "evaluated"));
	json_decref(root);
	return count;
}

FOLDER_TEST(what_timeloop_wrote_is_where_the_search_starts)
{
	const char *path = folder_put("timeloop-mapper.map.yaml", best);
	struct ended ended =
		explore(arena_format(arena, "%s --solver map=random --budget 1", path));
	assert_int_equal(ended.status, 0);
	assert_string_equal(ended.err, "");
	assert_non_null(strstr(folder_text("pareto.csv"), ",start," BEST ","));
	assert_non_null(strstr(folder_text("run.json"), "\"start\": \"" BEST "\""));
}

FOLDER_TEST(a_plan_of_an_earlier_run_prunes)
{
	static const char proven[] = ",optimal,0,";
	assert_int_equal(explore("--solver map=exact").status, 0);
	int64_t cold = evaluated();
	const char *plan = folder_put("earlier.yaml", folder_text("plans/point-001.yaml"));
	assert_non_null(strstr(folder_text("pareto.csv"), proven));
	struct ended ended = explore(arena_format(arena, "%s --solver map=exact", plan));
	assert_int_equal(ended.status, 0);
	assert_string_equal(ended.err, "");
	assert_non_null(strstr(folder_text("pareto.csv"), proven));
	assert_true(evaluated() < cold);
}

/* Whatever the mapping and the solver, the result is no worse. */
FOLDER_TEST(the_result_is_no_worse)
{
	static const char *const lines[] = {"DRAM: M16 N16 K16",
		"DRAM: M2 | GLB: N16 | PE: K4 | RF: M8 K4", "GLB: M4 K16 | PE: N4 | RF: N4 M4",
		"DRAM: K2 | GLB: M16 N4 | PE: N4 | RF: K8"};
	static const char *const solvers[] = {
		"linear --budget 9", "random --budget 9", "exact --budget 9"};
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		const char *path =
			folder_put("line.yaml", arena_format(arena, "mapping: \"%s\"\n", lines[i]));
		struct ended score = shell(arena, "$LXPLORE score " SPECS " %s", path);
		assert_int_equal(score.status, 0);
		json_t *root = json_loads(score.out, 0, NULL);
		double edp = json_real_value(json_object_get(root, "energy_pj")) *
			     (double)json_integer_value(json_object_get(root, "cycles"));
		json_decref(root);
		for (size_t s = 0; s < sizeof solvers / sizeof *solvers; s++) {
			assert_int_equal(
				explore(arena_format(arena, "%s --solver map=%s", path, solvers[s]))
					.status,
				0);
			char *row = strchr(arena_text(arena, folder_text("pareto.csv")), '\n') + 1;
			for (int column = 0; column < 4; column++)
				row = strchr(row, ',') + 1;
			assert_true(atof(row) <= edp);
		}
	}
}

static void expect_warning(const char *text, const char *warning)
{
	struct ended ended = explore(arena_format(
		arena, "%s --solver map=random --budget 9", folder_put("bad.yaml", text)));
	assert_int_equal(ended.status, 0);
	if (!strstr(ended.err, warning))
		fail_msg("no '%s' in\n%s", warning, ended.err);
	assert_null(strstr(folder_text("pareto.csv"), ",false,"));
}

FOLDER_TEST(what_cannot_start_is_told)
{
	expect_warning("mapping: \"DRAM: M2 | GLB: N16 | PE: K4 | RF: M8 K4 | keep DRAM,RF: A\"\n",
		"bad.yaml:1:10: warning: the search starts without this mapping: "
		"specs/constraints/keep_all.yaml:");
	expect_warning("mapping: \"GLB: N16 | PE: K4 | RF: M16 K4\"\n",
		"the search starts without this mapping: the tiles at 'RF' take 84 words; it holds 64");
	expect_warning("mapping: \"DRAM: M3 | GLB: N16 | PE: K4 | RF: K4 M=6,4\"\n",
		"the search starts without this mapping: the factors of dimension M do not divide");
	expect_warning("mapping: \"DRAM: M2 | GLB: N2 | PE: N8 | RF: M8 K16\"\n",
		"the search starts without this mapping: ");
	expect_warning("mapping:\n"
		       "- {target: DRAM, type: temporal, factors: M=2}\n"
		       "- {target: GLB, type: temporal, factors: N=16}\n"
		       "- {target: PE, type: spatial, factors: K=4, no_reuse: [A]}\n"
		       "- {target: RF, type: temporal, factors: M=8 K=4}\n",
		"bad.yaml:2:1: warning: flags in the mapping (no_reuse, ");
}

FOLDER_TEST(what_is_no_mapping_is_an_error)
{
	struct ended ended = explore(folder_put("bad.yaml", "mapping: \"DRAM: M2 | GLB: N16\"\n"));
	assert_int_equal(ended.status, 2);
	assert_non_null(strstr(ended.err, "error: "));
}

FIXTURE(folder_set_up, folder_tear_down);
