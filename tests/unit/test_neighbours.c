#include "base/array.h"
#include "campaign/canon.h"
#include "model/machine/score.h"
#include "search/drive/solver.h"
#include "tests/support/folder.h"
#include "tests/support/nest_request.h"

#include <string.h>

#include "tests/test.h"

/*
 * Bounds that proofs of a campaign give each other: which points are neighbours, that bounds change no value, and that
 * a wrong one is found out.
 */
static const struct neighbour *point(const char *yaml)
{
	struct diag *diag = diag_open(arena);
	const struct node *root = node_read_text(arena, "p.yaml", yaml, strlen(yaml), diag);
	assert_non_null(root);
	return neighbour_make(arena, &root, 1);
}

#define POINT(glb, rf, rest)                                                                       \
	"architecture: {nodes: [{name: GLB, attributes: {depth: " glb ", width: 16}}, {name: RF, " \
	"attributes: {sizeKB: " rf "}}]}\n" rest

static void larger_storages_are_no_worse(void **state)
{
	struct neighbours *all = neighbours_open();
	neighbours_add(all, point(POINT("64", "4", "problem: {M: 4}")), 100);
	neighbours_add(all, point(POINT("128", "2", "problem: {M: 4}")), 90);
	const struct {
		const char *point;
		double ceiling;
	} rows[] = {
		{POINT("64", "4", "problem: {M: 4}"), 100},
		{POINT("96", "4.5", "problem: {M: 4}"), 100},
		{POINT("128", "4", "problem: {M: 4}"), 90},
		{POINT("128", "2", "sweep: {name: a}\nproblem: {M: 4}"), 90},
		{POINT("63", "9", "problem: {M: 4}"), 0},
		{POINT("128", "1", "problem: {M: 4}"), 0},
		{POINT("128", "4", "problem: {M: 5}"), 0},
		{POINT("\"128*1\"", "4", "problem: {M: 4}"), 0},
		{POINT("128", "4", "problem: {M: 4, depth: 3}"), 0},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_float_equal(
			neighbours_ceiling(all, point(rows[i].point)), rows[i].ceiling, 0);
	assert_null(point(POINT("64", "4", "constraints: [{min_utilization: 0.5}]")));
	assert_null(point(POINT("64", "4", "constraints: [{maximize_dims: [M]}]")));
	assert_null(point("problem: {M: 4}"));
	neighbours_close(all);
}

static struct nest_search request(const char *problem)
{
	static const char *const paths[] = {"specs/arch/eyeriss.yaml"};
	struct nest_search search = {.counting = COUNTING_EXACT,
		.wishes.objectives = {1, {OBJECTIVE_LATENCY}},
		.solver = solver_find(STAGE_MAP, "exact"),
		.wishes.simulate = SIMULATE_NONE,
		.wishes.seed = 1,
		.wishes.asker.jobs = 1};
	struct diag *diag = diag_open(arena);
	if (!nest_request_read(arena, diag, paths, 1, problem, &search))
		fail_msg("the request is wrong");
	return search;
}

static const char problem[] = "problem:\n"
			      "  shape:\n"
			      "    name: gemm\n"
			      "    dimensions: [M, N, K]\n"
			      "    data_spaces:\n"
			      "    - {name: Weights, projection: [M, K]}\n"
			      "    - {name: Inputs, projection: [K, N]}\n"
			      "    - {name: Outputs, projection: [M, N], read_write: true}\n"
			      "  instance: {M: 60, N: 42, K: 20}\n";

static int64_t least(const struct explored *explored)
{
	assert_true(explored->complete && explored->frontier.count == 1);
	return explored->frontier.points[0].score.cycles;
}

static void ceilings_change_no_value_and_wrong_ones_are_found_out(void **state)
{
	struct nest_search search = request(problem);
	struct explored plain = nest_explore(&search, arena);
	int64_t best = least(&plain);
	const double right[] = {(double)best, (double)best + 1, 2.0 * (double)best};
	for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
		search.wishes.ceiling = right[i];
		struct explored explored = nest_explore(&search, arena);
		assert_int_equal(least(&explored), best);
		assert_null(explored.complaint);
		assert_true(explored.effort.ticks <= plain.effort.ticks);
	}
	search.wishes.ceiling = (double)best - 1;
	struct explored wrong = nest_explore(&search, arena);
	assert_int_equal(least(&wrong), best);
	assert_non_null(wrong.complaint);
	assert_non_null(strstr(wrong.complaint, "a bound from elsewhere is wrong"));
}

static const char sweep[] = "sweep:\n"
			    "  name: sizes\n"
			    "  specs: [specs/arch/three_level.yaml, specs/problems/gemm_16.yaml]\n"
			    "  vary:\n"
			    "    problem.instance.M: [12, 15]\n"
			    "    architecture.GLB.sizeKB: [1, 2, 64]\n"
			    "    architecture.RF.depth: [4, 8, 64]\n"
			    "search: {objectives: [latency], solver: {map: exact}}\n";

static const char *values(const char *options)
{
	struct ended ended = folder_run(arena_format(arena,
		"rm -rf out && $program campaign run sweep.yaml --simulate none -q -o out %s && "
		"$program campaign export out | awk -F, '"
		"NR == 1 { for (i = 1; i <= NF; i++) "
		"if (i <= 5 || $i ~ /^(energy_pj|latency_cycles|proof|gap)$/) keep[n++] = i }\n"
		"{ for (k = 0; k < n; k++) printf \"%%s,\", $keep[k]; print \"\" }'",
		options));
	if (ended.status != 0)
		fail_msg("%s", ended.err);
	return ended.out;
}

static void campaigns_find_the_same_values(void **state)
{
	folder_put("sweep.yaml", sweep);
	assert_int_equal(folder_run("ln -s $OLDPWD/specs").status, 0);
	const char *alone = values("-j 1");
	assert_non_null(strstr(alone, "optimal"));
	assert_string_equal(values("-j 1 --neighbours"), alone);
	/* no proof contradicts that of a smaller machine */
	assert_null(strstr(folder_run("$program campaign export out --format json").out,
		"a bound from elsewhere"));
	assert_string_equal(values("-j 2 --neighbours"), alone);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_set_up, folder_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(larger_storages_are_no_worse),
		IN_FOLDER(ceilings_change_no_value_and_wrong_ones_are_found_out),
		IN_FOLDER(campaigns_find_the_same_values),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
