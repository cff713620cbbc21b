/* One op written as a problem and as a workload, for a machine whose tiles move in boxes. */
#include "base/arena.h"
#include "tests/support/csv.h"
#include "tests/support/folder.h"

#include <stdio.h>
#include <string.h>

#include "tests/test.h"

static const char gemm[] = "workload:\n"
			   "  name: gemm_512\n"
			   "  dimensions: {M: 512, N: 512, K: 512}\n"
			   "  ops:\n"
			   "  - Outputs[M,N] = sum(K) Inputs[M,K] * Weights[K,N]\n";

/* Frontier and plans of an exploration, without the header. */
static const char *explore(const char *files)
{
	struct ended ended = shell(arena,
		"$LXPLORE explore specs/arch/spyre32_published.yaml %s --simulate none -q -o %s",
		files, folder);
	assert_string_equal(ended.err, "");
	assert_int_equal(ended.status, 0);
	return arena_format(
		arena, "%s%s", folder_text("pareto.csv"), folder_text("plans/point-001.yaml"));
}

FOLDER_TEST(both_have_the_same_frontier)
{
	const char *problem = explore("specs/problems/gemm_512.yaml");
	assert_string_equal(problem, explore(folder_put("gemm.yaml", gemm)));
	assert_non_null(strstr(problem, "\n1,19613,"));
	assert_non_null(strstr(problem, "workload: gemm_512\n"));
	assert_non_null(strstr(problem, "op: Outputs,"));
}

/* A mapping that is found for a problem is scored and executed as its plan. */
FOLDER_TEST(a_plan_is_of_the_problem)
{
	explore("specs/problems/gemm_512.yaml");
	struct ended scored = shell(arena,
		"$LXPLORE score specs/arch/spyre32_published.yaml specs/problems/gemm_512.yaml "
		"%s/plans/point-001.yaml",
		folder);
	assert_int_equal(scored.status, 0);
	assert_non_null(strstr(scored.out, "\"cycles\": 19613"));
	assert_non_null(strstr(scored.out, "\"Weights\""));
	struct ended checked = shell(arena,
		"$LXPLORE check specs/arch/spyre32_published.yaml specs/problems/gemm_512.yaml "
		"%s/plans/point-001.yaml",
		folder);
	assert_int_equal(checked.status, 0);
}

static const char mapping[] =
	"mapping:\n"
	"- {target: HBM, type: temporal, factors: N=4, permutation: N}\n"
	"- {target: core, type: spatial, factors: K=2 M=4 N=2, permutation: KMN}\n"
	"- {target: LX, type: temporal, factors: M=128 N=64 K=256}\n";

static struct ended score(const char *file)
{
	return shell(arena,
		"$LXPLORE score specs/arch/spyre32_published.yaml specs/problems/gemm_512.yaml %s",
		file);
}

/* Tiles stand at the home, the division at the cores, what is left of a tile in the scratchpad. */
FOLDER_TEST(a_mapping_is_a_plan)
{
	struct ended scored = score(folder_put("mapping.yaml", mapping));
	assert_int_equal(scored.status, 0);
	assert_non_null(strstr(scored.out, "\"cycles\": 19613"));
	assert_non_null(strstr(scored.out, "\"core: K2 M4 N2 | LX: N4\""));
	/* and back */
	const char *line = "\"HBM: N4 | core: K2 M4 N2 | LX: K256 N64 M128\"";
	assert_non_null(strstr(scored.out, line));
	struct ended again =
		score(folder_put("line.yaml", arena_format(arena, "mapping: %s\n", line)));
	assert_string_equal(again.out, scored.out);
}

FOLDER_TEST(constraints_of_its_mapspace_hold)
{
	const char *held = folder_put("held.yaml",
		"constraints:\n  targets:\n"
		"  - {target: core, type: spatial, factors: [K=1, M=4, N=2]}\n"
		"mapper: {optimization_metrics: [delay]}\n");
	const char *found =
		explore(arena_format(arena, "specs/problems/gemm_512.yaml %s 2> /dev/null", held));
	assert_non_null(strstr(found, "core: M4 N2 |"));
	assert_null(strstr(folder_text("pareto.csv"), "\n2,")); /* one objective */
	struct ended broken =
		score(arena_format(arena, "%s %s", folder_put("mapping.yaml", mapping), held));
	assert_int_equal(broken.status, 2);
	assert_non_null(
		strstr(broken.err, "held.yaml:3:44: error: 'core' (spatial) has K=2, not K=1"));
}

/* Loops at the home are streaming tiles: constraints steer them, their number and their order. */
FOLDER_TEST(constraints_steer_streaming_tiles)
{
	static const struct {
		const char *entry, *tiles;
	} rows[] = {
		{"factors: [K=2]", " K2\""},
		{"factors: [M=4, N=2, K=2], permutation: [K, M, N]", "| LX: N2 M4 K2\""},
		{"factors: [M=2, N=2, K=2], permutation: [K, M, N]", "| LX: N2 M2 K2\""},
		{"factors: [M=2, N=2, K=2], permutation: [K, N, M]", "| LX: M2 N2 K2\""},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *held = folder_put(
			"held.yaml", arena_format(arena,
					     "constraints: [{target: HBM, type: temporal, %s}]\n"
					     "search: {cores: 4}\n",
					     rows[i].entry));
		struct ended ended = shell(arena,
			"$LXPLORE explore specs/arch/spyre32_published.yaml specs/problems/gemm_512.yaml %s "
			"--simulate none -q -o %s",
			held, folder);
		if (ended.status)
			fail_msg("%s: %s", rows[i].entry, ended.err);
		const char *plan = folder_text("plans/point-001.yaml");
		if (!strstr(plan, rows[i].tiles))
			fail_msg("%s: %s", rows[i].entry, plan);
	}
	struct ended none = shell(arena,
		"$LXPLORE explore specs/arch/spyre32_published.yaml specs/problems/gemm_512.yaml %s -q -o %s",
		folder_put("none.yaml", "constraints: [{target: HBM, type: temporal, "
					"factors: [M=1024]}, {target: core, type: spatial, "
					"factors: [M=2]}]\n"),
		folder);
	assert_int_not_equal(none.status, 0);
}

static const char *explore_on_gemmini(const char *op)
{
	const char *workload = arena_format(arena,
		"workload:\n  name: gemm\n  dimensions: {M: 64, N: 64, K: 64}\n  ops:\n  - %s\n",
		op);
	struct ended ended = shell(arena,
		"$LXPLORE explore specs/arch/gemmini.yaml %s --objective energy --simulate none -q "
		"-o %s > /dev/null",
		folder_put("gemm.yaml", workload), folder);
	assert_int_equal(ended.status, 0);
	return arena_text(arena, csv_cell(arena, folder_text("pareto.csv"), 1, "energy_pj"));
}

/* If operands have another order, `roles:` names those that the machine means. */
FOLDER_TEST(roles_go_with_operands)
{
	const char *plain = explore_on_gemmini("\"O[M,N] = sum(K) I[M,K] * W[K,N]\"");
	assert_string_equal(plain,
		explore_on_gemmini("{op: \"O[M,N] = sum(K) W[K,N] * I[M,K]\", roles: [Weights, "
				   "Inputs, Outputs]}"));
}
