#include "base/arena.h"
#include "model/recurrence/recurrence_einsum.h"
#include "search/recurrence/project_search.h"
#include "tests/support/space_time_text.h"
#include "tests/test.h"

#include <string.h>

/* Einsums as users write them, of a problem and of a graph: the recurrence that follows. */
static struct explored explore_all(struct arena *arena, const struct space_time *spec)
{
	struct project_search search = {.spec = spec,
		.wishes.objectives = {4,
			{OBJECTIVE_LATENCY, OBJECTIVE_PES, OBJECTIVE_REGISTERS, OBJECTIVE_PORTS}},
		.solver = solver_find(STAGE_PROJECT, "exhaustive"),
		.wishes.simulate = SIMULATE_ALL,
		.wishes.asker = {.jobs = 1}};
	struct explored explored = project_explore(&search, arena);
	assert_true(explored.complete);
	assert_int_equal(explored.effort.disagreed, 0);
	assert_int_equal(explored.effort.simulated, explored.frontier.count);
	return explored;
}

/* The same frontier for an einsum as for its equations. */
TEST(an_einsum_has_the_frontier_of_its_equations)
{
	static const char search[] =
		"  search: {allocation: [-1, 1], schedule: [0, 2], rows: 2, wires: 1}\n";
	static const char *const heads[] = {
		"space_time:\n  loops: {i: 3, j: 4, k: 5}\n  equations: |\n"
		"    a(i, j, k) = select(j == 0, A(i, k), a(i, j - 1, k));\n"
		"    b(i, j, k) = select(i == 0, B(k, j), b(i - 1, j, k));\n"
		"    c(i, j, k) = select(k == 0, 0, c(i, j, k - 1)) + a(i, j, k) * b(i, j, k);\n"
		"    C(i, j) = select(k == 4, c(i, j, k));\n",
		"space_time:\n  loops: {i: 3, j: 4, k: 5}\n"
		"  einsum: 'C[i,j] = sum(k) A[i,k] * B[k,j]'\n",
		"problem:\n  shape:\n    dimensions: [i, j, k]\n    data_spaces:\n"
		"    - {name: A, projection: [i, k]}\n    - {name: B, projection: [k, j]}\n"
		"    - {name: C, projection: [i, j], read_write: true}\n"
		"  instance: {i: 3, j: 4, k: 5}\nspace_time:\n",
		"workload:\n  name: mm\n  dimensions: {i: 3, j: 4, k: 5}\n"
		"  ops:\n  - C[i,j] = sum(k) A[i,k] * B[k,j]\nspace_time:\n",
	};
	struct explored first = {0};
	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
		struct space_time spec =
			space_time_alone(arena, arena_format(arena, "%s%s", heads[i], search));
		struct explored explored = explore_all(arena, &spec);
		if (!i)
			first = explored;
		assert_true(explored.frontier.count > 1);
		assert_int_equal(explored.frontier.count, first.frontier.count);
		for (size_t k = 0; k < first.frontier.count; k++) {
			const struct score *a = &first.frontier.points[k].score;
			const struct score *b = &explored.frontier.points[k].score;
			assert_int_equal(a->cycles, b->cycles);
			assert_int_equal(a->pes, b->pes);
			assert_int_equal(a->registers, b->registers);
			assert_int_equal(a->ports, b->ports);
		}
	}
}

/* The order of a sum is where its chain turns: of rows first, or of columns first. */
TEST(a_sum_goes_through_its_loops_in_order)
{
	static const char text[] = "space_time:\n  loops: {p: 3, r: 4, s: 5}\n"
				   "  einsum: 'Y[p] = sum(%s) X[p + r, s] * W[r,s]'\n";
	static const char beside[] =
		"problem:\n  shape:\n    dimensions: [p, r, s]\n    data_spaces:\n"
		"    - {name: X, projection: [[[p], [r]], s]}\n    - {name: W, projection: [r, s]}\n"
		"    - {name: Y, projection: [p], read_write: true}\n"
		"  instance: {p: 3, r: 4, s: 5}\nspace_time:\n  sum: [s, r]\n";
	static const int64_t across[] = {0, 1, -4}, down[] = {0, -3, 1};
	struct space_time rows = space_time_alone(arena, arena_format(arena, text, "r, s"));
	struct space_time columns = space_time_alone(arena, arena_format(arena, text, "s, r"));
	struct space_time problem = space_time_alone(arena, beside);
	/* X along (1, -1), W along p, then the carry and the step of Y. */
	assert_int_equal(rows.recurrence.dependence_count, 4);
	assert_memory_equal(rows.recurrence.dependences[2].vector, across, sizeof across);
	assert_memory_equal(columns.recurrence.dependences[2].vector, down, sizeof down);
	assert_memory_equal(problem.recurrence.dependences[2].vector, down, sizeof down);
}

/* Dimensions of one step of a problem are not loops of its projection. */
TEST(single_steps_are_no_loops)
{
	struct space_time spec = space_time_alone(arena,
		"problem:\n  shape:\n    dimensions: [n, k, p, r]\n    data_spaces:\n"
		"    - {name: X, projection: [n, [[p], [r]]]}\n"
		"    - {name: W, projection: [k, r]}\n"
		"    - {name: Y, projection: [n, k, p], read_write: true}\n"
		"  instance: {n: 1, k: 4, p: 5, r: 3}\n"
		"space_time:\n  allocation: [[1, 0, 0]]\n  schedule: [1, 1, 2]\n");
	assert_int_equal(spec.recurrence.loop_count, 3);
	assert_string_equal(spec.recurrence.loops[0].name, "k");
	assert_int_equal(spec.recurrence.dependence_count, 4);
	spec = space_time_alone(arena,
		"problem:\n  shape:\n    dimensions: [n, k]\n    data_spaces:\n"
		"    - {name: X, projection: [n]}\n    - {name: Y, projection: [k], read_write: true}\n"
		"  instance: {n: 1, k: 1}\nspace_time: {}\n");
	assert_int_equal(spec.recurrence.loop_count, 1);
}
