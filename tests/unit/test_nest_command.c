#include "base/arena.h"
#include "base/text.h"
#include "tests/support/folder.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "tests/test.h"

/* Z[M, N] = sum over K of A[M, K] * B[K, N] on four multipliers with registers. */
static const char machine[] = "architecture:\n"
			      "  version: 0.4\n"
			      "  nodes:\n"
			      "  - !Container\n"
			      "    name: system\n"
			      "    attributes: {clock: 1GHz}\n"
			      "  - !Component\n"
			      "    name: DRAM\n"
			      "    class: DRAM\n"
			      "    attributes: {width: 16, datawidth: 16}\n"
			      "  - !Component\n"
			      "    name: GLB\n"
			      "    class: SRAM\n"
			      "    attributes: {depth: 1024, width: 16, datawidth: 16}\n"
			      "  - !Container\n"
			      "    name: PE\n"
			      "    spatial: {meshX: 4}\n"
			      "  - !Component\n"
			      "    name: RF\n"
			      "    class: regfile\n"
			      "    attributes: {depth: 64, width: 16, datawidth: 16}\n"
			      "  - !Component\n"
			      "    name: MAC\n"
			      "    class: intmac\n"
			      "    attributes: {datawidth: 16}\n";
static const char problem[] = "problem:\n"
			      "  version: 0.4\n"
			      "  shape:\n"
			      "    name: gemm\n"
			      "    dimensions: [M, N, K]\n"
			      "    data_spaces:\n"
			      "    - {name: A, projection: [[[M]], [[K]]]}\n"
			      "    - {name: B, projection: [[[K]], [[N]]]}\n"
			      "    - {name: Z, projection: [[[M]], [[N]]], read_write: true}\n"
			      "  instance: {M: 16, N: 16, K: 16}\n";
static const char mapping[] =
	"mapping:\n"
	"- {target: DRAM, type: temporal, factors: N=2 K=2, permutation: NKM}\n"
	"- {target: GLB, type: temporal, factors: M=2 N=2 K=2, permutation: MNK}\n"
	"- {target: PE, type: spatial, factors: M=4, permutation: MNK}\n"
	"- {target: RF, type: temporal, factors: M=2 N=4 K=4, permutation: MNK}\n";
static const char ert[] = "ERT:\n"
			  "  version: 0.4\n"
			  "  tables:\n"
			  "  - name: system.DRAM[1..1]\n"
			  "    actions: [{name: read, energy: 100}, {name: write, energy: 100},\n"
			  "      {name: update, energy: 100}, {name: leak, energy: 0}]\n"
			  "  - name: system.GLB[1..1]\n"
			  "    actions: [{name: read, energy: 10}, {name: write, energy: 10},\n"
			  "      {name: update, energy: 10}, {name: leak, energy: 0}]\n"
			  "  - name: system.RF[1..4]\n"
			  "    actions: [{name: read, energy: 1}, {name: write, energy: 1},\n"
			  "      {name: update, energy: 1}, {name: leak, energy: 0}]\n"
			  "  - name: system.MAC[1..4]\n"
			  "    actions: [{name: compute, energy: 0.5}, {name: leak, energy: 0}]\n";

static int set_up(void **state)
{
	folder_set_up(state);
	folder_put("machine.yaml", machine);
	folder_put("problem.yaml", problem);
	folder_put("mapping.yaml", mapping);
	folder_put("ert.yaml", ert);
	return 0;
}

/* Runs a command in the folder. */
static struct ended run(const char *command)
{
	return folder_run(arena_format(arena, "\"$program\" %s", command));
}

static json_t *run_json(const char *command, int status)
{
	struct ended ended = run(command);
	if (ended.status != status)
		fail_msg("%s: status %d\n%s", command, ended.status, ended.err);
	json_t *root = json_loads(ended.out, 0, NULL);
	if (!root)
		fail_msg("%s: no JSON\n%s", command, ended.out);
	return root;
}

static json_int_t number(json_t *root, const char *level, const char *space, const char *key)
{
	size_t i;
	json_t *entry;
	json_array_foreach(json_object_get(root, "levels"), i, entry) {
		if (strcmp(json_string_value(json_object_get(entry, "name")), level) != 0)
			continue;
		if (space)
			entry = json_object_get(json_object_get(entry, "dataspaces"), space);
		json_t *value = json_object_get(entry, key);
		assert_true(json_is_integer(value));
		return json_integer_value(value);
	}
	fail_msg("no level '%s'", level);
	return 0;
}

#define ALL "machine.yaml problem.yaml mapping.yaml ert.yaml"

static void score_prints_every_count(void **state)
{
	json_t *root = run_json("score --counting timeloop " ALL, 0);
	assert_true(json_is_true(json_object_get(root, "feasible")));
	assert_string_equal(json_string_value(json_object_get(root, "counting")), "timeloop");
	assert_string_equal(json_string_value(json_object_get(root, "energy_source")), "ERT");
	assert_string_equal(json_string_value(json_object_get(root, "mapping")),
		"DRAM: K2 N2 | GLB: K2 N2 M2 | PE: M4 | RF: K4 N4 M2");
	assert_int_equal(json_integer_value(json_object_get(root, "cycles")), 1024);
	assert_int_equal(json_integer_value(json_object_get(root, "computes")), 4096);
	assert_int_equal(number(root, "RF", NULL, "utilized_instances"), 4);
	assert_int_equal(number(root, "RF", "A", "utilized_capacity"), 8);
	assert_int_equal(number(root, "RF", "A", "reads"), 1024);
	assert_int_equal(number(root, "RF", "A", "total_reads"), 4096);
	assert_int_equal(number(root, "RF", "Z", "fills"), 192);
	assert_int_equal(number(root, "GLB", "B", "reads"), 256);
	assert_int_equal(number(root, "GLB", "Z", "updates"), 1024);
	assert_int_equal(number(root, "DRAM", "Z", "updates"), 512);
	assert_int_equal(number(root, "MAC", NULL, "utilized_instances"), 4);
	/* 4096 * .5 + RF + GLB + DRAM accesses at 1, 10 and 100 */
	double rf = 4 * (1024 + 256 + 1024 + 256 + 960 + 192 + 1024);
	double glb = 10 * (1024 + 256 + 256 + 256 + 768 + 256 + 1024);
	double dram = 100 * (256 + 256 + 256 + 512);
	assert_float_equal(
		json_real_value(json_object_get(root, "energy_pj")), 2048 + rf + glb + dram, 1e-6);
	json_decref(root);
}

static void formats_say_the_same(void **state)
{
	struct ended text = run("score --counting timeloop --format text " ALL);
	struct ended csv = run("score --counting timeloop --format csv " ALL);
	assert_int_equal(text.status, 0);
	assert_non_null(strstr(text.out, "latency      1.024 us (1024 cycles)\n"));
	assert_non_null(strstr(text.out, "\n    GLB keeps A, B, Z\n"
					 "    for K in 0..2\n"
					 "      for N in 0..2\n"
					 "        for M in 0..2\n"
					 "          at once M in 0..4 along X\n"
					 "            RF keeps A, B, Z\n"));
	assert_int_equal(csv.status, 0);
	assert_non_null(strstr(csv.out, "\ncycles,1024\n"));
	assert_non_null(strstr(csv.out, "\nlevels.1.dataspaces.Z.total_updates,4096\n"));
}

static void simulate_executes_and_agrees(void **state)
{
	json_t *root = run_json("simulate " ALL, 0);
	assert_true(json_is_true(json_object_get(root, "agrees")));
	assert_true(json_is_true(json_object_get(root, "computed")));
	assert_true(json_is_true(json_object_get(root, "right")));
	assert_string_equal(json_string_value(json_object_get(root, "counting")), "exact");
	json_t *timing = json_object_get(root, "timing");
	assert_true(json_integer_value(json_object_get(timing, "cycles")) >=
		    json_integer_value(json_object_get(root, "cycles")));
	json_decref(root);
	struct ended text = run("simulate --format text " ALL);
	assert_int_equal(text.status, 0);
	assert_non_null(strstr(text.out, "; the model agrees\nresult       right\n"));
}

static void every_count_is_explained(void **state)
{
	struct ended ended = run("score --explain " ALL);
	assert_int_equal(ended.status, 0);
	static const char *const parts[] = {
		"B[K, N], read; its home is DRAM\n",
		"  RF <- GLB\n"
		"    tile 4 x 4 = 16 words\n"
		"    stays in place through M2, which do not index it\n"
		"    moves with N2 K2 N2 K2, innermost first: 16 times\n"
		"    4 children at once: M4 (the same words); 1 group of 4\n"
		"    fills at RF = 16 moves x 16 words x 4 instances = 1024\n"
		"    reads at GLB = 16 moves x 16 words x 1 group x 1 instance = 256\n",
		"    reads at GLB = 1024 updates - 256 that found no partial sum = 768\n",
		"cycles: 1024 of compute: 1024 in all\n",
	};
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (!strstr(ended.out, parts[i]))
			fail_msg("%s\nwanted: %s", ended.out, parts[i]);
}

/* 7 rows in 4 and 3, on as many multipliers: the last one has less to do. */
static void shares_that_do_not_come_out_even_are_fractions(void **state)
{
	folder_put("odd.yaml", "problem:\n"
			       "  shape:\n"
			       "    name: gemm\n"
			       "    dimensions: [M, N, K]\n"
			       "    data_spaces:\n"
			       "    - {name: A, projection: [M, K]}\n"
			       "    - {name: B, projection: [K, N]}\n"
			       "    - {name: Z, projection: [M, N], read_write: true}\n"
			       "  instance: {M: 7, N: 1, K: 1}\n"
			       "mapping:\n"
			       "- {target: GLB, type: temporal, factors: M2}\n"
			       "- {target: PE, type: spatial, factors: \"M=4,3\"}\n");
	json_t *root = run_json("simulate machine.yaml odd.yaml ert.yaml", 0);
	assert_true(json_is_true(json_object_get(root, "agrees")));
	json_t *level = json_array_get(json_object_get(root, "levels"), 1);
	json_t *space = json_object_get(json_object_get(level, "dataspaces"), "A");
	assert_string_equal(json_string_value(json_object_get(space, "reads")), "7/4");
	assert_int_equal(number(root, "RF", "A", "total_reads"), 7);
	assert_int_equal(number(root, "MAC", NULL, "computes"), 7);
	json_decref(root);
	struct ended ended = run("score --counting timeloop machine.yaml odd.yaml ert.yaml");
	assert_non_null(strstr(ended.out, "\"counting\": \"exact\""));
	assert_non_null(strstr(ended.err, "warning: factors do not divide: counted exactly"));
}

static void what_takes_too_long_is_not_executed(void **state)
{
	struct ended ended = run("simulate --simulate-budget 4095 " ALL);
	assert_int_equal(ended.status, 3);
	assert_string_equal(ended.err, "lxplore: not executed: 4096 steps of multipliers, and at "
				       "most 4095 are taken\n");
	assert_non_null(strstr(ended.out, "\"finished\": false"));
	assert_null(strstr(ended.out, "\"agrees\""));
	assert_int_equal(run("simulate --simulate-budget 4096 " ALL).status, 0);
}

static void the_counting_comes_from_search_or_option(void **state)
{
	folder_put("search.yaml", "search: {counting: timeloop}\n");
	json_t *from_spec = run_json("score search.yaml " ALL, 0);
	assert_string_equal(json_string_value(json_object_get(from_spec, "counting")), "timeloop");
	json_decref(from_spec);
}

static void what_does_not_fit_exits_with_1(void **state)
{
	folder_put(
		"large.yaml", "mapping:\n- {target: RF, type: temporal, factors: M16 N16 K16}\n");
	json_t *root = run_json(
		"score --counting timeloop machine.yaml problem.yaml large.yaml ert.yaml", 1);
	assert_true(json_is_false(json_object_get(root, "feasible")));
	assert_string_equal(json_string_value(json_object_get(root, "why")),
		"the tiles at 'RF' take 768 words; it holds 64");
	json_decref(root);
}

static void what_timeloop_cannot_count_is_said(void **state)
{
	folder_put("gaps.yaml", "problem:\n"
				"  shape:\n"
				"    name: gaps\n"
				"    dimensions: [M]\n"
				"    coefficients: [{name: stride, default: 2}]\n"
				"    data_spaces:\n"
				"    - {name: A, projection: [M]}\n"
				"    - {name: Z, projection: [[[M, stride]]], read_write: true}\n"
				"  instance: {M: 8}\n"
				"mapping:\n"
				"- {target: RF, type: temporal, factors: M8}\n");
	json_t *root = run_json("score --counting timeloop machine.yaml gaps.yaml", 1);
	assert_string_equal(json_string_value(json_object_get(root, "why")),
		"by Timeloop's rules a count of 'Z' is below zero or larger than 2^53");
	json_decref(root);
	json_decref(run_json("score machine.yaml gaps.yaml", 0));
}

/* A mapping without the loops that are asked for beats none that has them. */
static void searches_keep_what_no_bound_says(void **state)
{
	static const char *const solvers[] = {"linear", "exact"};
	folder_put("small.yaml",
		"problem:\n"
		"  shape:\n"
		"    name: small\n"
		"    dimensions: [M, N, K]\n"
		"    data_spaces:\n"
		"    - {name: A, projection: [M, K]}\n"
		"    - {name: B, projection: [K, N]}\n"
		"    - {name: Z, projection: [M, N], read_write: true}\n"
		"  instance: {M: 4, N: 4, K: 2}\n"
		"constraints:\n"
		"  targets:\n"
		"  - {target: GLB, type: temporal, must_iterate_over_dataspaces: [A, B]}\n");
	for (int i = 0; i < 2; i++) {
		struct ended ended = run(arena_format(arena,
			"explore -q --solver map=%s --objective latency --simulate none "
			"--budget 100000000 --format csv machine.yaml small.yaml",
			solvers[i]));
		assert_int_equal(ended.status, 0);
		if (!strstr(ended.out, "\n1,8,") || !strstr(ended.out, ",optimal,"))
			fail_msg("%s: %s", solvers[i], ended.out);
	}
}

static void a_name_is_one_folder(void **state)
{
	folder_put("named.yaml", "problem:\n"
				 "  shape:\n"
				 "    name: ../up/..\n"
				 "    dimensions: [M]\n"
				 "    data_spaces:\n"
				 "    - {name: A, projection: [M]}\n"
				 "    - {name: Z, projection: [M], read_write: true}\n"
				 "  instance: {M: 8}\n");
	assert_int_equal(run("explore -q --budget 10 machine.yaml named.yaml").status, 0);
	assert_int_equal(run("report results/_._up_..").status, 0);
}

static void broken_constraints_exit_with_1(void **state)
{
	folder_put("constraints.yaml",
		"constraints:\n  targets:\n  - {target: RF, type: temporal, factors: N<=2}\n");
	json_t *root = run_json("score --counting timeloop constraints.yaml " ALL, 1);
	assert_true(json_is_false(json_object_get(root, "feasible")));
	assert_non_null(
		strstr(json_string_value(json_object_get(root, "why")), "constraints.yaml:3"));
	json_decref(root);
}

/* The mapping keeps to all of these but the last two. */
static void score_and_check_hold_constraints_against_a_mapping(void **state)
{
	static const struct {
		const char *target;
		int status;
	} rows[] = {
		{"{target: PE, type: spatial, maximize_dims: [[M]]}", 0},
		{"{target: RF, type: temporal, maximize_dims: [[N]], maximize_dims_capacity: 4}",
			0},
		{"{target: PE, type: spatial, split: 1}", 0},
		{"{target: DRAM, type: temporal, permutation: NKM}", 0},
		{"{target: PE, type: spatial, no_iteration_over_dataspaces: [B]}", 0},
		{"{target: GLB, type: temporal, must_iterate_over_dataspaces: [A, B, Z]}", 0},
		{"{target: RF, type: dataspace, keep: [A, B, Z]}", 0},
		{"{target: PE, type: spatial, maximize_dims: [[N]]}", 1},
		{"{target: PE, type: spatial, no_iteration_over_dataspaces: [A]}", 1},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char text[200];
		snprintf(text, sizeof text, "constraints:\n  targets:\n  - %s\n", rows[i].target);
		folder_put("constraints.yaml", text);
		struct ended score = run("score constraints.yaml " ALL);
		struct ended check = run("check constraints.yaml " ALL);
		if (score.status != rows[i].status || check.status != rows[i].status)
			fail_msg("%s: score %d, check %d\n%s", rows[i].target, score.status,
				check.status, check.err);
	}
}

/* The example that check prints keeps orders, and loops over dataspaces. */
static void an_example_keeps_to_every_constraint(void **state)
{
	folder_put("constraints.yaml", "constraints:\n  targets:\n"
				       "  - {target: DRAM, type: temporal, permutation: KMN}\n"
				       "  - {target: GLB, type: temporal, factors: N=8, "
				       "must_iterate_over_dataspaces: [A]}\n");
	struct ended found = run("check constraints.yaml machine.yaml problem.yaml");
	assert_int_equal(found.status, 0);
	if (!strstr(found.out, "example: DRAM: N2 M8 K16 | GLB: N8 M2 |"))
		fail_msg("%s", found.out);
	folder_put("constraints.yaml",
		"constraints:\n  targets:\n"
		"  - {target: DRAM, type: temporal, factors: [M=16, K=16]}\n"
		"  - {target: GLB, type: temporal, must_iterate_over_dataspaces: [A]}\n");
	struct ended none = run("check constraints.yaml machine.yaml problem.yaml");
	assert_int_equal(none.status, 1);
	if (!strstr(none.out, "constraints.yaml:3:46: loop bounds at 'DRAM' (temporal): M=16\n") ||
		!strstr(none.out, "'GLB' (temporal) iterates over each of A (M, K)\n"))
		fail_msg("%s", none.out);
}

/* Further files, the command, and what is said. */
static const struct {
	const char *text, *command, *complaint;
} wrong[] = {
	{"workload: {dimensions: {m: 4}, ops: [\"y[m] = exp(x[m])\"]}\n", "score more.yaml " ALL,
		"more.yaml:1:11: error: a 'workload' stands beside a 'problem'; a run is about one "
		"of them"},
	{"x: 1\n", "score machine.yaml problem.yaml",
		"error: no file has a 'mapping'; explore looks for good ones"},
	{"x: 1\n", "score problem.yaml mapping.yaml",
		"error: a problem needs an 'architecture' to run on; no file has one"},
	{"x: 1\n", "score --cores 4 " ALL,
		"error: '--cores' is for workload graphs; this is a problem"},
	{"x: 1\n", "score --code t.c " ALL,
		"error: '--code' is for recurrences; this is a problem"},
	{"x: 1\n", "score --solver place=bestfit " ALL,
		"error: a problem has the one stage 'map', not 'place'"},
	{"plan: {}\n", "score more.yaml " ALL,
		"more.yaml:1:7: error: a 'plan' is of a workload; a problem has a 'mapping'"},
	{"mapper: {optimization_metrics: [delay, enery]}\n", "score more.yaml " ALL,
		"more.yaml:1:40: error: unknown metric 'enery'; did you mean 'energy'?"},
	{"mapper: {algoritm: random}\n", "score more.yaml " ALL,
		"more.yaml:1:10: error: unknown key 'algoritm' in mapper; did you mean "
		"'algorithm'?"},
	{"search: {cores: 4}\n", "score more.yaml " ALL,
		"more.yaml:1:17: error: 'cores' is for workload graphs; this is a problem"},
	{"sparse_optimizations: {targets: [{name: RF}]}\n", "score more.yaml " ALL,
		"error: 'sparse_optimizations' is not modelled: results would be those of dense "
		"data"},
};

static void wrong_input_exits_with_2(void **state)
{
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		folder_put("more.yaml", wrong[i].text);
		struct ended ended = run(wrong[i].command);
		if (ended.status != 2 || !strstr(ended.err, wrong[i].complaint))
			fail_msg("%s: status %d\n%s\nwanted: %s", wrong[i].command, ended.status,
				ended.err, wrong[i].complaint);
	}
}

/* A buffer of no entries keeps nothing: mappings bypass it, and the search finds only those. */
static void a_buffer_without_room_is_bypassed(void **state)
{
	static const char loops[] = "mapping:\n"
				    "- {target: DRAM, type: temporal, factors: M=4 N=2}\n"
				    "- {target: GLB, type: temporal, factors: K=4}\n"
				    "- {target: GLB, type: spatial, factors: M=4}\n"
				    "- {target: RF, type: temporal, factors: N=8 K=4}\n";
	folder_put("none.yaml",
		"architecture:\n"
		"  version: 0.3\n"
		"  subtree:\n"
		"  - name: s\n"
		"    local:\n"
		"    - {name: DRAM, class: DRAM}\n"
		"    - {name: GLB, class: SRAM, attributes: {entries: 0, word-bits: 16}}\n"
		"    - {name: 'RF[0..3]', class: regfile, attributes: {entries: 64}}\n"
		"    - {name: 'MAC[0..3]', class: intmac}\n");
	folder_put("keep.yaml", loops);
	folder_put("bypass.yaml",
		arena_format(arena, "%s- {target: GLB, type: bypass, bypass: [A, B, Z]}\n", loops));
	struct ended ended = run("check none.yaml problem.yaml keep.yaml");
	assert_int_equal(ended.status, 1);
	assert_non_null(strstr(ended.out, "the tiles at 'GLB' take 224 words; it holds 0"));
	int residencies = 0; /* of three dataspaces in RF alone */
	assert_int_equal(
		sscanf(strstr(ended.out, "  residency"), " residency %d", &residencies), 1);
	assert_int_equal(residencies, 8);
	json_t *root = run_json("score none.yaml problem.yaml bypass.yaml --format json", 0);
	assert_true(json_is_true(json_object_get(root, "feasible")));
	json_decref(root);
	folder_put("must.yaml", "constraints:\n- {target: GLB, type: dataspace, keep: [B]}\n");
	ended = run("check none.yaml problem.yaml must.yaml");
	assert_int_equal(ended.status, 1);
	assert_non_null(strstr(ended.err, "error: 'GLB' has no room: it cannot keep B\n"));
	ended = run("explore none.yaml problem.yaml --budget 500 --simulate none -q -o out");
	assert_int_equal(ended.status, 0);
	assert_non_null(strstr(ended.out, "keep DRAM"));
	assert_null(strstr(ended.out, "DRAM,GLB"));
}

static void a_mapper_is_read_and_what_means_nothing_noted(void **state)
{
	folder_put("mapper.yaml", "mapper:\n"
				  "  version: 0.4\n"
				  "  optimization_metric: [delay, energy]\n"
				  "  algorithm: linear_pruned\n"
				  "  search_size: null\n"
				  "  num_threads: 8\n"
				  "  log_stats: true\n"
				  "  timeout: 0\n");
	struct ended ended = run("score -v --counting timeloop mapper.yaml " ALL);
	assert_int_equal(ended.status, 0);
	assert_non_null(
		strstr(ended.err, "note: of the mapper these have no meaning here: log_stats\n"));
}

/* Timeloop's search, with its pruning and its patience, does not take the place of a proof. */
static void a_search_of_timeloop_makes_no_result_worse(void **state)
{
	static const char command[] =
		"explore --objective latency --simulate none -o out machine.yaml problem.yaml ";
	static const char *const searches[] = {"algorithm: linear_pruned",
		"{timeout: 1, victory-condition: 1}", "{algorithm: random-pruned, search_size: 3}",
		"num_threads: 64"};
	assert_int_equal(run(command).status, 0);
	const char *best = folder_text("out/pareto.csv");
	assert_non_null(strstr(best, ",optimal,"));
	for (size_t i = 0; i < sizeof searches / sizeof *searches; i++) {
		folder_put("mapper.yaml",
			arena_format(arena, "mapper: %s%s%s\n", *searches[i] == '{' ? "" : "{",
				searches[i], *searches[i] == '{' ? "" : "}"));
		struct ended ended = run(arena_format(arena, "%smapper.yaml", command));
		assert_int_equal(ended.status, 0);
		assert_string_equal(folder_text("out/pareto.csv"), best);
		assert_non_null(strstr(ended.err, "Timeloop's search and"));
		assert_non_null(strstr(ended.err, "'--solver map=random' draws mappings"));
	}
	/* Asked to draw, it draws as the file says: 3 mappings, 1 in each of two sequences. */
	static const struct {
		const char *mapper, *end;
	} draws[] = {{"search_size: 3", "3 mappings evaluated"},
		{"search_size: 9, num_threads: 2, timeout: 1, victory-condition: 1",
			" mappings evaluated"}};
	for (int i = 0; i < 2; i++) {
		folder_put("mapper.yaml", arena_format(arena, "mapper: {%s}\n", draws[i].mapper));
		struct ended ended =
			run(arena_format(arena, "%smapper.yaml -v --solver map=random", command));
		assert_null(strstr(ended.err, "Timeloop's search"));
		assert_non_null(strstr(ended.err, draws[i].end));
		if (i)
			assert_true(atoi(strstr(ended.err, " mappings evaluated") - 1) < 9);
	}
}

/* A mapping leaves to the constraints inside components what they fix; what it says itself stands. */
static void constraints_inside_components_complete_a_mapping(void **state)
{
	static const char inner[] =
		"architecture:\n"
		"  version: 0.4\n"
		"  nodes:\n"
		"  - !Component {name: DRAM, class: DRAM, attributes: {width: 16, datawidth: 16}}\n"
		"  - !Component\n"
		"    name: Buf\n"
		"    class: SRAM\n"
		"    attributes: {depth: 64, width: 16, datawidth: 16}\n"
		"    constraints:\n"
		"      dataspace: {keep: [A, B], bypass: [Z]}\n"
		"      temporal: {factors: [K=4, M=1, N<=1], permutation: [K, M, N]}\n"
		"  - !Component {name: PE, class: dummy_storage, spatial: {meshX: 2, meshY: 2},\n"
		"      constraints: {spatial: {factors: [M=2], split: 0}}}\n"
		"  - !Component {name: MAC, class: intmac, attributes: {datawidth: 16}}\n"
		"problem: {shape: gemm-ABZ, instance: {K: 8, M: 4, N: 2}}\n"
		"mapping: [%s]\n";
	static const char inlined[] =
		"Buf keeps A, B\n      for K in 0..4\n        at once M in 0..2 along Y\n";
	static const char dram[] = "{target: DRAM, type: temporal, factors: [K=2, M=2, N=2]}";
	static const struct {
		const char *more, *line;
		int status;
	} rows[] = {
		{"", inlined, 0},
		{", {target: Buf, type: temporal, factors: [M=1]}", inlined, 0},
		{", {target: Buf, type: bypass, keep: [Z]}", "Buf keeps A, B, Z\n", 1},
		{", {target: PE, type: spatial, factors: [M=2], split: 3}",
			"at once M in 0..2 along X\n", 1},
		{", {target: Buf, type: temporal, factors: [K=2]}",
			"'K' multiply to 4, not to its extent 8", 2},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *directives = arena_format(arena, "%s%s", dram, rows[i].more);
		folder_put("inline.yaml", arena_format(arena, inner, directives));
		struct ended ended = run("score inline.yaml --format text");
		if (ended.status != rows[i].status ||
			!strstr(ended.status == 2 ? ended.err : ended.out, rows[i].line))
			fail_msg("%s: %d\n%s%s", directives, ended.status, ended.out, ended.err);
	}
}

/* A level that keeps nothing has temporal loops in Timeloop's mapspace, as a buffer that everything
 * bypasses has. */
static void a_dummy_level_is_a_bypassed_buffer(void **state)
{
	static const char machine_of[] =
		"architecture:\n"
		"  version: 0.3\n"
		"  subtree:\n"
		"  - name: system\n"
		"    local:\n"
		"    - {name: DRAM, class: DRAM, attributes: {width: 16, word-bits: 16}}\n"
		"    - {name: hub, class: %s, attributes: {depth: 1, width: 16, word-bits: 16}}\n"
		"    - {name: \"RF[0..1]\", class: regfile, attributes: {depth: 6, width: 16, "
		"word-bits: 16, meshX: 2}}\n"
		"    - {name: \"mac[0..1]\", class: intmac, attributes: {datawidth: 16, meshX: 2}}\n"
		"problem: {shape: gemm-ABZ, instance: {M: 2, N: 6, K: 2}}\n"
		"constraints: [{target: hub, type: bypass, bypass: [A, B, Z]}]\n";
	static const char *const classes[] = {"dummy_storage", "SRAM"};
	static const char head[] = "mapspace.constraints.";
	const char *sizes[2], *points[2];
	for (int i = 0; i < 2; i++) {
		folder_put("dummy.yaml", arena_format(arena, machine_of, classes[i]));
		struct ended ended = run("check dummy.yaml --counting timeloop --format csv");
		assert_int_equal(ended.status, 0);
		sizes[i] = strstr(ended.out, head);
		assert_non_null(sizes[i]);
		ended = run("explore -q --counting timeloop --solver map=exact --simulate none -o "
			    "out dummy.yaml");
		assert_int_equal(ended.status, 0);
		points[i] = strchr(folder_text("out/pareto.csv"), '\n');
		assert_non_null(strstr(points[i], ",optimal,"));
	}
	assert_string_equal(sizes[0], sizes[1]);
	/* number, cycles, nanoseconds, energy */
	assert_int_equal(strncmp(points[0], points[1], strcspn(points[0], ".") + 6), 0);
	/* In exact counting it has none: 3 factorizations of M = 2 over DRAM, RF and the fan-out. */
	folder_put("dummy.yaml", arena_format(arena, machine_of, classes[0]));
	struct ended exact = run("check dummy.yaml --format csv");
	assert_non_null(strstr(exact.out, "mapspace.constraints.dimensions.M,3\n"));
}

/* The spelling of before 2022 means the same, and keys of logs are noted with it. */
static void a_mapper_may_have_dashes(void **state)
{
	static const char *const texts[] = {
		"mapper:\n  optimization_metrics: [delay, energy]\n  algorithm: %s_pruned\n"
		"  search_size: 40\n  victory_condition: 30\n  num_threads: 2\n  timeout: 90\n",
		"mapper:\n  optimization-metrics: [delay, energy]\n  algorithm: %s-pruned\n"
		"  search-size: 40\n  victory-condition: 30\n  num-threads: 2\n  timeout: 90\n",
	};
	static const char *const algorithms[] = {"random", "linear"};
	for (int a = 0; a < 2; a++) {
		const char *found[2] = {NULL};
		for (int i = 0; i < 2; i++) {
			char text[512];
			snprintf(text, sizeof text, texts[i], algorithms[a]);
			folder_put("mapper.yaml", text);
			struct ended ended = run("explore -q --simulate none -o out mapper.yaml "
						 "machine.yaml problem.yaml");
			assert_int_equal(ended.status, 0);
			found[i] = folder_text("out/pareto.csv");
		}
		assert_true(strlen(found[0]) > 100);
		assert_string_equal(found[0], found[1]);
	}
	folder_put("mapper.yaml", "mapper:\n  live-status: True\n  log-oaves: True\n"
				  "  max-permutations-per-if-visit: 16\n  whoop: 1\n");
	struct ended ended = run("score -v mapper.yaml " ALL);
	assert_int_equal(ended.status, 0);
	assert_non_null(strstr(ended.err, "note: of the mapper these have no meaning here: "
					  "live-status, max-permutations-per-if-visit, log-oaves"));
	folder_put("mapper.yaml", "mapper:\n");
	folder_put("none.yaml", "# nothing yet\n");
	ended = run("score mapper.yaml none.yaml " ALL);
	assert_int_equal(ended.status, 0);
	assert_non_null(strstr(ended.err, "none.yaml: warning: is empty"));
	folder_put("mapper.yaml", "mapper: {victory-conditon: 3}\n");
	ended = run("score mapper.yaml " ALL);
	assert_int_equal(ended.status, 2);
	assert_non_null(strstr(ended.err, "error: unknown key 'victory-conditon' in mapper; did "
					  "you mean 'victory_condition'?"));
}

/* Timeloop counts what the exact model, and so the simulator, does not: that is not a disagreement. */
static void what_cannot_be_counted_exactly_is_not_executed(void **state)
{
	folder_put("problem.yaml",
		"problem:\n"
		"  shape: {name: z, dimensions: [M, N, K], data_spaces: [\n"
		"    {name: A, projection: [M, K]}, {name: B, projection: [K, N]},\n"
		"    {name: Z, projection: [[M, N]], read_write: true}]}\n"
		"  instance: {M: 16, N: 16, K: 16}\n");
	static const char specs[] = "machine.yaml problem.yaml mapping.yaml --counting timeloop";
	assert_int_equal(run(arena_format(arena, "score %s", specs)).status, 0);
	struct ended ended = run(arena_format(arena, "simulate %s", specs));
	assert_int_equal(ended.status, 3);
	assert_non_null(strstr(ended.err, "not executed: exact counting does not cover 'Z'"));
	assert_null(strstr(ended.out, "\"agrees\": false"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, folder_tear_down)
	const struct CMUnitTest tests[] = {
		TEST(score_prints_every_count),
		TEST(formats_say_the_same),
		TEST(simulate_executes_and_agrees),
		TEST(every_count_is_explained),
		TEST(shares_that_do_not_come_out_even_are_fractions),
		TEST(what_takes_too_long_is_not_executed),
		TEST(the_counting_comes_from_search_or_option),
		TEST(what_does_not_fit_exits_with_1),
		TEST(what_timeloop_cannot_count_is_said),
		TEST(searches_keep_what_no_bound_says),
		TEST(a_name_is_one_folder),
		TEST(broken_constraints_exit_with_1),
		TEST(score_and_check_hold_constraints_against_a_mapping),
		TEST(an_example_keeps_to_every_constraint),
		TEST(wrong_input_exits_with_2),
		TEST(a_buffer_without_room_is_bypassed),
		TEST(a_mapper_is_read_and_what_means_nothing_noted),
		TEST(a_search_of_timeloop_makes_no_result_worse),
		TEST(constraints_inside_components_complete_a_mapping),
		TEST(a_mapper_may_have_dashes),
		TEST(a_dummy_level_is_a_bypassed_buffer),
		TEST(what_cannot_be_counted_exactly_is_not_executed),
	};
	return cmocka_run_group_tests_name("problems on the command line", tests, NULL, NULL);
}
