#include "base/amount.h"
#include "base/arena.h"
#include "base/text.h"
#include "tests/support/csv.h"
#include "tests/support/draws.h"
#include "tests/support/folder.h"

#include <glob.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

#define SOFTMAX "specs/arch/spyre32.yaml specs/workloads/softmax_dim0.yaml"

static void expect_agreement_in_every_row(void)
{
	const char *csv = folder_text("1/pareto.csv");
	int rows = 0;
	for (const char *agrees; (agrees = csv_cell(arena, csv, rows + 1, "sim_agrees")); rows++) {
		assert_string_equal(agrees, "true");
		assert_true(strtod(csv_cell(arena, csv, rows + 1, "sim_ratio"), NULL) >= 1);
		assert_string_equal(csv_cell(arena, csv, rows + 1, "executed"), "data");
	}
	assert_in_range(rows, 2, 100);
	json_t *run = json_loads(folder_text("1/run.json"), 0, NULL);
	assert_non_null(run);
	assert_true(json_is_false(json_object_get(run, "cut_short")));
	json_t *counters = json_object_get(run, "counters");
	assert_int_equal(json_integer_value(json_object_get(counters, "disagreed")), 0);
	assert_int_equal(json_integer_value(json_object_get(counters, "simulated")) +
				 json_integer_value(json_object_get(counters, "refused")),
		json_integer_value(json_object_get(counters, "offered")));
	json_decref(run);
}

static int64_t count_of(const char *name)
{
	json_t *run = json_loads(folder_text("out/run.json"), 0, NULL);
	json_t *value = json_object_get(json_object_get(run, "counters"), name);
	assert_true(json_is_integer(value));
	int64_t count = json_integer_value(value);
	json_decref(run);
	return count;
}

/* The proof of two ops has states, edges and labels, as many with any number of threads. */
FOLDER_TEST(the_work_of_a_joint_proof_is_counted)
{
	static const char *const names[] = {"states", "edges", "labels"};
	int64_t counts[2][3];
	folder_put("two.yaml", "workload: {name: two, dimensions: {m: 64, n: 64}, ops: "
			       "['y[m,n] = exp(x[m,n])', 'z[m,n] = relu(y[m,n])']}\n");
	for (int i = 0; i < 2; i++) {
		struct ended ended = shell(arena,
			"$LXPLORE explore specs/arch/spyre32_published.yaml %s/two.yaml -j %d --force "
			"--simulate none -q -o %s/out",
			folder, 1 + 2 * i, folder);
		if (ended.status != 0)
			fail_msg("%s", ended.err);
		for (int k = 0; k < 3; k++)
			counts[i][k] = count_of(names[k]);
	}
	for (int k = 0; k < 3; k++) {
		assert_true(counts[0][k] > 0);
		assert_int_equal(counts[0][k], counts[1][k]);
	}
}

FOLDER_TEST(every_plan_replays_with_the_score_of_its_row)
{
	assert_int_equal(
		shell(arena, "$LXPLORE explore " SOFTMAX " -c 4 --labels 0 --budget 30 -o %s",
			folder)
			.status,
		0);
	const char *csv = folder_text("pareto.csv");
	for (int row = 1; csv_cell(arena, csv, row, "plan"); row++) {
		const char *plan = csv_cell(arena, csv, row, "plan");
		struct ended scored =
			shell(arena, "$LXPLORE score " SOFTMAX " %s/%s", folder, plan);
		assert_int_equal(scored.status, 0);
		json_t *score = json_loads(scored.out, 0, NULL);
		assert_non_null(score);
		assert_int_equal(json_integer_value(json_object_get(score, "cycles")),
			strtoll(csv_cell(arena, csv, row, "latency_cycles"), NULL, 10));
		assert_int_equal(json_integer_value(json_object_get(score, "hbm_bytes")),
			strtoll(csv_cell(arena, csv, row, "hbm_bytes"), NULL, 10));
		json_decref(score);
		struct ended ran =
			shell(arena, "$LXPLORE simulate " SOFTMAX " %s/%s", folder, plan);
		assert_int_equal(ran.status, 0);
		json_t *simulated = json_loads(ran.out, 0, NULL);
		assert_int_equal(json_integer_value(json_object_get(simulated, "cycles")),
			strtoll(csv_cell(arena, csv, row, "sim_cycles"), NULL, 10));
		json_decref(simulated);
	}
}

FOLDER_TEST(all_rows_agree_and_the_number_of_threads_changes_no_byte)
{
	struct ended first = {0};
	for (int i = 0; i < 3; i++) {
		static const int jobs[] = {1, 2, 7};
		struct ended ended =
			shell(arena, "$LXPLORE explore " SOFTMAX " -q -c 2 --jobs %d -o %s/%d",
				jobs[i], folder, jobs[i]);
		assert_int_equal(ended.status, 0);
		if (i) {
			assert_string_equal(ended.out, first.out);
			ended = shell(arena, "diff -r --exclude=run.json %s/1 %s/%d", folder,
				folder, jobs[i]);
			assert_string_equal(ended.out, "");
			assert_int_equal(ended.status, 0);
		} else {
			first = ended;
			expect_agreement_in_every_row();
		}
	}
}

/* True if the row of one table is no worse than that of another in all objectives. */
static bool covers(const char *csv, int row, const char *other, int other_row)
{
	static const char *const objectives[] = {
		"latency_cycles", "energy_pj", "hbm_bytes", "cores", NULL};
	for (int i = 0; objectives[i]; i++)
		if (strtod(csv_cell(arena, csv, row, objectives[i]), NULL) >
			strtod(csv_cell(arena, other, other_row, objectives[i]), NULL))
			return false;
	return true;
}

static void no_row_is_lost(const char *csv, const char *published, const char *name)
{
	for (int row = 1; csv_cell(arena, published, row, "plan"); row++) {
		bool covered = false;
		for (int own = 1; csv_cell(arena, csv, own, "plan") && !covered; own++)
			covered = covers(csv, own, published, row);
		if (!covered)
			fail_msg("%s: with tiles by price nothing is as good as point %d", name,
				row);
	}
}

/* The bound is one, and the estimate tracks execution: scripts/estimates prints how near. */
static void estimates_are_near(const char *csv, const char *name)
{
	for (int row = 1; csv_cell(arena, csv, row, "plan"); row++) {
		double bound = strtod(csv_cell(arena, csv, row, "latency_cycles"), NULL);
		double estimate = strtod(csv_cell(arena, csv, row, "estimate_cycles"), NULL);
		double executed = strtod(csv_cell(arena, csv, row, "sim_cycles"), NULL);
		if (estimate < bound || executed < bound || estimate > 1.02 * executed ||
			estimate < 0.93 * executed)
			fail_msg("%s, point %d: bound %.0f, estimate %.0f, executed %.0f", name,
				row, bound, estimate, executed);
	}
}

/* Frontiers under version control have the published tiles; no priced ones are worse (by default, of the smallest). */
FOLDER_TEST(frontiers_are_those_under_version_control)
{
	glob_t files;
	if (draws_skip_searches())
		skip();
	assert_int_equal(glob("results/reference/*.csv", 0, NULL, &files), 0);
	for (size_t i = 0; i < files.gl_pathc; i += (size_t)draws_apart(1)) {
		const char *path = files.gl_pathv[files.gl_pathc - 1 - i]; /* small ones first */
		const char *name = strrchr(path, '/') + 1;
		const char *published = text_of_file(arena, path);
		for (int by_rule = i % (size_t)draws_apart(3) ? 1 : 0; by_rule < 2; by_rule++) {
			struct ended ended = shell(arena,
				"$LXPLORE explore specs/arch/spyre32_published.yaml "
				"specs/workloads/%.*s.yaml -q -o %s --price bound --labels 0 --tiles %s "
				"--objective latency,energy,hbm_bytes,cores",
				(int)(strlen(name) - strlen(".csv")), name, folder,
				by_rule ? "published" : "price");
			assert_int_equal(ended.status, 0);
			if (by_rule)
				assert_string_equal(folder_text("pareto.csv"), published);
			else
				no_row_is_lost(folder_text("pareto.csv"), published, name);
			estimates_are_near(folder_text("pareto.csv"), name);
		}
	}
	globfree(&files);
}

FOLDER_TEST(an_interrupt_writes_what_is_known)
{
	static const char *const signals[] = {"INT", "TERM"};
	for (int i = 0; i < 2; i++) {
		struct ended ended = shell(arena,
			"$LXPLORE explore specs/arch/spyre32.yaml specs/workloads/gpt_block.yaml "
			"-o %s -j 1 &\n"
			"pid=$!; sleep 0.5; kill -%s $pid; wait $pid",
			folder, signals[i]);
		assert_int_equal(ended.status, 130);
		assert_non_null(strstr(ended.err, "interrupted"));
		assert_non_null(csv_cell(arena, folder_text("pareto.csv"), 0, "point"));
		json_t *run = json_loads(folder_text("run.json"), 0, NULL);
		assert_string_equal(
			json_string_value(json_object_get(run, "limit")), "interrupted");
		json_decref(run);
	}
}

/* The whole plans of these 40 ops take more than ten seconds to lay out. */
FOLDER_TEST(the_first_plan_needs_no_search)
{
	struct ended ended = shell(arena,
		"$LXPLORE explore specs/arch/spyre32.yaml specs/workloads/llama3_8b_block.yaml "
		"--time-limit 1 --simulate none -j 1 -o %s",
		folder);
	const char *csv = folder_text("pareto.csv");
	assert_int_equal(ended.status, 0);
	assert_non_null(strstr(ended.err, "time limit"));
	assert_non_null(csv_cell(arena, csv, 1, "point"));
	assert_string_equal(csv_cell(arena, csv, 1, "proof"), "bound");
	double cycles = strtod(csv_cell(arena, csv, 1, "estimate_cycles"), NULL);
	double gap = strtod(csv_cell(arena, csv, 1, "gap"), NULL);
	assert_true(gap > 0 && gap < 0.9 * cycles);
}

static int row_of_least(const char *column)
{
	const char *csv = folder_text("pareto.csv");
	int best = 1;
	for (int row = 2; csv_cell(arena, csv, row, column); row++)
		if (strtod(csv_cell(arena, csv, row, column), NULL) <
			strtod(csv_cell(arena, csv, best, column), NULL))
			best = row;
	return best;
}

/* "point 3, 15.03 us (proven), 540.25 uJ; bound by ..", as pareto.csv has it. */
static void expect_values(const char *line, int row)
{
	const char *csv = folder_text("pareto.csv");
	double estimate = strtod(csv_cell(arena, csv, row, "estimate_ns"), NULL);
	double energy = strtod(csv_cell(arena, csv, row, "energy_pj"), NULL);
	const char *begin = arena_format(
		arena, "point %d, %s (", row, amount_text(arena, AMOUNT_TIME, estimate));
	const char *end =
		arena_format(arena, "), %s; bound by ", amount_text(arena, AMOUNT_ENERGY, energy));
	if (strncmp(line, begin, strlen(begin)) != 0)
		fail_msg("not '%s': %s", begin, line);
	const char *behind = strstr(line, end);
	if (!behind || behind > strchr(line, '\n'))
		fail_msg("not '%s': %s", end, line);
}

/* Three lines: fastest, leanest, where all are; counters of the search and reasons are for -v. */
FOLDER_TEST(an_exploration_ends_in_few_lines)
{
	static const char words[] =
		"$LXPLORE explore " SOFTMAX " --labels 0 --budget 12 --simulate none "
		"-o %s %s";
	struct ended few = shell(arena, words, folder, ""), all = shell(arena, words, folder, "-v");
	assert_null(strstr(few.err, "questions"));
	assert_non_null(strstr(all.err, "questions"));
	const char *lines = strstr(few.err, "cut short by: budget\nfastest: point 1, ");
	assert_non_null(lines);
	const char *leanest = strstr(lines, "\nleanest: point ");
	assert_non_null(leanest);
	expect_values(strstr(lines, "point"), 1);
	expect_values(strstr(leanest, "point"), row_of_least("energy_pj"));
	const char *last = strstr(leanest, " on the frontier, ");
	assert_non_null(last);
	assert_non_null(strstr(last, "lxplore report "));
	assert_string_equal(strchr(last, '\n'), "\n");
}

/* The first latency of a table is that of the price in force, in cycles and in time; the other has its own name. */
FOLDER_TEST(latency_is_that_of_the_price)
{
	static const struct {
		const char *price, *other, *cycles;
	} rows[] = {
		{"estimate", "bound", "estimate_cycles"}, {"bound", "estimate", "latency_cycles"}};
	for (int i = 0; i < 2; i++) {
		struct ended explored = shell(arena,
			"$LXPLORE explore specs/arch/spyre32.yaml specs/workloads/layernorm.yaml --labels 0 "
			"--budget 12 --price %s --objective latency --simulate none --force -o %s",
			rows[i].price, folder);
		struct ended reported = shell(arena, "$LXPLORE report %s", folder);
		struct ended scored = shell(arena,
			"$LXPLORE score specs/arch/spyre32.yaml specs/workloads/layernorm.yaml "
			"%s/plans/point-001.yaml --price %s --format text",
			folder, rows[i].price);
		struct ended cell = shell(arena,
			"awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == \"%s\") c = i } "
			"NR == 2 { printf \"%%s\", $c }' %s/pareto.csv",
			rows[i].cycles, folder);
		assert_int_equal(strcspn(explored.out, "\n") > 0, 1);
		const char *other = strstr(explored.out, rows[i].other);
		assert_true(other && other < strchr(explored.out, '\n'));
		other = strstr(reported.out, rows[i].other);
		assert_true(other && other < strchr(reported.out, '\n'));
		assert_non_null(strstr(reported.out, arena_format(arena, " %s cycles", cell.out)));
		const char *line = strchr(scored.out, '\n');
		assert_int_equal(strncmp(scored.out, "latency ", 8), 0);
		const char *cycles =
			strstr(scored.out, arena_format(arena, "(%s cycles)", cell.out));
		assert_true(cycles && cycles < line);
		assert_int_equal(strncmp(line + 1, rows[i].other, strlen(rows[i].other)), 0);
	}
}

/* Of many points the best dozen are shown: the first ones, and those of least energy and HBM bytes. */
FOLDER_TEST(a_table_shows_a_dozen_points)
{
	struct ended ended = shell(arena,
		"$LXPLORE explore specs/arch/spyre32.yaml specs/workloads/gpt_block.yaml -c 32 "
		"--labels 0 --budget 1 --simulate none -o %s",
		folder);
	assert_int_equal(ended.status, 0);
	const char *csv = folder_text("pareto.csv");
	int points = 0;
	while (csv_cell(arena, csv, points + 1, "point"))
		points++;
	assert_in_range(points, 13, 1000);
	assert_non_null(strstr(ended.out,
		arena_format(arena, "\n%d more points: pareto.csv, or -v\n", points - 12)));
	assert_non_null(
		strstr(ended.out, arena_format(arena, "\n%5d ", row_of_least("energy_pj"))));
}

FOLDER_TEST(a_trace_has_every_core_and_engine)
{
	struct ended ended =
		shell(arena, "$LXPLORE simulate " SOFTMAX " -v -c 4 --trace %s/trace.json", folder);
	assert_int_equal(ended.status, 0);
	json_t *trace = json_loads(folder_text("trace.json"), 0, NULL), *event;
	assert_non_null(trace);
	unsigned seen = 0;
	size_t i;
	json_array_foreach(trace, i, event)
		if (strcmp(json_string_value(json_object_get(event, "ph")), "X") == 0) {
			int core = (int)json_integer_value(json_object_get(event, "pid"));
			int engine = (int)json_integer_value(json_object_get(event, "tid"));
			assert_in_range(core, 0, 3);
			assert_true(json_real_value(json_object_get(event, "dur")) >= 0);
			seen |= 1u << (core * 4 + engine);
		}
	assert_int_equal(seen, 0x7777); /* in, out, compute on all four */
	json_decref(trace);
}
