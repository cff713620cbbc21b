#include "base/arena.h"
#include "report/recurrence/projection_report.h"
#include "search/recurrence/project_search.h"
#include "tests/support/space_time_text.h"
#include "tests/test.h"

#include <string.h>

/* Lanes of vector units, and rows of arrays along which some streams have no links or wires: what is
 * legal there, what is refused and why, and what a search finds. */
#define CONVOLUTION                                                                                \
	"space_time:\n  loops: {q: 4, c: 8}\n  equations: |\n"                                     \
	"    Z(q, c) = select(q == 0, 0, Z(q - 1, c)) + x(c + q) * w(q)\n"                         \
	"    out(c) = select(q == 3, Z(q, c))\n"                                                   \
	"  transform: Z.space_time_transform({c, q}, {k, t}, {1, 1, 0, 1}, {q, t, c, k - q})\n"
#define PRODUCT                                                                                    \
	"space_time:\n  loops: {i: 4, j: 6, k: 5}\n"                                               \
	"  einsum: 'C[i,j] = sum(k) A[i,k] * B[k,j]'\n"
#define PLACED "  allocation: [[1, 0, 0], [0, 1, 0]]\n"

static void expect_fault(struct arena *arena, const char *text, const char *constraints,
	enum projection_fault fault, const char *why)
{
	struct space_time spec = space_time_given(
		arena, &(struct space_time_text){.spec = text, .constraints = constraints});
	struct projection_facts facts = projection_facts(&spec.recurrence, &spec.projection, &spec);
	assert_int_equal(facts.fault, fault);
	const char *got = projection_fault_text(arena, &spec, &spec.projection, &facts);
	if (why)
		assert_string_equal(got, why);
	else
		assert_null(got);
}

/* The published call on a vector unit: Z goes from lane to lane. */
TEST(the_published_lanes_need_a_shuffle)
{
	expect_fault(arena, CONVOLUTION "  lanes: 16\n", NULL, PROJECTION_SHUFFLE,
		"dependence 'Z' (1, 0) moves by (1) between registers of lanes 'k'; 'shuffle: [Z]' "
		"lets it");
	expect_fault(arena, CONVOLUTION "  lanes: {k: 8}\n  shuffle: [Z]\n", NULL, PROJECTION_LANES,
		"'k' needs 11 lanes, a vector unit has 8");
	expect_fault(arena, CONVOLUTION "  lanes: 11\n  shuffle: Z\n", NULL, PROJECTION_FINE, NULL);
	struct space_time spec = space_time_alone(arena, CONVOLUTION "  lanes: 11\n  shuffle: Z\n");
	struct project_search search = {.spec = &spec, .wishes.seed = 3};
	struct project_found found = {.spec = &spec,
		.projection = spec.projection,
		.facts = projection_facts(&spec.recurrence, &spec.projection, &spec)};
	assert_int_equal(found.facts.units, 1);
	assert_int_equal(found.facts.issues, 4);
	project_execute(&search, &found, arena);
	assert_true(found.common.execution.agrees);
	assert_int_equal(found.execution.lane_shuffles, 24);
	assert_int_equal(found.execution.link_moves, 0);
	/* The array executes what is not declared to be one as a fault of its own. */
	spec.projection.shuffles = 0;
	found.projection.shuffles = 0;
	project_execute(&search, &found, arena);
	assert_int_equal(found.execution.fault, SYSTOLIC_LANES);
}

/* An operand that is only handed on reaches all lanes at once, without a wire; a sum does not, and
 * between PEs nothing does. */
TEST(lanes_have_operands_in_common)
{
	expect_fault(arena, PRODUCT PLACED "  schedule: [1, 0, 1]\n  lanes: {p2: 8}\n", NULL,
		PROJECTION_FINE, NULL);
	expect_fault(arena, PRODUCT PLACED "  schedule: [1, 0, 1]\n  lanes: {p1: 8}\n", NULL,
		PROJECTION_LATE,
		"dependence 'A' (0, 1, 0) is used 0 steps after it is made, first at (0, 1, 0); it "
		"needs at least one, or 'wires: [A]' if a wire may carry it within the step");
	expect_fault(arena,
		PRODUCT "  allocation: [[1, 0, 0], [0, 0, 1]]\n  schedule: [1, 1, 0]\n  lanes: 8\n",
		NULL, PROJECTION_LATE,
		"dependence 'C' (0, 0, 1) is used 0 steps after it is made, first at (0, 0, 1); it "
		"needs at least one, or 'wires: [C]' if a wire may carry it within the step");
	struct space_time spec =
		space_time_alone(arena, PRODUCT PLACED "  schedule: [1, 0, 1]\n  lanes: 8\n");
	struct project_search search = {.spec = &spec, .wishes.seed = 3};
	struct project_found found = {.spec = &spec,
		.projection = spec.projection,
		.facts = projection_facts(&spec.recurrence, &spec.projection, &spec)};
	project_execute(&search, &found, arena);
	assert_true(found.common.execution.agrees);
	assert_int_equal(found.execution.units, 4);
	assert_int_equal(found.execution.issues, 4 * 5);
	assert_int_equal(found.execution.lane_multicasts, 4 * 5 * 5);
	/* Moves within a unit cost no wires. */
	assert_int_equal(
		project_score(&spec.recurrence, &spec.projection, &found.facts, 0).wire, 1);
}

TEST(rows_without_links_are_kept_free)
{
#define SYSTOLIC PRODUCT PLACED "  schedule: [1, 1, 1]\n"
#define WIRED PRODUCT PLACED "  schedule: [0, 0, 1]\n  wires: [A, B]\n"
	static const char link[] =
		"dependence 'A' (0, 1, 0) moves by (0, 1), and no link hands its "
		"stream on (no_link_transfer) along 'p2'";
	static const char wire[] =
		"dependence 'B' (1, 0, 0) moves by (1, 0), and no wire multicasts "
		"or reduces its stream (no_reuse) along 'p1'";
	static const struct {
		const char *text, *constraints;
		enum projection_fault fault;
		const char *why;
	} rows[] = {
		{SYSTOLIC "  no_link_transfer: [A]\n", NULL, PROJECTION_LINK, link},
		{SYSTOLIC "  no_link_transfer: {p2: A}\n", NULL, PROJECTION_LINK, link},
		{SYSTOLIC "  no_link_transfer: {p1: A}\n", NULL, PROJECTION_FINE, NULL},
		{SYSTOLIC "  no_link_transfer: [C]\n  no_reuse: [A, B, C]\n", NULL, PROJECTION_FINE,
			NULL},
		{WIRED "  no_link_transfer: [A, B, C]\n", NULL, PROJECTION_FINE, NULL},
		{WIRED "  no_reuse: {p1: [A, B]}\n", NULL, PROJECTION_WIRE, wire},
		{WIRED "  no_multicast_no_reduction: B\n", NULL, PROJECTION_WIRE, wire},
		{SYSTOLIC,
			"- {target: p2, type: spatial, constraints: {no_link_transfer: [A, C]}}\n",
			PROJECTION_LINK, link},
		{SYSTOLIC, "- {target: p1, type: spatial, no_link_transfer: [A, C]}\n",
			PROJECTION_FINE, NULL},
		{WIRED,
			"- {target: p1, constraints: {spatial: {no_reuse: [B], no_link_transfer: "
			"[C]}}}\n",
			PROJECTION_WIRE, wire},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		expect_fault(arena, rows[i].text, rows[i].constraints, rows[i].fault, rows[i].why);
}

/* All projections that keep to the limits, one by one. */
BARE_TEST(searches_keep_to_the_array)
{
	static const char *const limits[] = {
		"",
		"  no_link_transfer: [A]\n",
		"  no_link_transfer: {p1: [A, B]}\n",
		"  no_reuse: {p2: [B]}\n",
		"  array: [2, 9]\n",
		"  array: [9, 3]\n  no_link_transfer: {p2: C}\n",
		"  lanes: {p2: 6}\n",
		"  lanes: {p1: 4, p2: 4}\n  shuffle: [B]\n",
		"  lanes: {p1: 3}\n  reach: 1\n",
	};
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
		struct arena *arena = arena_open();
		struct space_time spec = space_time_alone(arena,
			arena_format(arena,
				"space_time:\n  loops: {i: 2, j: 3, k: 4}\n"
				"  einsum: 'C[i,j] = sum(k) A[i,k] * B[k,j]'\n"
				"  search: {allocation: [0, 1], schedule: [0, 2], rows: 2, wires: "
				"1}\n%s",
				limits[i]));
		struct project_search search = {.spec = &spec,
			.wishes.objectives = {3,
				{OBJECTIVE_LATENCY, OBJECTIVE_PES, OBJECTIVE_REGISTERS}},
			.solver = solver_find(STAGE_PROJECT, "exhaustive"),
			.wishes.simulate = SIMULATE_ALL,
			.wishes.asker = {.jobs = 1}};
		struct explored explored = project_explore(&search, arena);
		assert_true(explored.complete);
		assert_int_equal(explored.effort.refused, 0);
		assert_int_equal(explored.effort.disagreed, 0);
		struct frontier all = frontier_open(search.wishes.objectives);
		for (int n = 0; n < 64 * 27; n++) {
			struct projection projection = spec.projection;
			int64_t left = n, wires = 0;
			projection.space_count = 2;
			projection.time_count = 1;
			for (int e = 0; e < 9; e++) {
				int64_t *row = e < 6 ? projection.space[e / 3] : projection.time[0];
				row[e % 3] = left % (e < 6 ? 2 : 3);
				left /= e < 6 ? 2 : 3;
			}
			/* At most one dependence with a wire of its own; lanes share the others. */
			struct projection_facts facts =
				projection_facts(&spec.recurrence, &projection, &spec);
			for (int d = 0; d < spec.recurrence.dependence_count; d++) {
				if (facts.channels[d].delay ||
					facts.channels[d].kind == CHANNEL_SHARED)
					continue;
				wires++;
				projection.wires |= UINT32_C(1)
						    << spec.recurrence.dependences[d].stream;
			}
			facts = projection_facts(&spec.recurrence, &projection, &spec);
			if (wires > 1 || facts.fault != PROJECTION_FINE)
				continue;
			struct point point = {
				project_score(&spec.recurrence, &projection, &facts, 0),
				arena_format(arena, "%d", n), NULL};
			frontier_add(&all, arena, point);
		}
		assert_true(all.count > 0);
		assert_int_equal(all.count, explored.frontier.count);
		for (size_t k = 0; k < all.count; k++) {
			assert_int_equal(all.points[k].score.cycles,
				explored.frontier.points[k].score.cycles);
			assert_int_equal(
				all.points[k].score.pes, explored.frontier.points[k].score.pes);
			assert_int_equal(all.points[k].score.registers,
				explored.frontier.points[k].score.registers);
		}
		arena_close(arena);
	}
}

/* Lanes are the innermost loop, to be run at once where none waits for another one. */
TEST(lanes_are_written_as_vector_loops)
{
	static const struct {
		const char *text, *there, *order;
	} rows[] = {
		{CONVOLUTION "  lanes: 16\n  shuffle: Z\n",
			"#pragma omp simd /* lanes of a vector unit */\n\t\tfor (long k = 0;",
			"Z_now[11]"},
		{SYSTOLIC "  lanes: {p1: 4}\n  shuffle: B\n",
			"\t\t\t#pragma omp simd /* lanes of a vector unit */\n\t\t\tfor (long p1 = 0;",
			"A_now[6][4]"},
		{PRODUCT PLACED "  schedule: [1, 0, 1]\n  lanes: 8\n",
			"\t\t\t/* lanes of a vector unit */\n\t\t\tfor (long p2 = 0;",
			"A_now[4][6]"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct space_time spec = space_time_alone(arena, rows[i].text);
		struct projection_facts facts =
			projection_facts(&spec.recurrence, &spec.projection, &spec);
		const char *why = NULL, *code = projection_code(arena, &spec.recurrence,
						&spec.projection, &facts, &why);
		assert_null(why);
		assert_non_null(strstr(code, rows[i].there));
		assert_non_null(strstr(code, rows[i].order));
	}
}
