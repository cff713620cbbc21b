#include "base/arena.h"
#include "cost/recurrence/projection.h"
#include "report/recurrence/projection_report.h"
#include "search/recurrence/project_search.h"
#include "tests/support/projection_bounds.h"
#include "tests/support/space_time_text.h"
#include "tests/test.h"

#include <string.h>

/* Recurrences as users write them: what is read, what is refused and why. */

/* The page of the multi-projection reads Z[k] where Z[k - 1] is right, has PEs up to Q + C and no
 * guard for outputs: what follows from its own call is right. */
TEST(the_published_call_is_projected)
{
	struct space_time spec = space_time_alone(arena,
		"space_time:\n"
		"  loops: {q: 4, c: 8}\n"
		"  equations: |\n"
		"    Z(q, c) = select(q == 0, 0, Z(q - 1, c)) + x(c + q) * w(q); // remark\n"
		"    out(c) = select(q == 4 - 1, Z(q, c))\n"
		"  transform: 'Z.space_time_transform({c, q}, {k, t}, {1, 1, 0, 1},"
		" {q, t, c, k - q}, SpaceTimeTransform::NoCheckTime);'\n");
	struct projection_facts facts = projection_facts(&spec.recurrence, &spec.projection, &spec);
	assert_int_equal(facts.fault, PROJECTION_FINE);
	assert_int_equal(facts.pes, 11);
	assert_int_equal(facts.space[0].extent, 11);
	assert_int_equal(facts.cycles, 4);
	assert_int_equal(facts.channels[0].move[0], 1);
	assert_int_equal(facts.channels[0].delay, 1);
	struct project_search search = {.spec = &spec, .wishes.seed = 1};
	struct project_found found = {.spec = &spec, .projection = spec.projection, .facts = facts};
	project_execute(&search, &found, arena);
	assert_true(found.common.execution.agrees);
	assert_int_equal(found.execution.output_count, 8);
}

/* A wrong reverse is refused at the point where it goes astray. */
TEST(a_wrong_reverse_is_shown)
{
	struct space_time spec = space_time_alone(arena,
		"space_time:\n"
		"  loops: {i: 3, j: 3}\n"
		"  dependences: {A: [1, 0], B: [0, 1]}\n"
		"  transform: space_time_transform({i, j}, {p, t}, {1, 0, 1, 1}, {i, p, j, t})\n");
	struct projection_facts facts = projection_facts(&spec.recurrence, &spec.projection, &spec);
	assert_int_equal(facts.fault, PROJECTION_REVERSE);
	assert_string_equal(projection_fault_text(arena, &spec, &spec.projection, &facts),
		"the reverse transform gives another 'j' at point (1, 0)");
}

/* The rows' own names hold in it, in any order of the file. */
TEST(a_reverse_names_rows_as_the_spec_does)
{
	const char *format = "space_time:\n"
			     "  reverse: {i: %s, j: %s - %s}\n"
			     "  loops: {i: 3, j: 3}\n"
			     "  dependences: {A: [1, 0], B: [0, 1]}\n"
			     "  allocation: [[1, 0]]\n"
			     "  schedule: [1, 1]\n"
			     "%s";
	struct space_time spec =
		space_time_alone(arena, arena_format(arena, format, "p", "t", "p", ""));
	struct projection_facts facts = projection_facts(&spec.recurrence, &spec.projection, &spec);
	assert_int_equal(facts.fault, PROJECTION_FINE);
	spec = space_time_alone(arena, arena_format(arena, format, "row", "step", "row",
					       "  space: [row]\n  time: [step]\n"));
	facts = projection_facts(&spec.recurrence, &spec.projection, &spec);
	assert_int_equal(facts.fault, PROJECTION_FINE);
}

BARE_TEST(refusals_show_counterexamples)
{
	static const struct {
		const char *lines, *text;
	} rows[] = {
		{"  allocation: [[1, 0, 0], [0, 1, 0]]\n  schedule: [1, 1, 0]\n",
			"dependence 'C' (0, 0, 1) is used 0 steps after it is made, first at "
			"(0, 0, 1); it needs at least one, or 'wires: [C]' if a wire may carry it "
			"within the step"},
		{"  allocation: [[1, 0, 0], [0, 1, 0]]\n  schedule: [1, -1, 1]\n",
			"dependence 'A' (0, 1, 0) is used -1 steps after it is made, first at "
			"(0, 1, 0); it needs at least one"},
		{"  allocation: [[1, 1, 0], [0, 0, 1]]\n  schedule: [1, 1, 1]\n",
			"points (0, 1, 0) and (1, 0, 0) both run on PE (1, 0) at time 1"},
		{"  allocation: [[2, 0, 0], [0, 1, 0]]\n  schedule: [1, 1, 1]\n  reach: 1\n",
			"dependence 'B' (1, 0, 0) moves by (2, 0) in 1 steps; links reach 1 in one"},
		{"  allocation: [[1, 0, 0], [0, 1, 0]]\n  schedule: [1, 1, 1]\n  stays: B\n",
			"dependence 'B' (1, 0, 0) moves by (1, 0); it is to stay"},
		{"  allocation: [[1, 0, 0], [0, 1, 0]]\n  schedule: [1, 1, 1]\n  array: [4, 3]\n",
			"row 2 of the allocation needs 4 PEs, the array has 3"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct arena *arena = arena_open();
		struct space_time spec = space_time_alone(arena,
			arena_format(arena,
				"space_time:\n  loops: {i: 4, j: 4, k: 4}\n"
				"  dependences: {A: [0, 1, 0], B: [1, 0, 0], C: [0, 0, 1]}\n%s",
				rows[i].lines));
		struct projection_facts facts =
			projection_facts(&spec.recurrence, &spec.projection, &spec);
		assert_string_equal(projection_fault_text(arena, &spec, &spec.projection, &facts),
			rows[i].text);
		arena_close(arena);
	}
}

/* A 6 x 6 array on 2 x 4 PEs: every output is the one of the large array. */
TEST(folds_compute_the_same)
{
	static const struct {
		const char *fold;
		int64_t pes, cycles;
	} rows[] = {
		{"", 36, 16},
		{"  fold: {array: [2, 4]}\n", 8, 3 * 2 * (2 + 4 + 6 - 2)},
		{"  fold: {array: [2, 4], order: blocks}\n", 2 * 3, 0},
		{"  fold: {array: [3, 1], order: tiles}\n", 3, 2 * 6 * (3 + 1 + 6 - 2)},
		{"  fold: {array: [1, 1], order: blocks}\n", 1, 0},
	};
	struct systolic_result whole = {0};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct space_time spec = space_time_alone(
			arena, arena_format(arena,
				       "space_time:\n  loops: {i: [1, 7], j: 6, k: 6}\n"
				       "  equations: |\n"
				       "    a(i, j, k) = select(j == 0, A(i, k), a(i, j - 1, k));\n"
				       "    b(i, j, k) = select(i == 1, B(k, j), b(i - 1, j, k));\n"
				       "    c(i, j, k) = select(k == 0, 0, c(i, j, k - 1)) +"
				       " a(i, j, k) * b(i, j, k);\n"
				       "    C(i, j) = select(k == 5, c(i, j, k));\n"
				       "  allocation: [[1, 0, 0], [0, 1, 0]]\n"
				       "  schedule: [1, 1, 1]\n%s",
				       rows[i].fold));
		struct projection_facts facts =
			projection_facts(&spec.recurrence, &spec.projection, &spec);
		struct project_search search = {.spec = &spec, .wishes.seed = 5};
		struct project_found found = {
			.spec = &spec, .projection = spec.projection, .facts = facts};
		assert_int_equal(facts.fault, PROJECTION_FINE);
		assert_int_equal(facts.pes, rows[i].pes);
		if (rows[i].cycles && i != 1) /* the last tiles of i == 1 are narrower */
			assert_int_equal(facts.cycles, rows[i].cycles);
		project_execute(&search, &found, arena);
		assert_true(found.common.execution.finished && found.common.execution.agrees);
		assert_int_equal(found.execution.output_count, 36);
		if (!i)
			whole = found.execution;
		for (size_t k = 0; k < 36; k++)
			assert_memory_equal(&found.execution.outputs[k], &whole.outputs[k],
				sizeof *whole.outputs);
	}
}

/* No order of points needs fewer PEs than a step has points, nor fewer steps than a chain has. */
BARE_TEST(bounds_are_those_of_the_matrix_product)
{
	static const int64_t widest[] = {3, 7, 12, 19, 27, 37, 48};
	for (int64_t n = 2; n <= 8; n++) {
		struct arena *arena = arena_open();
		struct space_time spec = space_time_alone(arena,
			arena_format(arena,
				"space_time:\n  loops: {i: %d, j: %d, k: %d}\n"
				"  dependences: {A: [0, 1, 0], B: [1, 0, 0], C: [0, 0, 1]}\n",
				(int)n, (int)n, (int)n));
		int64_t schedule[RECURRENCE_LOOPS_MOST] = {1, 1, 1};
		assert_int_equal(projection_widest(&spec.recurrence, schedule), widest[n - 2]);
		assert_int_equal(projection_longest(&spec.recurrence, 0), 3 * n - 2);
		spec = space_time_alone(arena,
			arena_format(arena,
				"space_time:\n  loops: {i: %d, j: %d, k: %d}\n"
				"  domain: i >= 0 and (j >= 0 or k < 0)\n"
				"  dependences: {A: [0, 1, 0], B: [1, 0, 0], C: [0, 0, 1]}\n",
				(int)n, (int)n, (int)n));
		assert_int_equal(projection_widest(&spec.recurrence, schedule), widest[n - 2]);
		arena_close(arena);
	}
}

/* 5,832 pairs of a matrix and a vector; a search cut short claims nothing. */
TEST(the_matrix_product_is_searched_to_the_end)
{
	struct space_time spec = space_time_alone(arena,
		"space_time:\n  loops: {i: 4, j: 4, k: 4}\n"
		"  dependences: {A: [0, 1, 0], B: [1, 0, 0], C: [0, 0, 1]}\n"
		"  search: {allocation: [-1, 1], schedule: [1, 2], rows: 2}\n");
	struct project_search search = {.spec = &spec,
		.wishes.objectives = {2, {OBJECTIVE_LATENCY, OBJECTIVE_PES}},
		.solver = solver_find(STAGE_PROJECT, "exhaustive"),
		.wishes.simulate = SIMULATE_ALL};
	struct explored explored = project_explore(&search, arena);
	assert_true(explored.complete);
	static const int64_t expected[][2] = {{10, 16}, {16, 7}};
	assert_int_equal(explored.frontier.count, 2);
	for (size_t i = 0; i < explored.frontier.count; i++) {
		const struct project_found *found = explored.frontier.points[i].payload;
		assert_int_equal(explored.frontier.points[i].score.cycles, expected[i][0]);
		assert_int_equal(explored.frontier.points[i].score.pes, expected[i][1]);
		assert_true(found->common.execution.agrees);
	}
	search.wishes.budget = 3;
	explored = project_explore(&search, arena);
	assert_false(explored.complete);
}
