/* Graphs of one op, explored to the end, and ops whose array is described. */
#include "base/arena.h"
#include "tests/support/csv.h"
#include "tests/support/folder.h"

#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

static const char product[] = "workload:\n"
			      "  name: mm\n"
			      "  dimensions: {m: 64, n: 128, k: 128}\n"
			      "  ops: ['c[m,n] = sum(k) a[m,k] * b[k,n]']\n";

static const char *explore(const char *machine, const char *options)
{
	struct ended ended =
		shell(arena, "$LXPLORE explore specs/arch/%s.yaml %s %s --simulate none -q -o %s",
			machine, folder_put("mm.yaml", product), options, folder);
	assert_int_equal(ended.status, 0);
	return folder_text("pareto.csv");
}

static void the_frontier_of_one_op_is_proven(void **state)
{
	const char *csv = explore("spyre32", "");
	int rows = 0;
	for (int row = 1; csv_cell(arena, csv, row, "plan"); row++, rows++)
		assert_string_equal(csv_cell(arena, csv, row, "proof"), "optimal");
	assert_true(rows > 1);
	csv = explore("spyre32", "--budget 20");
	assert_string_equal(csv_cell(arena, csv, 1, "proof"), "none");
	csv = explore("spyre32", "--tiles published");
	assert_string_equal(csv_cell(arena, csv, 1, "proof"), "none");
}

/* Each objective alone has the least of what the frontier over all of them has. */
static void objectives_agree_with_the_frontier(void **state)
{
	static const char *const columns[][2] = {{"latency", "latency_cycles"},
		{"energy", "energy_pj"}, {"hbm_bytes", "hbm_bytes"}, {"edp", "edp"}};
	for (int i = 0; i < 4; i++) {
		const char *all = explore("spyre32", "");
		double least = strtod(csv_cell(arena, all, 1, columns[i][1]), NULL);
		for (int row = 2; csv_cell(arena, all, row, "plan"); row++) {
			double own = strtod(csv_cell(arena, all, row, columns[i][1]), NULL);
			least = own < least ? own : least;
		}
		const char *alone =
			explore("spyre32", arena_format(arena, "--objective %s", columns[i][0]));
		double best = strtod(csv_cell(arena, alone, 1, columns[i][1]), NULL);
		assert_true(best <= least * (1 + 1e-12) && best >= least * (1 - 1e-12));
	}
}

/* Registers of the array are chosen, and what that costs is what the simulator counts. */
static void a_described_array_gets_a_nest(void **state)
{
	const char *mm = folder_put("mm.yaml", product);
	struct ended ended =
		shell(arena, "$LXPLORE simulate specs/arch/spyre32_array.yaml %s --cores 4", mm);
	assert_int_equal(ended.status, 0);
	assert_non_null(strstr(ended.out, "\"agrees\": true"));
	assert_non_null(strstr(ended.out, "row: "));
}

static void a_mapper_that_nobody_asks_is_refused(void **state)
{
	const char *mm = folder_put("mm.yaml", product);
	struct ended ended =
		shell(arena, "$LXPLORE score specs/arch/spyre32.yaml %s --solver map=greedy", mm);
	assert_int_equal(ended.status, 2);
	assert_non_null(strstr(ended.err, "the array of 'spyre32' is ideal"));
	ended = shell(arena,
		"$LXPLORE score specs/arch/spyre32_array.yaml %s --cores 4 --solver map=greedy",
		mm);
	assert_int_equal(ended.status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			the_frontier_of_one_op_is_proven, folder_set_up, folder_tear_down),
		cmocka_unit_test_setup_teardown(
			objectives_agree_with_the_frontier, folder_set_up, folder_tear_down),
		cmocka_unit_test_setup_teardown(
			a_described_array_gets_a_nest, folder_set_up, folder_tear_down),
		cmocka_unit_test_setup_teardown(
			a_mapper_that_nobody_asks_is_refused, folder_set_up, folder_tear_down),
	};
	return cmocka_run_group_tests_name("single ops", tests, NULL, NULL);
}
