#include "base/arena.h"
#include "base/array.h"
#include "tests/support/folder.h"
#include "tests/support/sanitized.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

/* Traces of every kind that is executed: events of a row nest or follow each other, and end with the run. */
struct event {
	double from, to;
};

struct row {
	json_int_t process, thread;
	struct array(struct event) events;
};

struct rows array(struct row);

static struct row *row_of(struct rows *rows, const json_t *event)
{
	json_int_t process = json_integer_value(json_object_get(event, "pid"));
	json_int_t thread = json_integer_value(json_object_get(event, "tid"));
	for (size_t i = 0; i < rows->count; i++)
		if (rows->at[i].process == process && rows->at[i].thread == thread)
			return &rows->at[i];
	struct row *row = array_add(arena, rows);
	row->process = process;
	row->thread = thread;
	return row;
}

/* Early ones first, of those the longest. */
static int by_time(const void *left, const void *right)
{
	const struct event *a = left, *b = right;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->to < b->to) - (a->to > b->to);
}

static void expect_nesting(const struct row *row)
{
	struct array(double) open = {0};
	qsort(row->events.at, row->events.count, sizeof *row->events.at, by_time);
	for (size_t i = 0; i < row->events.count; i++) {
		const struct event *event = &row->events.at[i];
		double slack = 1e-9 * (1 + event->to);
		while (open.count && open.at[open.count - 1] <= event->from + slack)
			open.count--;
		if (open.count && event->to > open.at[open.count - 1] + slack)
			fail_msg("process %d, thread %d: [%.9g, %.9g) overlaps what ends at %.9g",
				(int)row->process, (int)row->thread, event->from, event->to,
				open.at[open.count - 1]);
		*array_add(arena, &open) = event->to;
	}
}

/* The end of all events, after a look at each row; events of a level and not of the whole run alone. */
static double end_of(const char *text, bool without_run)
{
	struct rows rows = {0};
	json_error_t error;
	json_t *trace = json_loads(text, 0, &error), *event;
	double end = 0;
	size_t i;
	if (!trace)
		fail_msg("line %d: %s", error.line, error.text);
	json_array_foreach(trace, i, event) {
		if (strcmp(json_string_value(json_object_get(event, "ph")), "X") != 0)
			continue;
		struct event new = {.from = json_number_value(json_object_get(event, "ts"))};
		new.to = new.from + json_number_value(json_object_get(event, "dur"));
		assert_true(new.from >= 0 && new.to > new.from);
		*array_add(arena, &row_of(&rows, event)->events) = new;
		end = fmax(end, json_number_value(json_object_get(
					json_object_get(event, "args"), "all_end_us")));
		if (!without_run ||
			strcmp(json_string_value(json_object_get(event, "name")), "run") != 0)
			end = fmax(end, new.to);
	}
	assert_true(rows.count > 1);
	for (size_t r = 0; r < rows.count; r++)
		expect_nesting(&rows.at[r]);
	json_decref(trace);
	return end;
}

/* Runs simulate on the specs, which writes trace.json, and returns its output. */
static json_t *simulate(const char *specs)
{
	struct ended ended = folder_run(arena_format(arena,
		"ln -sfn $OLDPWD/specs && $program simulate --format json --trace trace.json %s",
		specs));
	if (ended.status != 0)
		fail_msg("%s", ended.err);
	return json_loads(ended.out, 0, NULL);
}

static void expect_problem(const char *specs)
{
	json_t *said = simulate(specs);
	double cycles =
		json_number_value(json_object_get(json_object_get(said, "timing"), "cycles"));
	double model = json_number_value(json_object_get(said, "cycles"));
	double cycle = json_number_value(json_object_get(said, "latency_ns")) / 1e3 / model;
	const char *trace = folder_text("trace.json");
	assert_float_equal(end_of(trace, false) / cycle, cycles, 1e-6);
	/* the last part ends within the last cycle */
	assert_float_equal(ceil(end_of(trace, true) / cycle - 1e-6), cycles, 0);
	json_decref(said);
}

static const char problem[] =
	"problem:\n"
	"  name: small\n"
	"  shape:\n"
	"    dimensions: [M, N, K]\n"
	"    data_spaces:\n"
	"    - {name: A, projection: [M, K]}\n"
	"    - {name: B, projection: [K, N]}\n"
	"    - {name: Z, projection: [M, N], read_write: true}\n"
	"  instance: {M: 4, N: 4, K: 6}\n"
	"mapping: \"DRAM: M2 N2 | GLB: K3 M2 N2 | RF: K2\"\n"
	"architecture:\n"
	"  version: 0.4\n"
	"  nodes:\n"
	"  - !Container {name: chip, attributes: {datawidth: 16, global_cycle_seconds: 5e-9}}\n"
	"  - !Component {name: DRAM, class: DRAM, attributes: {width: 16, read_bandwidth: 1.5}}\n"
	"  - !Component {name: GLB, class: SRAM, attributes: {depth: 64, width: 16, "
	"write_bandwidth: 1, multiple_buffering: %s}}\n"
	"  - !Component {name: RF, class: regfile, attributes: {depth: 12, width: 16}}\n"
	"  - !Component {name: MAC, class: intmac}\n";

/* With and without double buffering: time passes in the background, or work waits. */
FOLDER_TEST(problems)
{
	folder_put("single.yaml", arena_format(arena, problem, "1"));
	folder_put("double.yaml", arena_format(arena, problem, "2"));
	expect_problem("single.yaml");
	assert_non_null(strstr(folder_text("trace.json"), "\"name\":\"fill\""));
	assert_non_null(strstr(folder_text("trace.json"), "\"name\":\"drain\""));
	expect_problem("double.yaml");
	assert_non_null(strstr(folder_text("trace.json"), "\"GLB tiles\""));
}

FOLDER_TEST(recurrences)
{
	json_t *said = simulate("specs/space_time/output_stationary.yaml");
	const char *trace = folder_text("trace.json");
	double cycles = json_number_value(json_object_get(said, "cycles"));
	assert_float_equal(end_of(trace, false), cycles, 0);
	assert_float_equal(end_of(trace, true), cycles, 0);
	assert_non_null(strstr(trace, "\"PE [3, 2]\""));
	json_decref(said);
}

FOLDER_TEST(broadcasts)
{
	static const char *const specs[] = {"reduce_gradients", "gather_activations", "put_block"};
	for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
		json_t *said = simulate(arena_format(
			arena, "specs/arch/a2a3.yaml specs/broadcasts/%s.yaml", specs[i]));
		double us = json_number_value(json_object_get(said, "latency_ns")) / 1e3;
		double cycles = json_number_value(json_object_get(said, "cycles"));
		double end = end_of(folder_text("trace.json"), false) * cycles / us;
		assert_float_equal(ceil(end - 1e-3), cycles, 0);
		json_decref(said);
	}
}

/* All but the overheads of bundles. */
FOLDER_TEST(graphs)
{
	json_t *said = simulate("specs/arch/spyre32.yaml specs/workloads/softmax_dim1.yaml -c 4");
	double cycles = json_number_value(json_object_get(said, "cycles"));
	double cycle = json_number_value(json_object_get(said, "latency_ns")) / 1e3 / cycles;
	double overhead = json_number_value(json_object_get(said, "overhead_cycles"));
	double end = end_of(folder_text("trace.json"), false) / cycle;
	assert_float_equal(end, cycles - overhead, 1);
	json_decref(said);
}

/* Cores of an event, "0-3 8": one if it names none. */
static int cores_of(const json_t *event)
{
	const char *at =
		json_string_value(json_object_get(json_object_get(event, "args"), "cores"));
	int count = 0;
	char *end;
	while (at && *at) {
		long first = strtol(at, &end, 10), last = first;
		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		count += (int)(last - first) + 1;
		at = end + (*end == ' ');
	}
	return count;
}

/* Events, and the time of all cores in them. */
static void sum_events(const char *text, int *events, int *cores, double *busy)
{
	json_t *trace = json_loads(text, 0, NULL), *event;
	size_t i;
	*events = *cores = 0;
	*busy = 0;
	json_array_foreach(trace, i, event) {
		if (strcmp(json_string_value(json_object_get(event, "ph")), "X") != 0)
			continue;
		*events += 1;
		*cores += cores_of(event);
		const json_t *all = json_object_get(json_object_get(event, "args"), "all_busy_us");
		*busy += all ? json_number_value(all)
			     : cores_of(event) * json_number_value(json_object_get(event, "dur"));
	}
	json_decref(trace);
}

FOLDER_TEST(what_cores_do_alike_is_one_event)
{
	static const char run[] =
		"ln -sfn $OLDPWD/specs && $program simulate specs/arch/spyre32.yaml "
		"specs/workloads/softmax_dim0.yaml --trace one.json && $program simulate -v "
		"specs/arch/spyre32.yaml specs/workloads/softmax_dim0.yaml --trace each.json";
	int events[2], cores[2];
	double busy[2];
	assert_int_equal(folder_run(run).status, 0);
	sum_events(folder_text("one.json"), &events[0], &cores[0], &busy[0]);
	sum_events(folder_text("each.json"), &events[1], &cores[1], &busy[1]);
	assert_int_equal(cores[0], cores[1]);
	assert_int_equal(events[1], cores[1]);
	assert_true(events[0] * 8 < events[1]);
	assert_float_equal(busy[0], busy[1], 1e-6 * busy[1]);
}

/* 31 ops, 160,000 executions of cores. */
FOLDER_TEST(traces_of_blocks_are_small)
{
	static const char run[] =
		"ln -sfn $OLDPWD/specs && $program simulate specs/arch/spyre32.yaml "
		"specs/workloads/llama3_8b_block.yaml --trace block.json";
	if (is_skipped(SANITIZED, "a trace of a block takes minutes under sanitizers"))
		return;
	assert_int_equal(folder_run(run).status, 0);
	const char *trace = folder_text("block.json");
	assert_true(strlen(trace) < 10000000);
	assert_non_null(strstr(trace, "\"cores\":\"0-31\""));
}
