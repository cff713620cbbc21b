#include "base/arena.h"
#include "base/text.h"
#include "tests/support/csv.h"
#include "tests/support/folder.h"

#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

/*
 * A solver, and a kind of input, is one file: the program lxplore_toys is lxplore and tests/toys/, a
 * solver named `toy` in each stage and a kind `toy`, which nothing else of it knows.
 */
#define TOYS "$(dirname $LXPLORE)/tests/lxplore_toys "
#define GRAPH "specs/arch/spyre32.yaml specs/workloads/softmax_dim0.yaml"
/* On a machine whose values no measurement moves: the number of rounds depends on them. */
#define PUBLISHED_GRAPH "specs/arch/spyre32_published.yaml specs/workloads/softmax_dim0.yaml"

/* The frontier of an exploration in which it takes part. */
static const char *explore(const char *words)
{
	struct ended ended = shell(arena, TOYS "explore -q --format csv -o %s %s", folder, words);
	if (ended.status != 0)
		fail_msg("%s: %s", words, ended.err);
	return ended.out;
}

/* Every point is its. */
static void expect_all(const char *csv, const char *solver)
{
	assert_non_null(csv_cell(arena, csv, 1, "solver"));
	for (int row = 1; csv_cell(arena, csv, row, "solver"); row++)
		assert_string_equal(csv_cell(arena, csv, row, "solver"), solver);
}

static long first(const char *csv, const char *column)
{
	return strtol(csv_cell(arena, csv, 1, column), NULL, 10);
}

FOLDER_TEST(every_stage_lists_one)
{
	static const char *const stages[] = {
		"divide", "place", "map", "joint", "project", "broadcast", "scatter"};
	struct ended ended = shell(arena, TOYS "list solvers");
	assert_int_equal(ended.status, 0);
	for (size_t s = 0; s < sizeof stages / sizeof *stages; s++)
		assert_non_null(strstr(ended.out, arena_format(arena, "\n%s/toy ", stages[s])));
	assert_null(strstr(shell(arena, "$LXPLORE list solvers").out, "toy"));
}

/* All ops on one core; no other solver divides. */
FOLDER_TEST(a_graph_is_divided_by_it)
{
	const char *csv =
		explore(GRAPH " --simulate none --solver divide=toy --solver place=greedy");
	expect_all(csv, "divide/toy place/greedy");
	for (int row = 1; csv_cell(arena, csv, row, "cores"); row++)
		assert_string_equal(csv_cell(arena, csv, row, "cores"), "1");
}

static long offered(void)
{
	const char *at = strstr(folder_text("run.json"), "\"offered\": ");
	assert_non_null(at);
	return strtol(at + 11, NULL, 10);
}

/* The enumeration begins with the divisions of toy, although toy is named last. */
FOLDER_TEST(other_divisions_begin_with_its_own)
{
	const char *csv =
		explore(GRAPH " --simulate none --solver divide=exhaustive --solver divide=toy "
			      "--solver place=greedy --cores 4");
	assert_null(strstr(csv, "spyre"));
	assert_in_range(offered(), 20, 1000);
}

/* One buffer, the largest, from address 0. */
FOLDER_TEST(a_graph_is_placed_by_it)
{
	const char *words = GRAPH " --solver place=toy --solver divide=toy --objective latency";
	const char *csv = explore(words);
	expect_all(csv, "divide/toy place/toy");
	assert_int_equal(first(csv, "lx_peak_bytes"), 512 * 1024 * 2);
}

FOLDER_TEST(a_packing_is_placed_by_it)
{
	folder_put("b.csv", "id,lower,upper,size\na,0,4,8\nb,0,4,16\n");
	struct ended ended = shell(arena,
		TOYS "place %s/b.csv --capacity 64 --spill --solver toy --format csv", folder);
	assert_int_equal(ended.status, 0);
	assert_non_null(strstr(ended.out, "b,0,4,16,0"));
	assert_non_null(strstr(ended.out, "a,0,4,8,\n"));
}

/* It starts from the published division, and the first op runs on one core. */
FOLDER_TEST(a_graph_is_divided_and_placed_jointly_by_it)
{
	const char *words = GRAPH " --solver joint=toy --solver place=greedy --cores 4";
	const char *csv = explore(words);
	expect_all(csv, "joint/toy place/greedy");
	assert_non_null(strstr(folder_text("plans/point-001.yaml"), "joint/toy"));
	struct ended ended = shell(arena, TOYS "score %s", words);
	assert_int_equal(ended.status, 0);
	struct ended without = shell(arena, TOYS "score " GRAPH " --solver place=greedy --cores 4");
	assert_string_not_equal(ended.out, without.out);
}

/* Two clone settings with each of them. */
/* A plan for each objective, each with its bound; no other solver runs. */
FOLDER_TEST(a_graph_is_planned_as_a_whole_by_it)
{
	const char *csv = explore(GRAPH " --solver joint=toy_plan");
	expect_all(csv, "joint/toy_plan");
	assert_string_equal(csv_cell(arena, csv, 1, "proof"), "bound");
	assert_non_null(strstr(folder_text("plans/point-001.yaml"), "joint/toy_plan"));
	assert_null(strstr(folder_text("plans/point-001.yaml"), "where: LX"));
}

FOLDER_TEST(who_is_named_is_asked_beside_a_joint_solver)
{
	explore(PUBLISHED_GRAPH
		" --simulate none --solver joint=toy --solver place=toy --solver place=greedy "
		"--cores 4 --price bound");
	assert_int_equal(offered(), 4);
}

FOLDER_TEST(a_problem_is_mapped_by_it)
{
	const char *csv = explore("specs/arch/three_level.yaml specs/problems/gemm_16.yaml "
				  "--solver map=toy --objective hbm_bytes");
	expect_all(csv, "map/toy");
}

FOLDER_TEST(a_recurrence_is_projected_by_it)
{
	const char *csv = explore("specs/space_time/matmul.yaml --solver project=toy");
	expect_all(csv, "project/toy");
	assert_string_equal(csv_cell(arena, csv, 1, "mapping"),
		"allocation: [[1, 0, 0], [0, 1, 0]], schedule: [[1, 1, 2]]");
}

FOLDER_TEST(a_tensor_is_broadcast_and_scattered_by_it)
{
	expect_all(explore("specs/broadcasts/weights_16MiB.yaml --solver broadcast=toy "
			   "--objective rounds --budget 2"),
		"broadcast/toy");
	folder_put("scatter.yaml", "broadcast:\n"
				   "  name: rows\n"
				   "  op: 'tscatter %group, %src : (!pto.group<8, 256x1024xf16>, "
				   "!pto.memref<2048x1024xf16>)'\n"
				   "  tile: {rows: 32, cols: 1024}\n");
	expect_all(explore(arena_format(arena, "%s/scatter.yaml --solver scatter=toy", folder)),
		"scatter/toy");
}

/* A named solver that cannot answer is refused. */
FOLDER_TEST(a_second_solver_is_asked_or_refused)
{
	static const char *const one[] = {
		"explore specs/arch/three_level.yaml specs/problems/gemm_16.yaml "
		"--solver map=toy --solver map=random",
		"explore specs/space_time/matmul.yaml --solver project=toy "
		"--solver project=exhaustive",
		"place b.csv --capacity 9 --solver toy --solver greedy"};
	for (size_t i = 0; i < sizeof one / sizeof *one; i++) {
		struct ended ended = shell(arena, TOYS "%s", one[i]);
		assert_int_equal(ended.status, 2);
		assert_non_null(strstr(ended.err, "one solver"));
	}
	const char *both = explore("specs/broadcasts/weights_16MiB.yaml --solver broadcast=toy "
				   "--solver broadcast=chain --simulate none "
				   "--objective latency,rounds,buffer_bytes,link_bytes");
	assert_non_null(strstr(both, "broadcast/chain"));
	assert_null(strstr(both, "broadcast/binomial"));
}

FOLDER_TEST(one_plan_is_made_by_one_solver_of_each_stage)
{
	struct ended ended = shell(arena, TOYS "score " GRAPH " --solver divide=toy");
	assert_int_equal(ended.status, 0);
	assert_non_null(strstr(ended.out, "\"cores\": 1"));
	ended = shell(arena, TOYS "score " GRAPH " --solver divide=exhaustive");
	assert_int_equal(ended.status, 1);
	assert_non_null(strstr(ended.err,
		"divide/exhaustive divides one op of a plan at a time; only explore asks it"));
	ended = shell(arena, TOYS "score " GRAPH " --solver place=toy --solver place=greedy");
	assert_int_equal(ended.status, 1);
	assert_non_null(strstr(ended.err, "one solver of each stage"));
}

/* A kind of input is one file: its key is recognised, its numbers are explored, results are written. */
FOLDER_TEST(a_kind_is_recognised_explored_and_written)
{
	folder_put("toy.yaml", "toy: {count: 20}\nsearch: {step: 2, objectives: [latency]}\n");
	const char *spec = arena_format(arena, "%s/toy.yaml", folder);
	const char *csv = explore(spec);
	assert_string_equal(csv, "point,cycles,hbm_bytes\n1,2,18\n");
	assert_string_equal(folder_text("pareto.csv"), csv);
	assert_string_equal(folder_text("plans/point-001.yaml"), "number: 018\n");
	assert_non_null(strstr(folder_text("run.json"), "\"offered\": 10"));
	csv = explore(arena_format(arena, "%s --step 7 --objective hbm_bytes --seed 3", spec));
	assert_string_equal(csv, "point,cycles,hbm_bytes\n1,20,0\n");
	struct ended ended = shell(arena, TOYS "explore %s -o %s", spec, folder);
	assert_non_null(strstr(ended.err, "1 on the frontier, 0 proven"));
	assert_non_null(strstr(shell(arena, TOYS "list kinds").out, "toy"));
	assert_null(strstr(shell(arena, "$LXPLORE list kinds").out, "toy"));
}

/* A solver refuses settings of other kinds, and other kinds refuse its own. */
FOLDER_TEST(settings_of_a_kind_are_its_own)
{
	folder_put("toy.yaml", "toy: {count: 20}\n");
	struct ended ended = shell(arena, TOYS "explore %s/toy.yaml --epsilon 1", folder);
	assert_int_equal(ended.status, 2);
	assert_non_null(strstr(
		ended.err, "error: '--epsilon' is for problems and networks; this is a toy"));
	ended = shell(arena, TOYS "explore " GRAPH " --step 3 -o %s", folder);
	assert_int_equal(ended.status, 2);
	assert_non_null(strstr(ended.err, "error: '--step' is for toys; this is a workload graph"));
	ended = shell(arena, TOYS "score %s/toy.yaml", folder);
	assert_int_equal(ended.status, 2);
	assert_non_null(strstr(ended.err, "error: a toy has no score"));
	assert_non_null(strstr(shell(arena, TOYS "explore --help").out, "--step N"));
	assert_non_null(strstr(shell(arena, TOYS "manual bash").out, "--step"));
	ended = shell(arena, "$LXPLORE explore %s/toy.yaml", folder);
	assert_int_equal(ended.status, 2);
	assert_non_null(strstr(ended.err, "error: unknown key 'toy' at the top of the file"));
}
