/* Graphs on machines whose tiles do not move in boxes, as a user runs them. */
#include "base/arena.h"
#include "tests/support/draws.h"
#include "tests/support/folder.h"

#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

static const char attention[] = "workload:\n"
				"  name: small\n"
				"  dimensions: {h: 2, q: 8, k: 8, d: 4}\n"
				"  ops:\n"
				"    - KT[h,d,k] = restickify K[h,k,d]\n"
				"    - S[h,q,k] = sum(d) Q[h,q,d] * KT[h,d,k]\n"
				"    - scaled[h,q,k] = S[h,q,k] * 0.125\n"
				"    - amax[h,q] = max(k) scaled[h,q,k]\n"
				"    - sub[h,q,k] = scaled[h,q,k] - amax[h,q]\n"
				"    - exp[h,q,k] = exp(sub[h,q,k])\n"
				"    - sum[h,q] = sum(k) exp[h,q,k]\n"
				"    - P[h,q,k] = exp[h,q,k] / sum[h,q]\n"
				"    - square[h,q,k] = P[h,q,k] * P[h,q,k]\n"
				"    - mean[h,q] = mean(k) square[h,q,k]\n"
				"    - {opaque: topk, reads: [mean], writes: ['best[k]']}\n"
				"    - O[h,q,d] = sum(k) P[h,q,k] * V[h,k,d]\n";

/* Column `name` of row `row` of a frontier; the header is row 0. */
static const char *column(const char *csv, const char *name, int row)
{
	int wanted = 0;
	const char *at = csv, *end = strchr(csv, '\n');
	size_t length = strlen(name);
	for (; strncmp(at, name, length) || (at[length] != ',' && at[length] != '\n'); wanted++) {
		at = strchr(at, ',') + 1;
		if (at > end)
			fail_msg("no column '%s'", name);
	}
	for (; row > 0 && (csv = strchr(csv, '\n')); row--)
		csv++;
	if (!csv || !*csv)
		return NULL;
	while (wanted-- > 0)
		csv = strchr(csv, ',') + 1;
	return arena_format(arena, "%.*s", (int)strcspn(csv, ",\n"), csv);
}

/* Every row is executed, and agrees; what stays in the buffer is not read from DRAM again; plans read as
 * they were written. */
FOLDER_TEST(graphs_run_on_machines_without_boxes)
{
	static const char *const names[] = {"gemmini", "eyeriss", "tpu_v4i", "simba", "tpu"};
	const char *workload = folder_put("small.yaml", attention);
	for (size_t m = 0; m < sizeof names / sizeof *names; m += (size_t)draws_apart(2)) {
		long long least[2] = {LLONG_MAX, LLONG_MAX};
		for (int planning = 0; planning < 2; planning++) {
			const char *search =
				folder_put("search.yaml", planning ? "search: {lx_planning: 1}\n"
								   : "search: {lx_planning: 0}\n");
			struct ended ended =
				shell(arena, "$LXPLORE explore specs/arch/%s.yaml %s %s -q -o %s",
					names[m], workload, search, folder);
			assert_int_equal(ended.status, 0);
			const char *csv = folder_text("pareto.csv"), *agrees;
			int row = 1;
			for (; (agrees = column(csv, "sim_agrees", row)); row++) {
				long long bytes = atoll(column(csv, "hbm_bytes", row));
				assert_string_equal(agrees, "true");
				least[planning] = bytes < least[planning] ? bytes : least[planning];
			}
			assert_true(row > 1);
		}
		if (least[1] >= least[0])
			fail_msg("%s: %lld bytes with residents, %lld without", names[m], least[1],
				least[0]);
		struct ended checked =
			shell(arena, "$LXPLORE check specs/arch/%s.yaml %s %s/plans/point-001.yaml",
				names[m], workload, folder);
		if (checked.status)
			fail_msg("%s: %s", names[m], checked.err);
		assert_non_null(strstr(checked.out, "no fault, counts agree"));
	}
}

/*
 * AccelForge's optimum of two products of 64 x 64 x 64 that share nothing, with its restrictions: all four
 * local buffers are used and no word goes to two of them at once, weights pass the global buffer, the others do
 * not.  Published (../shared/cases/fusion): 2.1447312 uJ and twice 20.013 ns, here whole cycles of 1.05 GHz.
 */
FOLDER_TEST(flags_of_a_machine_hold_in_graphs)
{
	static const char home[] = "search: {lx_planning: 0}\n";
	struct ended made = shell(arena,
		"sed -e '/spatial: {meshX: 4}/a\\    constraints: {spatial: {no_reuse: [\"*\"], factors: "
		"[m=4]}}' -e '/write_energy_per_byte: accelforge, 2.36 pJ a bit/a\\    constraints: "
		"{dataspace: {keep_only: [Weights]}}' -e 's/keep: .Inputs, Outputs./keep_only: [Inputs, "
		"Outputs]/' specs/arch/tpu_v4i.yaml > %s/v4i.yaml",
		folder);
	assert_int_equal(made.status, 0);
	struct ended ended = shell(arena,
		"$LXPLORE explore %s/v4i.yaml specs/workloads/fusion_matmuls.yaml %s --objective edp -q "
		"-o %s",
		folder, folder_put("home.yaml", home), folder);
	if (ended.status)
		fail_msg("%s", ended.err);
	const char *csv = folder_text("pareto.csv");
	assert_string_equal(column(csv, "latency_cycles", 1), "44");
	assert_string_equal(column(csv, "hbm_bytes", 1), "24576");
	assert_string_equal(column(csv, "sim_agrees", 1), "true");
	const double published_pj = 2144731.152171063;
	double energy = atof(column(csv, "energy_pj", 1));
	if (fabs(energy - published_pj) > 1e-7 * published_pj)
		fail_msg("%.17g pJ", energy);
}

/* Constraints of a file steer the nest of every op that has their names, and plans that break them
 * are reported. */
FOLDER_TEST(files_constrain_the_nests_of_ops)
{
	static const char product[] = "workload:\n"
				      "  dimensions: {m: 16, n: 16, k: 16}\n"
				      "  ops: ['C[m,n] = sum(k) A[m,k] * B[k,n]', "
				      "'D[m,n] = relu(C[m,n])']\n";
	static const struct {
		const char *key, *entry, *row;
	} rows[] = {
		{"constraints", "{target: column, type: spatial, factors: [m=2, k=8]}",
			"column: m2 k8"},
		{"architecture_constraints", "{target: column, type: spatial, factors: [k=4, n=1]}",
			"column: k4 |"},
		{"mapspace_constraints",
			"{target: weight_register, type: temporal, factors: [m=2, k=1, n=1]}",
			"weight_register: m2 |"},
	};
	const char *workload = folder_put("product.yaml", product);
	struct ended free_one = shell(arena,
		"$LXPLORE explore specs/arch/gemmini.yaml %s -q --objective energy -o %s/free",
		workload, folder);
	assert_int_equal(free_one.status, 0);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i += (size_t)draws_apart(1)) {
		const char *file = folder_put("constraints.yaml",
			arena_format(arena, "%s: [%s]\n", rows[i].key, rows[i].entry));
		struct ended ended = shell(arena,
			"$LXPLORE explore specs/arch/gemmini.yaml %s %s -q --objective energy -o %s",
			workload, file, folder);
		if (ended.status)
			fail_msg("%s: %s", rows[i].entry, ended.err);
		assert_string_equal(column(folder_text("pareto.csv"), "sim_agrees", 1), "true");
		const char *plan = folder_text("plans/point-001.yaml");
		if (!strstr(plan, rows[i].row))
			fail_msg("%s: %s", rows[i].entry, plan);
		struct ended checked = shell(arena,
			"$LXPLORE check specs/arch/gemmini.yaml %s %s %s/free/plans/point-001.yaml",
			workload, file, folder);
		bool same = strstr(folder_text("free/plans/point-001.yaml"), rows[i].row);
		if ((checked.status == 0) != same || (!same && !strstr(checked.err, "op 'C'")))
			fail_msg("%s: %s", rows[i].entry, checked.err);
	}
}

/* A table of energies prices an op as it prices the problem. */
FOLDER_TEST(tables_price_the_nests_of_ops)
{
	static const char ert[] = "ERT: {tables: [{name: DRAM, actions: [{name: read, energy: 7}, "
				  "{name: write, energy: 9}]}]}\n";
	static const char op[] =
		"workload: {dimensions: {M: 512, N: 512, K: 512}, ops: ['Outputs[M,N] = sum(K) "
		"Inputs[M,K] * Weights[K,N]']}\n";
	const char *files[] = {"specs/problems/gemm_512.yaml", folder_put("op.yaml", op)};
	const char *energies[2][2];
	for (int k = 0; k < 4; k++) {
		const char *table = k & 2 ? folder_put("ert.yaml", ert) : "";
		struct ended ended = shell(arena,
			"$LXPLORE explore specs/arch/gemmini.yaml %s %s --objective energy --simulate "
			"none -q -o %s",
			files[k & 1], table, folder);
		if (ended.status)
			fail_msg("%s", ended.err);
		energies[k >> 1][k & 1] = column(folder_text("pareto.csv"), "energy_pj", 1);
	}
	assert_string_equal(energies[0][0], energies[0][1]);
	assert_string_equal(energies[1][0], energies[1][1]);
	assert_string_not_equal(energies[0][0], energies[1][0]);
}

FOLDER_TEST(what_has_no_meaning_is_refused)
{
	static const struct {
		const char *files, *said;
	} rows[] = {
		{"specs/arch/eyeriss.yaml specs/workloads/gqa_decode.yaml",
			"has a device layout, and 'DRAM' has no sticks"},
		{"specs/arch/eyeriss.yaml specs/workloads/gpt_block_4ranks.yaml",
			"broadcasts move sticks, and 'system' has none"},
		{"specs/arch/eyeriss.yaml specs/workloads/mlp.yaml --solver divide=spyre",
			"steps on 'system' are whole nests, which stage 'map' finds"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ended ended = shell(arena, "$LXPLORE check %s", rows[i].files);
		assert_int_equal(ended.status, 2);
		if (!strstr(ended.err, rows[i].said))
			fail_msg("%s", ended.err);
	}
}

static double sum_of(const json_t *list)
{
	double sum = 0;
	size_t i;
	json_t *entry;
	json_array_foreach(list, i, entry)
		sum += json_number_value(json_object_get(entry, "energy_pj"));
	return sum;
}

/* Levels add up to the whole, and so do tensors with what is of no tensor: the model's and the simulator's. */
FOLDER_TEST(energies_of_levels_and_tensors_add_up)
{
	static const char *const names[] = {"spyre32", "spyre32_array", "eyeriss", "gemmini"};
	const char *workload = folder_put("small.yaml", attention);
	for (size_t m = 0; m < 2 * sizeof names / sizeof *names; m++) {
		struct ended ended = shell(arena, "$LXPLORE %s specs/arch/%s.yaml %s --format json",
			m % 2 ? "simulate" : "score", names[m / 2], workload);
		json_t *root = json_loads(ended.out, 0, NULL);
		assert_non_null(root);
		double all = json_number_value(json_object_get(root, "energy_pj"));
		json_t *energy = json_object_get(root, "energy");
		double levels = sum_of(json_object_get(energy, "levels"));
		double tensors = sum_of(json_object_get(energy, "tensors")) +
				 json_number_value(json_object_get(energy, "others_pj"));
		if (!(all > 0 && fabs(levels - all) <= 1e-12 * all &&
			    fabs(tensors - all) <= 1e-12 * all))
			fail_msg("%s: %.17g, levels %.17g, tensors %.17g", names[m / 2], all,
				levels, tensors);
		json_decref(root);
	}
}
