/*
 * diff shows every choice and every count in which two plans differ, and says of
 * counts what score says.
 */
#include "base/arena.h"
#include "tests/support/folder.h"

#include <jansson.h>
#include <string.h>

#include "tests/test.h"

#define SPECS "specs/arch/three_level.yaml specs/problems/gemm_16.yaml"

static const char *put_line(const char *name, const char *line)
{
	return folder_put(name, arena_format(arena, "mapping: \"%s\"\n", line));
}

static struct ended diff(const char *words)
{
	return shell(arena, "$LXPLORE diff %s", words);
}

FOLDER_TEST(differences_are_listed)
{
	const char *a = put_line("a.yaml", "DRAM: M2 | GLB: N16 | PE: K4 | RF: K4 M8");
	const char *b =
		put_line("b.yaml", "DRAM: N2 | GLB: M2 N8 | PE: K4 | RF: M8 K4 | keep DRAM,RF: Z");
	struct ended ended = diff(arena_format(arena, SPECS " %s %s --format csv", a, b));
	assert_int_equal(ended.status, 1);
	assert_string_equal(ended.err, "");
	const char *counts = strstr(ended.out, "count,");
	assert_non_null(counts);
	assert_string_equal(arena_format(arena, "%.*s", (int)(counts - ended.out), ended.out),
		"kind,what,a,b,ratio\n"
		"choice,DRAM.M,2,1,\n"
		"choice,DRAM.N,1,2,\n"
		"choice,GLB.M,1,2,\n"
		"choice,GLB.N,16,8,\n"
		"choice,GLB.keeps words of,A B Z,A B,\n"
		"choice,RF.order of loops,K M,M K,\n");
	assert_non_null(strstr(counts, "count,RF.A.total_fills,256,512,2\n"));
	assert_non_null(strstr(counts, "count,GLB.Z.total_updates,256,,\n"));
	assert_null(strstr(counts, "count,RF.A.total_reads,"));
	b = put_line("b.yaml", "DRAM: M2 | GLB: N16 | PE: K4@y | RF: K4 M8");
	ended = diff(arena_format(arena, SPECS " %s %s --format csv", a, b));
	assert_int_equal(ended.status, 1);
	assert_non_null(strstr(ended.out, "\nchoice,PE.K along,X,Y,\n"));
	assert_non_null(strstr(ended.out, "\ncount,feasible,true,false,\n"));
}

/* The same mapping in other words: in a line, as directives, with what changes nothing. */
FOLDER_TEST(equal_plans_have_no_difference)
{
	const char *a = put_line("a.yaml", "DRAM: M2 | GLB: N16 | PE: K4 | RF: K4 M8");
	const char *b = folder_put("b.yaml",
		"mapping:\n"
		"- {target: DRAM, type: temporal, factors: M2 N1 K1, permutation: NKM}\n"
		"- {target: GLB, type: temporal, factors: N=0, permutation: KNM}\n"
		"- {target: PE, type: spatial, factors: K=4}\n"
		"- {target: RF, type: temporal, factors: M=8 K=4, permutation: MNK}\n");
	struct ended ended = diff(arena_format(arena, SPECS " %s %s", a, b));
	assert_string_equal(
		ended.out, arena_format(arena,
				   "A  %s\n   DRAM: M2 | GLB: N16 | PE: K4 | RF: K4 M8\n"
				   "B  %s\n   DRAM: M2 | GLB: N16 | PE: K4 | RF: K4 M8\n"
				   "counting  exact\n\nno difference\n",
				   a, b));
	assert_string_equal(ended.err, "");
	assert_int_equal(ended.status, 0);
}

static json_t *score_of(const char *plan, const char *counting)
{
	struct ended ended =
		shell(arena, "$LXPLORE score " SPECS " %s --counting %s", plan, counting);
	json_t *root = json_loads(ended.out, 0, NULL);
	assert_non_null(root);
	return root;
}

/* The value of a path such as RF.A.total_reads, RF.cycles, cycles. */
static json_t *find(json_t *score, const char *path)
{
	size_t i;
	json_t *level;
	const char *dot = strchr(path, '.');
	if (!dot)
		return json_object_get(score, path);
	json_array_foreach(json_object_get(score, "levels"), i, level) {
		const char *name = json_string_value(json_object_get(level, "name"));
		if (strncmp(name, path, (size_t)(dot - path)) != 0 || name[dot - path])
			continue;
		const char *second = strchr(dot + 1, '.');
		if (!second)
			return json_object_get(level, dot + 1);
		const char *part = arena_format(arena, "%.*s", (int)(second - dot - 1), dot + 1);
		json_t *inner = json_object_get(json_object_get(level, "dataspaces"), part);
		return json_object_get(inner ? inner : json_object_get(level, part), second + 1);
	}
	return NULL;
}

static void check_side(json_t *row, const char *side, json_t *score)
{
	json_t *said = json_object_get(row, side);
	json_t *right = find(score, json_string_value(json_object_get(row, "what")));
	if (!json_equal(said, right ? right : json_null()))
		fail_msg("%s of %s", side, json_string_value(json_object_get(row, "what")));
}

FOLDER_TEST(counts_are_those_of_score)
{
	static const char *const countings[] = {"exact", "timeloop"};
	const char *a = put_line("a.yaml", "DRAM: M2 | GLB: N16 K2 | PE: K4 | RF: K2 M8");
	const char *b =
		put_line("b.yaml", "DRAM: N2 | GLB: K4 N8 | PE: M4 | RF: M4 K4 | keep DRAM,RF: A");
	for (int c = 0; c < 2; c++) {
		size_t i;
		json_t *row;
		struct ended ended = diff(arena_format(arena,
			SPECS " %s %s --all --format json --counting %s", a, b, countings[c]));
		json_t *root = json_loads(ended.out, 0, NULL);
		json_t *of_a = score_of(a, countings[c]), *of_b = score_of(b, countings[c]);
		assert_int_equal(ended.status, 1);
		assert_true(json_is_false(json_object_get(root, "equal")));
		assert_string_equal(
			json_string_value(json_object_get(root, "counting")), countings[c]);
		assert_true(json_array_size(json_object_get(root, "counts")) > 40);
		json_array_foreach(json_object_get(root, "counts"), i, row) {
			check_side(row, "a", of_a);
			check_side(row, "b", of_b);
		}
		json_decref(root);
		json_decref(of_a);
		json_decref(of_b);
	}
}

FOLDER_TEST(shorter_last_rounds_show)
{
	const char *a = put_line("a.yaml", "DRAM: M2 N16 | PE: K4 | RF: K4 M8");
	const char *b = put_line("b.yaml", "DRAM: M3 N16 | PE: K4 | RF: K4 M=6,4");
	struct ended ended = diff(arena_format(arena, SPECS " %s %s --format csv", a, b));
	assert_int_equal(ended.status, 1);
	assert_non_null(strstr(ended.out, "\nchoice,RF.M,8,\"6,4\",\n"));
	ended = diff(arena_format(arena, SPECS " %s %s --counting timeloop", b, a));
	assert_int_equal(ended.status, 1);
	assert_non_null(strstr(ended.out, "\ncounting  exact\n"));
	assert_non_null(strstr(ended.err, "factors do not divide: counted exactly"));
}

/* Each side may bring its own machine, if that has the same levels. */
FOLDER_TEST(sides_may_bring_their_own)
{
	const char *a = put_line("a.yaml", "DRAM: M2 | GLB: N16 | PE: K4 | RF: K4 M8");
	struct ended made = shell(arena,
		"cat %s specs/arch/three_level.yaml > %s/x.yaml; "
		"cat %s specs/arch/three_level.yaml | sed 's/depth: 64/depth: 32/' > %s/y.yaml",
		a, folder, a, folder);
	assert_int_equal(made.status, 0);
	struct ended ended = diff(arena_format(
		arena, "specs/problems/gemm_16.yaml %s/x.yaml %s/y.yaml", folder, folder));
	assert_int_equal(ended.status, 1);
	assert_non_null(strstr(ended.out, "feasible"));
	assert_non_null(strstr(ended.out, "the tiles at 'RF' take 44 words; it holds 32"));
	assert_null(strstr(ended.out, "\nchoice"));
}

FOLDER_TEST(graphs_are_compared_too)
{
	assert_int_equal(
		shell(arena,
			"$LXPLORE explore specs/arch/spyre32.yaml specs/workloads/softmax_dim0.yaml "
			"-q --budget 30 --simulate none --price bound "
			"--objective latency,energy,hbm_bytes,cores -o %s/out",
			folder)
			.status,
		0);
	const char *plans = arena_format(arena,
		"specs/arch/spyre32.yaml specs/workloads/softmax_dim0.yaml %s/out/plans/point-00",
		folder);
	struct ended ended =
		diff(arena_format(arena, "%s1.yaml %s/out/plans/point-001.yaml", plans, folder));
	assert_int_equal(ended.status, 0);
	assert_non_null(strstr(ended.out, "\nno difference\n"));
	ended = diff(arena_format(
		arena, "%s1.yaml %s/out/plans/point-002.yaml --format csv", plans, folder));
	assert_int_equal(ended.status, 1);
	assert_string_equal(ended.err, "");
	assert_non_null(strstr(ended.out, "\nchoice,amax.mapping,"));
	assert_non_null(strstr(ended.out, ".mapping,core: "));
	assert_non_null(strstr(ended.out, "\ncount,cycles,"));
	assert_non_null(strstr(ended.out, "\ncount,lx_peak_bytes,"));
}

/* An op that reads a tensor twice has two operands of one name. */
FOLDER_TEST(a_tensor_read_twice_is_compared_twice)
{
	const char *workload = folder_put("square.yaml", "workload:\n"
							 "  name: square\n"
							 "  dimensions: {m: 128, n: 128}\n"
							 "  ops:\n"
							 "    - y[m,n] = x[m,n] * x[m,n]\n");
	const char *specs = arena_format(arena, "specs/arch/spyre32.yaml %s", workload);
	assert_int_equal(
		shell(arena, "$LXPLORE explore %s -q --simulate none --budget 20 -o %s/out", specs,
			folder)
			.status,
		0);
	struct ended ended = diff(arena_format(arena,
		"%s %s/out/plans/point-001.yaml %s/out/plans/point-001.yaml --all --format csv",
		specs, folder, folder));
	assert_int_equal(ended.status, 0);
	const char *first = strstr(ended.out, "x.lx_read,"); /* of x or clone_x */
	assert_non_null(first);
	assert_non_null(strstr(first + 1, "x.lx_read,"));
}

/* Runs, iterations and addresses of staging tiles are elements of lists without a name. */
FOLDER_TEST(parts_without_a_name_are_compared)
{
	static const char *const rows[][2] = {
		{"    - b[m,n] = exp(a[m,n])\n    - c[m,n] = exp(b[m,n])\n",
			"  - loop: {m: %d}\n"
			"    steps:\n"
			"    - {op: b, bundle: 0, mapping: undivided}\n"
			"    - {op: c, bundle: 0, mapping: undivided}\n"
			"  bundles: [{bundle: 0, arguments: [a, b, c]}]\n"
			"  tensors: {c: [{where: HBM, from: 0, to: 2}]}\n"},
		{"    - c[m,n] = broadcast a[m,n]\n",
			"  - {op: c, bundle: 0, mapping: undivided, staging: {rows: 1, sticks: 1, "
			"size: 128, addresses: [0, %d]}}\n"
			"  bundles: [{bundle: 0, arguments: [a, c]}]\n"
			"  tensors: {c: [{where: HBM, from: 0, to: 1}]}\n"},
	};
	static const int numbers[][2] = {{2, 4}, {128, 256}};
	static const char *const said[] = {
		"choice,runs.b,m 2 up to c,m 4 up to c,", "count,c.staging.addresses.2,128,256,2"};
	for (int i = 0; i < 2; i++) {
		const char *sides[2];
		const char *workload = folder_put("w.yaml",
			arena_format(arena,
				"workload:\n  name: w\n  dimensions: {m: 4, n: 64}\n  ops:\n%s",
				rows[i][0]));
		for (int k = 0; k < 2; k++) {
			const char *at = strstr(rows[i][1], "%d");
			sides[k] = folder_put(k ? "b.yaml" : "a.yaml",
				arena_format(arena,
					"plan:\n  version: 1\n  cores: 1\n  steps:\n%.*s%d%s",
					(int)(at - rows[i][1]), rows[i][1], numbers[i][k], at + 2));
		}
		const char *specs = arena_format(
			arena, "specs/arch/%s.yaml %s", i ? "spyre32x4" : "spyre32", workload);
		struct ended ended =
			diff(arena_format(arena, "%s %s %s", specs, sides[0], sides[0]));
		assert_string_equal(ended.err, "");
		assert_int_equal(ended.status, 0);
		ended = diff(
			arena_format(arena, "%s %s %s --format csv", specs, sides[0], sides[1]));
		assert_int_equal(ended.status, 1);
		assert_non_null(strstr(ended.out, said[i]));
	}
}

static void expect_error(const char *words, const char *message)
{
	struct ended ended = diff(words);
	assert_int_equal(ended.status, 2);
	assert_string_equal(ended.out, "");
	if (!strstr(ended.err, message))
		fail_msg("no '%s' in\n%s", message, ended.err);
}

FOLDER_TEST(what_cannot_be_compared_is_told)
{
	const char *a = put_line("a.yaml", "DRAM: M2 | GLB: N16 | PE: K4 | RF: K4 M8");
	const char *two = folder_put("two.yaml", "mapping: \"DRAM: M2 | GLB: N16 | PE: K4\"\n");
	expect_error(a, "diff needs two plans");
	expect_error(arena_format(arena, SPECS " %s specs/constraints/keep_all.yaml", a),
		"'specs/constraints/keep_all.yaml' brings no mapping to compare");
	expect_error(arena_format(arena, SPECS " %s %s", a, two), "two.yaml:1:10: error: ");
	struct ended made = shell(arena,
		"cat %s specs/arch/three_level.yaml specs/problems/gemm_16.yaml > %s/x.yaml; "
		"sed 's/RF/regs/' %s/x.yaml > %s/y.yaml",
		a, folder, folder, folder);
	assert_int_equal(made.status, 0);
	expect_error(arena_format(arena, "%s/x.yaml %s/y.yaml", folder, folder),
		"have other levels, dimensions or dataspaces");
}

FIXTURE(folder_set_up, folder_tear_down);
