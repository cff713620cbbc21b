#include "base/arena.h"
#include "lower/graph/lower.h"
#include "search/graph/explore.h"
#include "search/graph/lx.h"
#include "tests/support/executed.h"
#include "tests/support/program_text.h"
#include "tests/support/ranks_arch.h"
#include "tests/support/workload_text.h"

#include <string.h>

#include "tests/test.h"

/* 100 cycles to a neighbour at 32 bytes a cycle; loads take 20 cycles more, stores 10. */
static const struct arch *three_ranks(const char *topology)
{
	struct ranks_arch machine = {
		.ranks = 3,
		.cores = 2,
		.links = arena_format(
			test_arena, "topology: %s, latency: 100ns, bandwidth: 32GB/s", topology),
		.load = 20,
		.store = 10,
		.lx_bytes = 65536,
		.alignment = 128,
	};
	return ranks_arch(test_arena, &machine);
}

static const char alone[] = "workload:\n"
			    "  dimensions: {m: 8, n: 128}\n"
			    "  ops:\n"
			    "    - w[m,n] = broadcast w0[m,n]\n";

/* One broadcast through these tiles. */
static struct executed run_alone(
	const struct arch *arch, const char *yaml, int64_t rows, int64_t sticks, int count)
{
	const struct workload *workload = workload_given(test_arena, yaml);
	struct planning planning = planning_default(arch);
	struct staging_option option = {.rows = rows, .sticks = sticks, .count = count};
	struct staging_menu menus[] = {{"w", 1, &option}, {0}};
	planning.menus = menus;
	struct recipe recipe = {.arch = arch,
		.workload = workload,
		.planning = planning,
		.place = solver_find(STAGE_PLACE, "greedy")};
	struct recipe_result made = recipe_plan(&recipe, test_arena);
	if (!made.plan)
		fail_msg("%s", made.why);
	struct executed executed = execute_plan(made.plan, 3, true, test_arena);
	if (executed.why)
		fail_msg("%s", executed.why);
	return executed;
}

/* 16 sticks: a chunk of 8 takes L = 20 + 8 and S = (10 + 8) + 2 * (10 + 100 + 32) cycles. */
TEST(takes_as_long_as_the_queues_of_the_root)
{
	static const struct {
		int64_t rows, sticks;
		int count;
		int64_t cycles;
	} rows[] = {
		{1, 8, 1, 2 * (28 + 302)},
		{1, 8, 2, 28 + 302 + 302},
		{2, 8, 1, 36 + 26 + 2 * (110 + 64)},
		{2, 4, 2, 28 + 302 + 302},
		{1, 4, 3, 24 + 4 * (14 + 2 * 126)},
	};
	const struct arch *arch = three_ranks("full");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct executed run =
			run_alone(arch, alone, rows[i].rows, rows[i].sticks, rows[i].count);
		assert_int_equal(run.cost.score.cycles, rows[i].cycles);
		assert_int_equal(run.result.cycles, rows[i].cycles);
	}
}

/* On a ring rank 2 is two links away. */
TEST(every_link_on_the_way_counts)
{
	struct executed run = run_alone(three_ranks("ring"), alone, 2, 8, 1);
	assert_int_equal(run.cost.score.cycles, 36 + 26 + (110 + 64) + (210 + 64));
	assert_int_equal(run.cost.score.link_bytes, 3 * 2048);
	assert_int_equal(run.result.cycles, run.cost.score.cycles);
}

TEST(counts_are_those_of_the_root)
{
	struct executed run = run_alone(three_ranks("full"), alone, 1, 8, 2);
	const int64_t *read = run.result.counts.steps[0].bytes[0];
	const int64_t *write = run.result.counts.steps[0].bytes[1];
	assert_int_equal(read[TRAFFIC_HBM_READ], 2048);
	assert_int_equal(read[TRAFFIC_LX_FILL], 2048);
	assert_int_equal(write[TRAFFIC_HBM_WRITE], 2048);
	assert_int_equal(write[TRAFFIC_LX_DRAIN], 3 * 2048);
	assert_int_equal(write[TRAFFIC_LINK], 2 * 2048);
	/* pJ per byte: HBM 3, LX 1, links 2 */
	assert_true(run.cost.score.energy_pj == 2048 * (3 + 1 + 3 + 3 + 2 * 2));
	assert_int_equal(run.cost.score.buffer_bytes, 2 * 1024);
	assert_int_equal(run.cost.score.lx_peak_bytes, 2 * 1024);
}

TEST(programs_name_ranks)
{
	struct executed run = run_alone(three_ranks("full"), alone, 1, 8, 1);
	assert_string_equal(program_text(test_arena, run.program),
		"0 in 0: w0[0+1 0+8] 0 > 0\n"
		"1 out 0: w[0+1 0+8] 0 > rank 0 2048 after 0\n"
		"2 out 0: w[0+1 0+8] 0 > rank 1 2048\n"
		"3 out 0: w[0+1 0+8] 0 > rank 2 2048\n"
		"4 in 0: w0[1+1 0+8] 1024 > 0 after 3\n"
		"5 out 0: w[1+1 0+8] 0 > rank 0 3072 after 4\n"
		"6 out 0: w[1+1 0+8] 0 > rank 1 3072\n"
		"7 out 0: w[1+1 0+8] 0 > rank 2 3072\n");
}

/* Every rank computes the sent tensor from inputs of its own; the root's arrives. */
TEST(what_is_computed_can_be_sent)
{
	struct executed run = run_alone(three_ranks("full"),
		"workload:\n"
		"  dimensions: {m: 8, n: 128}\n"
		"  ops:\n"
		"    - v[m,n] = x[m,n] * 2\n"
		"    - {op: \"w[m,n] = broadcast(v[m,n])\", root: 1}\n"
		"    - y[m,n] = x[m,n] + w[m,n]\n",
		2, 8, 1);
	const struct workload *workload = run.program->workload;
	int v = workload_tensor(workload, "v"), w = workload_tensor(workload, "w");
	int y = workload_tensor(workload, "y");
	size_t bytes = 8 * 128 * 2;
	void ***got = run.result.rank_outputs;
	for (int r = 0; r < 3; r++) {
		assert_memory_equal(got[r][w], got[1][v], bytes);
		assert_memory_equal(got[r][y], run.rank_expected[r][y], bytes);
		assert_true(r == 1 || memcmp(got[r][v], got[1][v], bytes) != 0);
	}
}

TEST(largest_dimensions_are_cut)
{
	static const struct {
		const char *shape;
		int64_t outer, rows, sticks;
	} rows[] = {
		{"w[m,n] = broadcast w0[m,n]", 1, 2, 8},
		{"w[n] = broadcast w0[n]", 1, 1, 2},
		{"w[h,m,n] = broadcast w0[h,m,n]", 2, 8, 3},
		{"w[m,n,h] = broadcast w0[m,n,h]", 1, 128, 8},
		{"w[n,h,g] = broadcast w0[n,h,g]", 1, 3, 128},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct workload *workload = workload_given(
			test_arena, arena_format(test_arena,
					    "workload:\n"
					    "  dimensions: {h: 3, m: 8, n: 128, g: 1}\n"
					    "  ops: [\"%s\"]\n",
					    rows[i].shape));
		const struct tensor *w = &workload->tensors[workload_tensor(workload, "w")];
		const struct tensor *from = &workload->tensors[workload_tensor(workload, "w0")];
		struct sliding sliding = sliding_make(&w->layout);
		assert_true(layout_equal(&w->layout, &from->layout));
		assert_int_equal(sliding.outer, rows[i].outer);
		assert_int_equal(sliding.rows, rows[i].rows);
		assert_int_equal(sliding.sticks, rows[i].sticks);
	}
}

static const char block[] = "workload:\n"
			    "  dimensions: {m: 64, k: 128, n: 128}\n"
			    "  ops:\n"
			    "    - z[m,k] = x[m,k] * 2\n"
			    "    - w[k,n] = broadcast w0[k,n]\n"
			    "    - c[m,n] = sum(k) z[m,k] * w[k,n]\n"
			    "    - y[m,n] = exp(c[m,n])\n";

static struct explored explore_block(int64_t lx_capacity, int64_t staging_bytes, int tiles,
	int jobs, const struct workload **out)
{
	struct ranks_arch machine = {.ranks = 4,
		.cores = 2,
		.links = "topology: full, latency: 500ns, bandwidth: 64GB/s",
		.load = 100,
		.store = 50,
		.lx_bytes = 1 << 20,
		.alignment = 128};
	struct exploration exploration = {
		.arch = ranks_arch(test_arena, &machine),
		.workload = workload_given(test_arena, block),
		.wishes.objectives = {2, {OBJECTIVE_LATENCY, OBJECTIVE_LX_PEAK}},
		.core_count = 2,
		.cores = {1, 2},
		.place = {1, {solver_find(STAGE_PLACE, "bestfit")}},
		.divide = portfolio_for(STAGE_DIVIDE, FOR_GRAPHS | FOR_OPS),
		.wishes.seed = 1,
		.wishes.asker.jobs = jobs,
	};
	exploration.planning = planning_default(exploration.arch);
	exploration.planning.lx_capacity = lx_capacity;
	exploration.arch = planning_arch(test_arena, exploration.arch, &exploration.planning);
	exploration.planning.staging_bytes = staging_bytes;
	exploration.planning.staging_tiles = tiles;
	exploration.planning.menus =
		staging_menus(exploration.arch, exploration.workload, tiles, test_arena);
	*out = exploration.workload;
	return explore(&exploration, test_arena);
}

static int64_t least_cycles(const struct explored *explored)
{
	assert_true(explored->frontier.count > 0);
	assert_null(explored->fault);
	return explored->frontier.points[0].score.cycles;
}

TEST(less_lx_moves_the_frontier)
{
	const struct workload *workload;
	struct explored free = explore_block(1 << 19, 0, 0, 1, &workload);
	struct explored little = explore_block(1 << 19, 8192, 0, 1, &workload);
	struct explored crowded = explore_block(36 << 10, 0, 0, 1, &workload);
	struct explored twin = explore_block(1 << 19, 8192, 2, 1, &workload);
	assert_true(free.frontier.count >= 5);
	assert_true(least_cycles(&free) < least_cycles(&crowded));
	assert_true(least_cycles(&crowded) < least_cycles(&little));
	assert_true(least_cycles(&little) < least_cycles(&twin));
	for (size_t i = 0; i < little.frontier.count; i++)
		assert_true(little.frontier.points[i].score.buffer_bytes <= 8192);
	for (size_t i = 0; i < free.frontier.count; i++) {
		const struct plan_found *found = free.frontier.points[i].payload;
		assert_true(found->common.execution.agrees);
		assert_int_equal(found->common.execution.mode, SIM_DATA);
		assert_true(found->common.execution.worst_ulps <= 2);
	}
}

TEST(threads_change_nothing)
{
	const struct workload *workload;
	struct explored one = explore_block(36 << 10, 0, 0, 1, &workload);
	struct explored four = explore_block(36 << 10, 0, 0, 4, &workload);
	assert_true(one.frontier.count > 0);
	assert_int_equal(one.frontier.count, four.frontier.count);
	for (size_t i = 0; i < one.frontier.count; i++)
		assert_string_equal(one.frontier.points[i].key, four.frontier.points[i].key);
}

TEST(menus_have_what_is_worth_its_bytes)
{
	const struct arch *arch = three_ranks("full");
	const struct staging_menu *menus =
		staging_menus(arch, workload_given(test_arena, block), 0, test_arena);
	assert_string_equal(menus[0].op, "w");
	assert_null(menus[1].op);
	assert_true(menus[0].count > 3);
	assert_int_equal(menus[0].options[0].bytes, STICK_BYTES);
	for (size_t i = 1; i < menus[0].count; i++) {
		assert_true(menus[0].options[i].bytes > menus[0].options[i - 1].bytes);
		assert_true(menus[0].options[i].cycles < menus[0].options[i - 1].cycles);
	}
}
