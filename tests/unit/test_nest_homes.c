#include "base/arena.h"
#include "base/text.h"
#include "cost/nest/nest.h"
#include "sim/nest/nest.h"
#include "tests/support/folder.h"
#include "tests/support/nest_interpreter.h"
#include "tests/support/nest_line.h"

#include <jansson.h>
#include <string.h>

#include "tests/test.h"

/*
 * Requirements of exact counting on homes: room for all words that come into their tiles, and no
 * sum in parts.  Numbers are counted by hand; model, simulator and interpreter agree.
 */
static const struct home {
	const char *name, *levels, *einsum, *mapping;
	int64_t size; /* of RF; 0: unlimited */
	enum nest_verdict verdict;
	const char *space;
	int64_t words; /* of that dataspace at RF */
} homes[] = {
	{"all that loops outside bring", "DRAM RF MAC", "Z[m] = A[m,k], m=4 k=4",
		"DRAM: m4 k4 | keep DRAM: Z; RF: A", 4, NEST_CAPACITY, "A", 16},
	{"it has room for them", "DRAM RF MAC", "Z[m] = A[m,k], m=4 k=4",
		"DRAM: m4 k4 | keep DRAM: Z; RF: A", 16, NEST_FITS, "A", 16},
	{"a tile, where there is a parent", "DRAM RF MAC", "Z[m] = A[m,k], m=4 k=4",
		"DRAM: m4 k4 | keep DRAM: Z; DRAM,RF: A", 1, NEST_FITS, "A", 1},
	{"half in each of two instances", "DRAM (PE:2) RF MAC", "Z[m] = A[m,k], m=4 k=4",
		"DRAM: m2 k4 | PE: m2 | keep DRAM: Z; RF: A", 8, NEST_FITS, "A", 8},
	{"every other word, and no gap", "DRAM (PE:2) RF MAC", "Z[m] = A[m], m=8",
		"DRAM: m4 | PE: m2 | keep DRAM: Z; RF: A", 4, NEST_FITS, "A", 4},
	{"windows that overlap count once", "DRAM RF MAC", "Z[p] = A[p+r], p=4 r=3",
		"DRAM: p4 | RF: r3 | keep DRAM: Z; RF: A", 6, NEST_FITS, "A", 6},
	{"windows apart", "DRAM (PE:2) RF MAC", "Z[p] = A[4p+r], p=4 r=3",
		"DRAM: p2 | PE: p2 | RF: r3 | keep DRAM: Z; RF: A", 6, NEST_FITS, "A", 6},
	{"diagonals", "DRAM RF MAC", "Z[m] = A[m,m], m=4",
		"DRAM: m2 | RF: m2 | keep DRAM: Z; RF: A", 8, NEST_FITS, "A", 8},
	{"the last round is shorter", "DRAM RF MAC", "Z[m] = A[m], m=5",
		"DRAM: m3 | RF: m2 | keep DRAM: Z; RF: A", 5, NEST_FITS, "A", 5},
	{"results too", "DRAM RF MAC", "Z[m] = A[m,k], m=4 k=4",
		"DRAM: m4 k4 | keep DRAM: A; RF: Z", 3, NEST_CAPACITY, "Z", 4},
	{"parts of a sum", "DRAM (PE:2) RF MAC", "Z[m] = A[m,k], m=4 k=4",
		"PE: k2 | RF: m4 k2 | keep DRAM: A; RF: Z", 0, NEST_SUMS_APART, "Z", 4},
	{"parts that are added outside", "DRAM (PE:2) RF MAC", "Z[m] = A[m,k], m=4 k=4",
		"PE: k2 | RF: m4 k2 | keep DRAM: A; DRAM,RF: Z", 0, NEST_FITS, "Z", 4},
	{"whole sums", "DRAM (PE:2) RF MAC", "Z[m] = A[m,k], m=4 k=4",
		"PE: m2 | RF: m2 k4 | keep DRAM: A; RF: Z", 0, NEST_FITS, "Z", 2},
};

static void homes_hold_what_they_need(void **state)
{
	const struct home *row = *state;
	struct arena *own = arena_open();
	struct nest_case *nest = nest_line(own, row->levels, row->einsum, row->mapping);
	nest_line_level(nest, "RF")->size = row->size;
	struct nest_counts counts, executed;
	struct nest_score score;
	const struct nest_model *model =
		nest_model_make(own, &nest->hierarchy, &nest->shape, COUNTING_EXACT);
	assert_int_equal(nest_evaluate(model, &nest->mapping, &counts, &score), row->verdict);
	int level = (int)(nest_line_level(nest, "RF") - nest->hierarchy.levels);
	int space = shape_space(&nest->shape, row->space);
	assert_int_equal(counts.at[level][space].capacity, row->words);
	struct nest_sim_options options = {.data = true, .seed = 1};
	struct nest_sim sim =
		nest_simulate(&nest->hierarchy, &nest->shape, &nest->mapping, &options, own);
	assert_int_equal(sim.verdict, row->verdict);
	assert_true(nest_counts_equal(&nest->hierarchy, &nest->shape, &counts, &sim.counts));
	bool right = nest_interpret(&nest->hierarchy, &nest->shape, &nest->mapping, &executed);
	assert_int_equal(right, row->verdict != NEST_SUMS_APART);
	assert_int_equal(executed.at[level][space].capacity, row->words);
	/* Timeloop looks at tiles only. */
	model = nest_model_make(own, &nest->hierarchy, &nest->shape, COUNTING_TIMELOOP);
	if (row->verdict == NEST_SUMS_APART || !strcmp(row->name, "all that loops outside bring"))
		assert_int_equal(nest_evaluate(model, &nest->mapping, &counts, &score), NEST_FITS);
	arena_close(own);
}

/* A reduce ring adds what the instances that it joins end with. */
static void a_ring_adds_parts(void **state)
{
	struct arena *own = arena_open();
	struct nest_case *nest = nest_line(own, "DRAM (PE:2) RF MAC", "Z[m] = A[m,k], m=4 k=4",
		"PE: k2 | RF: m4 k2 | keep DRAM: A; RF: Z");
	for (int i = 0; i < nest->hierarchy.level_count; i++)
		nest->hierarchy.levels[i].ring = true;
	struct nest_counts counts;
	struct nest_score score;
	const struct nest_model *model =
		nest_model_make(own, &nest->hierarchy, &nest->shape, COUNTING_EXACT);
	assert_int_equal(nest_evaluate(model, &nest->mapping, &counts, &score), NEST_FITS);
	struct nest_sim_options options = {.data = true, .seed = 1};
	struct nest_sim sim =
		nest_simulate(&nest->hierarchy, &nest->shape, &nest->mapping, &options, own);
	assert_int_equal(sim.verdict, NEST_FITS);
	assert_true(sim.right);
	arena_close(own);
}

/* --- on the command line */

static const char machine[] =
	"architecture:\n"
	"  version: 0.4\n"
	"  nodes:\n"
	"  - !Container {name: system}\n"
	"  - !Component {name: DRAM, class: DRAM, attributes: {datawidth: 16, width: 64}}\n"
	"  - !Container {name: PE, spatial: {meshX: 2}}\n"
	"  - !Component {name: \"R\\u2028F\", class: regfile, attributes: {datawidth: 16, width: 16, "
	"depth: 4}}\n"
	"  - !Component {name: MAC, class: intmac, attributes: {datawidth: 16}}\n";
static const char problem[] = "problem:\n"
			      "  shape:\n"
			      "    name: \"sums\\u0085\"\n"
			      "    dimensions: [M, K]\n"
			      "    data_spaces:\n"
			      "    - {name: A, projection: [[[M]], [[K]]]}\n"
			      "    - {name: Z, projection: [[[M]]], read_write: true}\n"
			      "  instance: {M: 4, K: 4}\n";
/* 16 words of A would lie in 4, and two sums of Z in halves. */
static const char small[] = "mapping: \"DRAM: M4 K4 | keep DRAM: Z; R\\u2028F: A\"\n";
static const char halves[] =
	"mapping: \"DRAM: M1 | PE spatial: K2 | R\\u2028F: M4 K2 | keep DRAM: A; R\\u2028F: Z\"\n";
static const char bypass[] = "constraints:\n"
			     "  targets:\n"
			     "  - {target: DRAM, type: dataspace, bypass: [A]}\n";

static int set_up(void **state)
{
	folder_set_up(state);
	folder_put("machine.yaml", machine);
	folder_put("problem.yaml", problem);
	folder_put("small.yaml", small);
	folder_put("halves.yaml", halves);
	folder_put("bypass.yaml", bypass);
	return 0;
}

static struct ended run(const char *command)
{
	return folder_run(arena_format(arena, "\"$program\" %s", command));
}

static void expect(const char *command, int status, const char *said)
{
	struct ended ended = run(command);
	if (ended.status != status)
		fail_msg("%s: status %d\n%s%s", command, ended.status, ended.out, ended.err);
	if (!strstr(ended.out, said) && !strstr(ended.err, said))
		fail_msg("%s: not said: %s\n%s%s", command, said, ended.out, ended.err);
}

static void no_command_lets_them_pass(void **state)
{
	static const char room[] = "has to hold 16 words and has room for 4";
	static const char mend[] = "keep it at 'DRAM'";
	static const char parts[] = "end with a part of the same sum of 'Z' each";
	expect("score machine.yaml problem.yaml small.yaml", 1, room);
	expect("score machine.yaml problem.yaml small.yaml", 1, mend);
	expect("simulate machine.yaml problem.yaml small.yaml", 1, room);
	expect("check machine.yaml problem.yaml small.yaml --format json", 1, room);
	expect("score machine.yaml problem.yaml halves.yaml", 1, parts);
	expect("score machine.yaml problem.yaml halves.yaml", 1, mend);
	expect("simulate machine.yaml problem.yaml halves.yaml", 1, parts);
	expect("check machine.yaml problem.yaml halves.yaml --format json", 1, parts);
}

static void timeloop_lets_them_pass_with_a_warning(void **state)
{
	static const char *const mappings[] = {"small", "halves"};
	for (int i = 0; i < 2; i++) {
		const char *files = arena_format(arena,
			"machine.yaml problem.yaml %s.yaml --counting timeloop", mappings[i]);
		expect(arena_format(arena, "score %s", files), 0,
			"warning: the mapping: Timeloop's counting allows it");
		expect(arena_format(arena, "check %s", files), 0,
			"warning: the mapping: Timeloop's counting allows it");
		expect(arena_format(arena, "simulate %s", files), 3, "not executed: ");
	}
}

/* Four words are not a home for A; sixteen are. */
static void what_is_feasible_is_known(void **state)
{
	expect("check machine.yaml problem.yaml bypass.yaml", 1, "R\\u2028F");
	expect("check machine.yaml problem.yaml bypass.yaml --counting timeloop", 0, "feasible");
	expect("explore machine.yaml problem.yaml bypass.yaml -q -o none", 1, "no mapping fits");
	const char *depth = strstr(machine, "depth: 4");
	folder_put("machine.yaml", arena_format(arena, "%.*sdepth: 9%s", (int)(depth - machine),
					   machine, depth + strlen("depth: 4")));
	expect("check machine.yaml problem.yaml bypass.yaml", 0, "feasible");
}

/* Every mapper keeps to it, and what proves finds what trying everything finds. */
static void mappers_keep_to_it(void **state)
{
	static const char *const solvers[] = {"linear", "exact", "anneal", "random", "ilp"};
	const char *depth = strstr(machine, "depth: 4");
	folder_put("machine.yaml", arena_format(arena, "%.*sdepth: 9%s", (int)(depth - machine),
					   machine, depth + strlen("depth: 4")));
	double best = 0;
	for (size_t i = 0; i < sizeof solvers / sizeof *solvers; i++) {
		struct ended ended = run(arena_format(arena,
			"explore machine.yaml problem.yaml bypass.yaml --objective edp -q "
			"--budget 20000 --solver map=%s -o %s --format json",
			solvers[i], solvers[i]));
		if (ended.status)
			fail_msg("%s: %s", solvers[i], ended.err);
		expect(arena_format(arena,
			       "score machine.yaml problem.yaml %s/plans/point-001.yaml",
			       solvers[i]),
			0, "\"feasible\": true");
		const char *scored = run(arena_format(arena,
						 "score machine.yaml problem.yaml "
						 "%s/plans/point-001.yaml",
						 solvers[i]))
					     .out;
		json_t *root = json_loads(scored, 0, NULL);
		double value = json_number_value(json_object_get(root, "energy_pj")) *
			       (double)json_integer_value(json_object_get(root, "cycles"));
		json_decref(root);
		best = i ? best : value;
		assert_true(value >= best * (1 - 1e-12));
		if (strcmp(solvers[i], "exact") == 0)
			assert_true(value <= best * (1 + 1e-12));
	}
	expect("check machine.yaml problem.yaml bypass.yaml --certificate exact/certificate.yaml",
		0, "holds");
}

int main(void)
{
	enum { HOMES = sizeof homes / sizeof *homes };
	struct CMUnitTest tests[HOMES + 5] = {
		[HOMES] = cmocka_unit_test(a_ring_adds_parts),
#define FIXED(name) cmocka_unit_test_setup_teardown(name, set_up, folder_tear_down)
		FIXED(no_command_lets_them_pass),
		FIXED(timeloop_lets_them_pass_with_a_warning),
		FIXED(what_is_feasible_is_known),
		FIXED(mappers_keep_to_it),
	};
	for (int i = 0; i < HOMES; i++)
		tests[i] = (struct CMUnitTest){
			homes[i].name, homes_hold_what_they_need, NULL, NULL, (void *)&homes[i]};
	return cmocka_run_group_tests_name("homes", tests, NULL, NULL);
}
