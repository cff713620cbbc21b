#include "base/arena.h"
#include "report/run/pareto.h"
#include "tests/support/folder.h"

#include <jansson.h>
#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

/*
 * Timeloop's statistics as scripts around Timeloop read them, with regular expressions and from fixed places, compared
 * with pareto.csv and run.json.  tests/reference/cases_nest_statistics.c compares every line with Timeloop's own.
 */
static int set_up(void **state)
{
	folder_set_up(state);
	return folder_run("ln -s $OLDPWD/specs && $program explore -q specs/arch/three_level.yaml "
			  "specs/problems/gemm_16.yaml specs/constraints/keep_all.yaml "
			  "--objective latency,energy,edp --counting timeloop -o out")
		.status;
}

/* The first group of an expression's first match from `text` on, as a number. */
static double number_of(const char *text, const char *expression)
{
	regex_t regex;
	regmatch_t groups[2];
	assert_int_equal(regcomp(&regex, expression, REG_EXTENDED), 0);
	if (regexec(&regex, text, 2, groups, 0) != 0)
		fail_msg("nothing is like %s", expression);
	regfree(&regex);
	return strtod(text + groups[1].rm_so, NULL);
}

static const char *statistics(const char *options)
{
	struct ended ended = folder_run(
		arena_format(arena, "$program report out --format timeloop %s", options));
	assert_int_equal(ended.status, 0);
	return ended.out;
}

static double value_of(size_t row, const char *column)
{
	json_t *rows = csv_rows(arena, folder_text("out/pareto.csv"));
	double value = json_number_value(json_object_get(json_array_get(rows, row), column));
	json_decref(rows);
	return value;
}

FOLDER_TEST(summaries_are_those_of_the_table)
{
	const char *text = statistics("");
	const char *summary = strstr(text, "Summary Stats");
	assert_non_null(summary);
	double cycles = value_of(0, "latency_cycles"), pj = value_of(0, "energy_pj");
	assert_float_equal(number_of(text, "\nCycles: ([0-9]+)"), cycles, 0);
	assert_float_equal(number_of(summary, "Utilization: ([0-9.]+)%"),
		100 * value_of(0, "utilization"), 0.005);
	assert_float_equal(number_of(summary, "Energy: ([0-9.]+) uJ"), pj / 1e6, 0.005);
	assert_float_equal(number_of(summary, "EDP\\(J\\*cycle\\): ([0-9.e+-]+)"),
		pj * 1e-12 * cycles, pj * 1e-12 * cycles * 0.01);
	assert_float_equal(number_of(text, "Computes = ([0-9]+)"), 4096, 0);
	assert_float_equal(number_of(strstr(text, "fJ/Compute"), "Total += ([0-9.]+)"),
		pj / 4096 * 1e3, 0.005);
	/* the fifth line below the heading, as scripts take it */
	for (int i = 0; i < 5; i++)
		summary = strchr(summary, '\n') + 1;
	assert_int_equal(strncmp(summary, "Energy: ", 8), 0);
}

/* The sum over all lines of this name up to `end`. */
static double sum_of(const char *from, const char *end, const char *name)
{
	double sum = 0;
	for (const char *at = from; (at = strstr(at, name)) && at < end; at += strlen(name))
		sum += strtod(strchr(at, ':') + 1, NULL);
	return sum;
}

FOLDER_TEST(levels_add_up)
{
	const char *text = statistics("");
	const char *rf = strstr(text, "=== RF ==="), *glb = strstr(text, "=== GLB ===");
	const char *dram = strstr(text, "=== DRAM ==="), *end = strstr(text, "Networks");
	assert_true(rf && rf < glb && glb < dram && dram < end);
	double pj = sum_of(text, end, "   Energy (total) ") +
		    sum_of(text, end, "Leakage energy (total)");
	assert_float_equal(pj, value_of(0, "energy_pj"), 0.1);
	json_t *score =
		json_loads(folder_run("$program score --counting timeloop --format json "
				      "specs/arch/three_level.yaml specs/problems/gemm_16.yaml "
				      "specs/constraints/keep_all.yaml out/plans/point-001.yaml")
				   .out,
			0, NULL);
	const json_t *level = json_array_get(json_object_get(score, "levels"), 3), *space;
	assert_string_equal(json_string_value(json_object_get(level, "name")), "DRAM");
	space = json_object_get(json_object_get(level, "dataspaces"), "Z");
	const char *of = strstr(dram, "    Z:\n");
	assert_float_equal(number_of(of, "Scalar reads \\(per-instance\\) +: ([0-9]+)"),
		json_number_value(json_object_get(space, "reads")), 0);
	assert_float_equal(number_of(of, "Scalar updates \\(per-instance\\) +: ([0-9]+)"),
		json_number_value(json_object_get(space, "updates")), 0);
	assert_float_equal(number_of(of, "Scalar fills \\(per-instance\\) +: ([0-9]+)"),
		json_number_value(json_object_get(space, "fills")), 0);
	assert_float_equal(number_of(of, "Utilized capacity +: ([0-9]+)"),
		json_number_value(json_object_get(space, "utilized_capacity")), 0);
	json_decref(score);
}

FOLDER_TEST(points_are_chosen_and_other_kinds_refused)
{
	struct ended ended = folder_run("$program report out --format timeloop --point 99");
	assert_int_equal(ended.status, 2);
	assert_non_null(strstr(ended.err, "plans/point-099.yaml"));
	assert_string_equal(statistics("--point 1"), statistics(""));
	ended = folder_run(
		"$program score specs/arch/spyre32.yaml specs/workloads/softmax_dim1.yaml "
		"--format timeloop");
	assert_int_equal(ended.status, 2);
	assert_non_null(strstr(
		ended.err, "'--format timeloop' is for problems, and this is a workload graph"));
}

/* 31 operations in 200 cycles; and 31 of 15 bits a word, of which whole bytes count. */
FOLDER_TEST(quotients_are_of_single_precision)
{
	folder_put("dot.yaml",
		"architecture:\n"
		"  version: 0.4\n"
		"  nodes:\n"
		"  - !Component {name: DRAM, class: DRAM, attributes: {width: 15, datawidth: 15, "
		"shared_bandwidth: 0.3155}}\n"
		"  - !Component {name: MAC, class: intmac, attributes: {datawidth: 16}}\n"
		"problem:\n"
		"  shape:\n"
		"    name: dot\n"
		"    dimensions: [K]\n"
		"    data_spaces: [{name: A, projection: [[[K]]]}, {name: B, projection: [[[K]]]}, "
		"{name: Z, projection: [], read_write: true}]\n"
		"  instance: {K: 16}\n"
		"mapping: 'DRAM: K16 | keep DRAM: A B Z'\n");
	const char *text =
		folder_run("$program score dot.yaml --counting timeloop --format timeloop").out;
	assert_float_equal(number_of(text, "\nCycles: ([0-9]+)"), 200, 0);
	assert_float_equal(number_of(text, "GFLOPs .@1GHz.: ([0-9.]+)"), 0.16, 1e-9);
	assert_float_equal(number_of(text, "Total scalar accesses +: ([0-9]+)"), 63, 0);
	assert_float_equal(number_of(text, "Optimal Op per Byte +: ([0-9.]+)"), 0.51, 1e-9);
}

FIXTURE(set_up, folder_tear_down);
