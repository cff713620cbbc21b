#include "base/arena.h"
#include "report/graph/plan_results.h"
#include "report/run/json.h"
#include "search/drive/solver.h"
#include "search/graph/evaluate.h"
#include "search/graph/recipe.h"
#include "sim/graph/reference.h"
#include "sim/machine/kernel.h"
#include "tests/support/sample.h"
#include "tests/support/spyre.h"
#include "tests/support/workload_text.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "tests/test.h"

/* A matrix product of three extents: how would a plan of it be run? */
static enum sim_mode mode_of(int64_t m, int64_t k, int64_t n)
{
	const struct workload *workload =
		workload_given(test_arena, arena_format(test_arena,
						   "workload:\n"
						   "  name: product\n"
						   "  dimensions: {m: %lld, k: %lld, n: %lld}\n"
						   "  ops:\n"
						   "    - c[m,n] = sum(k) a[m,k] * b[k,n]\n",
						   (long long)m, (long long)k, (long long)n));
	struct score score = {.computes = op_points(&workload->ops[0])};
	return evaluate_mode(workload, spyre_arch(test_arena, 1), &score);
}

TEST(few_numbers_are_computed)
{
	assert_int_equal(mode_of(512, 512, 512), SIM_DATA);
}

TEST(many_operations_get_identities)
{
	assert_int_equal(mode_of(1024, 1024, 1024), SIM_IDENTITY);
}

/* 64 Mi elements of `a` and few operations: the memory is what counts. */
TEST(large_tensors_get_identities)
{
	assert_int_equal(mode_of(1 << 20, 64, 1), SIM_IDENTITY);
}

TEST(huge_tensors_are_only_counted)
{
	assert_int_equal(mode_of(1 << 20, 1 << 10, 64), SIM_COUNT);
}

/* exp a little wrong, and much too large. */
static float exp_wrong(const struct primitive *primitive, float a, float b)
{
	float value = kernel_apply(primitive, a, b);
	return primitive == primitive_find("exp") ? value * value : value;
}

static float exp_infinite(const struct primitive *primitive, float a, float b)
{
	return primitive == primitive_find("exp") ? INFINITY : kernel_apply(primitive, a, b);
}

static float rsqrt_hundredth(const struct primitive *primitive, float a, float b)
{
	float value = kernel_apply(primitive, a, b);
	return primitive == primitive_find("rsqrt") ? value * 1.01f : value;
}

static float sum_thousandth(const struct primitive *primitive, float a, float b)
{
	float value = kernel_apply(primitive, a, b);
	return primitive == &primitive_sum ? value * 1.001f : value;
}

/* Only where a sum is almost whole, so that it is a thousandth too large. */
static float sum_at_the_end(const struct primitive *primitive, float a, float b)
{
	float value = kernel_apply(primitive, a, b);
	return primitive == &primitive_sum && a < 63 && value >= 63 ? value * 1.001f : value;
}

/* A plan on four cores, executed with a kernel and compared with the truth. */
static struct outcome run_against(const struct truth *truth, kernel_function kernel,
	const struct arch *arch, struct recipe_result *made)
{
	struct recipe recipe = {.arch = arch,
		.workload = truth->workload,
		.planning = planning_default(arch),
		.place = solver_find(STAGE_PLACE, "greedy")};
	*made = recipe_plan(&recipe, test_arena);
	assert_non_null(made->plan);
	struct simulation how = {.mode = SIM_DATA, .truth = truth, .kernel = kernel};
	struct outcome outcome = evaluate_cost(made->plan, test_arena);
	evaluate_simulate(&outcome, &how, test_arena);
	assert_true(outcome.simulated && !outcome.sim.fault_count);
	return outcome;
}

static struct outcome run_made(kernel_function kernel, const struct arch *arch,
	const struct workload *workload, struct recipe_result *made)
{
	struct truth truth = evaluate_truth(workload, arch, 1, test_arena);
	return run_against(&truth, kernel, arch, made);
}

static struct outcome run_with(
	kernel_function kernel, const struct arch *arch, const struct workload *workload)
{
	struct recipe_result made;
	return run_made(kernel, arch, workload, &made);
}

/* An op is held to what its own arithmetic may be off by: 1.01 of 1 are ten units of fp16, 1.001 of it one.  The sums
 * of `z` are of values between 0.75 and 1.3, which cannot cancel. */
TEST(small_errors_of_one_op_are_noticed)
{
	const struct arch *arch = spyre_arch(test_arena, 4);
	const struct workload *layernorm =
		workload_of_file(test_arena, "specs/workloads/layernorm.yaml", NULL);
	const struct workload *positive =
		workload_given(test_arena, "workload:\n"
					   "  dimensions: {m: 128, n: 64}\n"
					   "  ops:\n"
					   "    - e[m,n] = exp(x[m,n])\n"
					   "    - z[m] = sum(n) e[m,n]\n");
	assert_true(run_with(NULL, arch, layernorm).agrees);
	assert_true(run_with(NULL, arch, positive).agrees);
	struct outcome outcome = run_with(rsqrt_hundredth, arch, layernorm);
	assert_false(outcome.agrees);
	assert_true(outcome.off_ulps > 5 && outcome.off_most < 2);
	outcome = run_with(sum_thousandth, arch, positive);
	assert_false(outcome.agrees);
	assert_string_equal(outcome.off_tensor, "z");
	outcome = run_with(sum_at_the_end, arch, positive);
	assert_false(outcome.agrees);
	assert_true(outcome.off_ulps < 3 && outcome.off_most < 1.1);
}

/* Each op computes what its operands give, but the truth of the whole run is another. */
TEST(results_far_from_the_truth_are_a_disagreement)
{
	const struct arch *arch = spyre_arch(test_arena, 4);
	const struct workload *workload =
		workload_given(test_arena, "workload:\n"
					   "  dimensions: {m: 128, n: 64}\n"
					   "  ops:\n"
					   "    - e[m,n] = exp(x[m,n])\n");
	struct truth truth = evaluate_truth(workload, arch, 1, test_arena);
	truth.arrays[0][names_find(&truth.names, "e")] =
		truth.arrays[0][names_find(&truth.names, "x")];
	struct recipe_result made;
	struct outcome outcome = run_against(&truth, NULL, arch, &made);
	assert_false(outcome.agrees);
	assert_string_equal(outcome.off_tensor, "e");
	assert_true(outcome.off_ulps > 100 * outcome.off_most);
}

/* Some result of a softmax on four cores; its text and JSON in *text, *json. */
static struct outcome run_softmax(kernel_function kernel, const char **text, const char **json)
{
	const struct arch *arch = spyre_arch(test_arena, 4);
	const struct workload *workload =
		workload_given(test_arena, "workload:\n"
					   "  dimensions: {m: 128, n: 64}\n"
					   "  ops:\n"
					   "    - top[m] = max(n) x[m,n]\n"
					   "    - low[m,n] = x[m,n] - top[m]\n"
					   "    - e[m,n] = exp(low[m,n])\n"
					   "    - all[m] = sum(n) e[m,n]\n"
					   "    - y[m,n] = e[m,n] / all[m]\n");
	struct recipe_result made;
	struct outcome outcome = run_made(kernel, arch, workload, &made);
	json_t *tree = score_json(test_arena, &outcome, &made, true);
	*text = score_text(test_arena, &outcome, tree);
	*json = json_text(test_arena, tree);
	return outcome;
}

TEST(right_results_agree)
{
	const char *text, *json;
	struct outcome outcome = run_softmax(NULL, &text, &json);
	assert_true(outcome.agrees);
	assert_true(outcome.sim_energy_pj == outcome.cost.score.energy_pj);
	assert_null(outcome.off_tensor);
	assert_true(outcome.worst_ulps <= 1);
	assert_non_null(strstr(json, "\"agrees\": true"));
	assert_null(strstr(json, "\"off\""));
}

/* Counts and bytes are correct: only the values differ. */
TEST(a_wrong_kernel_is_a_disagreement)
{
	const char *text, *json;
	struct outcome outcome = run_softmax(exp_wrong, &text, &json);
	assert_true(outcome.simulated);
	assert_int_equal(outcome.sim.fault_count, 0);
	assert_true(counts_equal(&outcome.cost.counts, &outcome.sim.counts));
	assert_false(outcome.agrees);
	assert_non_null(outcome.off_tensor);
	assert_true(outcome.off_ulps > outcome.off_most);
	assert_true(outcome.off_most < 100);
	assert_non_null(strstr(json, "\"agrees\": false"));
	assert_non_null(strstr(json, "\"ulps_stated\""));
	assert_non_null(strstr(text, "DISAGREES with the model"));
	assert_non_null(strstr(text, "are stated"));
}

TEST(infinite_results_are_written)
{
	const char *text, *json;
	struct outcome outcome = run_softmax(exp_infinite, &text, &json);
	assert_false(outcome.agrees);
	assert_true(isinf(outcome.worst_ulps));
	assert_non_null(strstr(json, "\"worst_ulps\": \"infinite\""));
	json_t *root = json_loads(json, 0, NULL);
	assert_non_null(root);
	assert_string_equal(json_string_value(json_object_get(root, "worst_ulps")), "infinite");
	json_decref(root);
}

/* One unit for the rounding of a result, more for long sums in fp32. */
TEST(ulps_are_stated_by_op)
{
	const struct workload *workload =
		workload_given(test_arena, "workload:\n"
					   "  dimensions: {m: 64, n: 64, k: 4096}\n"
					   "  ops:\n"
					   "    - c[m,n] = sum(k) a[m,k] * b[k,n]\n"
					   "    - e[m,n] = exp(c[m,n])\n"
					   "    - t[m] = max(n) e[m,n]\n");
	assert_float_equal(reference_ulps(workload, &workload->ops[0]), 1 + 2 * 64 / 8192.0, 1e-9);
	assert_float_equal(reference_ulps(workload, &workload->ops[1]), 1, 0);
	assert_float_equal(reference_ulps(workload, &workload->ops[2]), 1, 0);
}
