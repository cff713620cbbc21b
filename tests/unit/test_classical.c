#include "base/arena.h"
#include "cost/recurrence/projection.h"
#include "search/recurrence/project_search.h"
#include "tests/support/space_time_text.h"
#include "tests/test.h"

#include <math.h>

/*
 * The arrays that the literature has for the matrix product, convolution, LU and transitive
 * closure: from their equations, an allocation and a schedule alone come their PEs, cycles and
 * registers, and each is executed.
 */
static const char convolution[] =
	"space_time:\n"
	"  loops: {c: %d, q: %d}\n"
	"  equations: |\n"
	"    X(c, q) = select(%s, x(c + q), X(%s))\n"
	"    W(c, q) = select(c == 0, w(q), W(c - 1, q))\n"
	"    Z(c, q) = select(q == %d, 0, Z(c, q %s 1)) + X(c, q) * W(c, q)\n"
	"    y(c) = select(q == %d, Z(c, q))\n"
	"  allocation: [[%s]]\n"
	"  schedule: [%s]\n"
	"  wires: [%s]\n";

static const char product[] =
	"space_time:\n"
	"  loops: {i: %d, j: %d, k: %d}\n"
	"  equations: |\n"
	"    a(i, j, k) = select(j == 0, A(i, k), a(i, j - 1, k))\n"
	"    b(i, j, k) = select(i == 0, B(k, j), b(i - 1, j, k))\n"
	"    c(i, j, k) = select(k == 0, 0, c(i, j, k - 1)) + a(i, j, k) * b(i, j, k)\n"
	"    C(i, j) = select(k == %d, c(i, j, k))\n"
	"  allocation: [%s]\n"
	"  %s\n";

static const char factors[] =
	"space_time:\n"
	"  loops: {k: %d, i: %d, j: %d}\n"
	"  domain: i >= k and j >= k\n"
	"  equations: |\n"
	"    u(k, i, j) = select(i == k, select(k == 0, A(i, j), a(k - 1, i, j)), u(k, i - 1, j))\n"
	"    l(k, i, j) = select(j == k, select(k == 0, A(i, j), a(k - 1, i, j)) / u(k, i, j),"
	" l(k, i, j - 1))\n"
	"    a(k, i, j) = select(k == 0, A(i, j), a(k - 1, i, j)) - l(k, i, j) * u(k, i, j)\n"
	"    U(k, j) = select(i == k, u(k, i, j))\n"
	"    L(i, k) = select(j == k, l(k, i, j))\n"
	"  allocation: [%s]\n"
	"  schedule: [1, 1, 1]\n";

static const char closure[] = "space_time:\n"
			      "  loops: {i: %d, j: %d, k: %d}\n"
			      "  dependences: {a: [0, 0, 1], b: [0, 1, 0], c: [1, -1, -1],"
			      " d: [1, -1, 0], e: [1, 0, -1]}\n"
			      "  allocation: [[0, 0, 1]]\n"
			      "  search: {schedule: [-%d, %d]}\n";

/* Legal, with this many PEs and cycles; executed, every value that of the sequential order. */
static struct projection_facts expect_array(
	struct arena *arena, const struct space_time *spec, int64_t pes, int64_t cycles)
{
	struct projection_facts facts =
		projection_facts(&spec->recurrence, &spec->projection, spec);
	assert_int_equal(facts.fault, PROJECTION_FINE);
	assert_int_equal(facts.pes, pes);
	assert_int_equal(facts.cycles, cycles);
	struct project_search search = {.spec = spec, .wishes.seed = 3};
	struct project_found found = {.spec = spec, .projection = spec->projection, .facts = facts};
	project_execute(&search, &found, arena);
	assert_true(found.common.execution.finished && found.common.execution.agrees);
	return facts;
}

/* Kung's arrays (1982): what stays, what moves where, and so how fast.  C outputs of Q taps; W2
 * sums from the last tap to the first. */
BARE_TEST(convolution_has_kungs_arrays)
{
	enum { C, Q }; /* columns of pes and cycles: C and Q times, and a number */
	static const struct {
		const char *name, *allocation, *schedule, *wires;
		bool x_backwards, sum_backwards;
		int64_t pes[2], cycles[3], x, w, y;
	} rows[] = {
		{"B1", "0, 1", "1, 1", "X", false, false, {0, 1}, {1, 1, -1}, 0, 1, 1},
		{"B2", "1, 0", "1, 1", "X", false, false, {1, 0}, {1, 1, -1}, 0, 1, 1},
		{"F", "0, 1", "1, 0", "Z", false, false, {0, 1}, {1, 0, 0}, 1, 1, 0},
		{"R1", "1, 0", "1, 2", "", true, false, {1, 0}, {1, 2, -2}, 1, 1, 2},
		{"R2", "1, 0", "2, 1", "", false, false, {1, 0}, {2, 1, -2}, 1, 2, 1},
		{"W1", "0, 1", "2, 1", "", false, false, {0, 1}, {2, 1, -2}, 1, 2, 1},
		{"W2", "0, 1", "1, -1", "", false, true, {0, 1}, {1, 1, -1}, 2, 1, 1},
	};
	static const int sizes[][2] = {{8, 4}, {5, 3}, {6, 6}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
			struct arena *arena = arena_open();
			int c = sizes[k][C], q = sizes[k][Q];
			const char *edge =
				rows[i].x_backwards
					? arena_format(arena, "q == 0 or c == %d", c - 1)
					: arena_format(arena, "c == 0 or q == %d", q - 1);
			struct space_time spec = space_time_alone(arena,
				arena_format(arena, convolution, c, q, edge,
					rows[i].x_backwards ? "c + 1, q - 1" : "c - 1, q + 1",
					rows[i].sum_backwards ? q - 1 : 0,
					rows[i].sum_backwards ? "+" : "-",
					rows[i].sum_backwards ? 0 : q - 1, rows[i].allocation,
					rows[i].schedule, rows[i].wires));
			const int64_t *cycles = rows[i].cycles;
			struct projection_facts facts =
				expect_array(arena, &spec, rows[i].pes[C] * c + rows[i].pes[Q] * q,
					cycles[C] * c + cycles[Q] * q + cycles[2]);
			assert_int_equal(facts.registers[0], rows[i].x);
			assert_int_equal(facts.registers[2], rows[i].w);
			assert_int_equal(facts.registers[4], rows[i].y);
			arena_close(arena);
		}
}

/* Along a unit vector a square, along the diagonal of a face two triangles more, along that of the
 * cube a hexagon. */
BARE_TEST(matrix_products_have_squares_and_hexagons)
{
	static const struct {
		const char *allocation;
		int64_t pes[3]; /* of N: N N times, N times, a number */
	} rows[] = {
		{"[1, 0, 0], [0, 1, 0]", {1, 0, 0}},    /* projected along k */
		{"[1, 0, 0], [0, 0, 1]", {1, 0, 0}},    /* along j */
		{"[0, 1, 0], [0, 0, 1]", {1, 0, 0}},    /* along i */
		{"[1, -1, 0], [0, 0, 1]", {2, -1, 0}},  /* along (1, 1, 0) */
		{"[1, -1, 0], [0, 1, -1]", {3, -3, 1}}, /* along (1, 1, 1) */
		{"[1, -1, 0], [0, 1, 1]", {3, -3, 1}},  /* along (1, 1, -1) */
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (int n = 2; n <= 5; n++) {
			struct arena *arena = arena_open();
			struct space_time spec = space_time_alone(
				arena, arena_format(arena, product, n, n, n, n - 1,
					       rows[i].allocation, "schedule: [1, 1, 1]"));
			expect_array(arena, &spec,
				rows[i].pes[0] * n * n + rows[i].pes[1] * n + rows[i].pes[2],
				3 * n - 2);
			arena_close(arena);
		}
}

/* A matrix that has factors: large on the diagonal, drawn from its indices. */
static double read_matrix(void *user, int stream, const int64_t *place)
{
	(void)user;
	(void)stream;
	return place[0] == place[1] ? 20.0 + (double)place[0]
				    : (double)((5 * place[0] + 3 * place[1]) % 7) - 3;
}

/* On N by N PEs, on a triangle, on a hexagon; L U is the matrix, whichever computed it. */
BARE_TEST(lu_has_its_arrays)
{
	enum { MOST = 6 };
	static const struct {
		const char *allocation;
		bool triangle;
	} rows[] = {
		{"[0, 1, 0], [0, 0, 1]", false},   /* projected along k */
		{"[1, 0, 0], [0, 0, 1]", true},    /* along i */
		{"[1, 0, 0], [0, 1, 0]", true},    /* along j */
		{"[-1, 1, 0], [-1, 0, 1]", false}, /* along (1, 1, 1) */
	};
	const struct recurrence_inputs inputs = {.read = read_matrix};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (int n = 3; n <= MOST; n++) {
			struct arena *arena = arena_open();
			struct space_time spec = space_time_alone(
				arena, arena_format(arena, factors, n, n, n, rows[i].allocation));
			expect_array(arena, &spec, rows[i].triangle ? n * (n + 1) / 2 : n * n,
				3 * n - 2);
			struct systolic_result run =
				systolic_run(&spec.recurrence, &spec.projection, &inputs, arena);
			double lower[MOST][MOST] = {0}, upper[MOST][MOST] = {0};
			assert_int_equal(run.fault, SYSTOLIC_FINE);
			for (size_t o = 0; o < run.output_count; o++) {
				const struct recurrence_output *output = &run.outputs[o];
				bool is_upper =
					spec.recurrence.streams[output->stream].name[0] == 'U';
				(is_upper ? upper : lower)[output->place[0]][output->place[1]] =
					output->value;
			}
			for (int64_t r = 0; r < n; r++)
				for (int64_t c = 0; c < n; c++) {
					double sum = 0;
					for (int k = 0; k < n; k++)
						sum += lower[r][k] * upper[k][c];
					assert_true(fabs(sum - read_matrix(NULL, 0,
								       (int64_t[]){r, c})) < 1e-9);
				}
			arena_close(arena);
		}
}

/* The least cycles of an allocation.  Steps of a box run over 1 + sum |s_l| (N - 1) of them, so that
 * entries beyond the range take longer than what was found, and what is complete is proven. */
static void expect_least(struct arena *arena, const struct space_time *spec, int64_t most,
	int64_t pes, int64_t cycles)
{
	struct project_search search = {.spec = spec,
		.wishes.objectives = {1, {OBJECTIVE_LATENCY}},
		.solver = solver_find(STAGE_PROJECT, "exhaustive"),
		.wishes.simulate = SIMULATE_ALL};
	struct explored explored = project_explore(&search, arena);
	assert_true(explored.complete);
	assert_true(1 + (most + 1) * (spec->recurrence.loops[0].extent - 1) > cycles);
	assert_int_equal(explored.frontier.count, 1);
	assert_int_equal(explored.frontier.points[0].score.cycles, cycles);
	assert_int_equal(explored.frontier.points[0].score.pes, pes);
	const struct project_found *found = explored.frontier.points[0].payload;
	assert_true(found->common.execution.finished && found->common.execution.agrees);
}

/* Matrix products on rows of PEs (Lee and Kedem, 1990; Shang and Fortes, 1992). */
BARE_TEST(rows_of_pes_have_least_makespans)
{
	static const struct {
		const char *allocation;
		int64_t pes[2], cycles[3]; /* of N: N times, a number; N N times, .. */
		int least;
	} rows[] = {
		{"[1, 1, -1]", {3, -2}, {1, 0, 0}, 3},
		{"[1, 0, 0]", {1, 0}, {1, 1, -1}, 3},
		{"[1, 1, 1]", {3, -2}, {1, 3, -3}, 3},
		{"[0, 1, -1]", {2, -1}, {1, 0, 0}, 4},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (int n = rows[i].least; n <= 5; n++) {
			struct arena *arena = arena_open();
			int most = 4 * n;
			struct space_time spec = space_time_alone(arena,
				arena_format(arena, product, n, n, n, n - 1, rows[i].allocation,
					arena_format(arena, "search: {schedule: [-%d, %d]}", most,
						most)));
			expect_least(arena, &spec, most, rows[i].pes[0] * n + rows[i].pes[1],
				rows[i].cycles[0] * n * n + rows[i].cycles[1] * n +
					rows[i].cycles[2]);
			arena_close(arena);
		}
}

/* Transitive closure takes mu (mu + 3) + 1 steps on N PEs, mu = N - 1. */
BARE_TEST(transitive_closure_has_its_least_makespan)
{
	for (int n = 3; n <= 6; n++) {
		struct arena *arena = arena_open();
		int most = 2 * n;
		struct space_time spec =
			space_time_alone(arena, arena_format(arena, closure, n, n, n, most, most));
		expect_least(arena, &spec, most, n, (n - 1) * (n + 2) + 1);
		arena_close(arena);
	}
}
