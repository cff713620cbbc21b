#include "base/arena.h"
#include "base/text.h"
#include "sim/nest/nest.h"
#include "tests/support/nest_by_hand.h"

#include <string.h>

#include "tests/test.h"

static struct nest_sim simulate(
	struct arena *arena, const struct nest_case *nest, const struct nest_sim_options *options)
{
	return nest_simulate(&nest->hierarchy, &nest->shape, &nest->mapping, options, arena);
}

static void counts_are_the_hand_s(void **state)
{
	const struct nest_by_hand *row = *state;
	struct arena *arena = arena_open();
	const struct nest_case *nest = nest_by_hand_make(arena, row);
	for (int data = 0; data < 2; data++) {
		struct nest_sim_options options = {.data = data == 1, .seed = 11};
		struct nest_sim sim = simulate(arena, nest, &options);
		assert_true(sim.finished);
		assert_int_equal(sim.verdict, NEST_FITS);
		if (!sim.right)
			fail_msg("%s", sim.wrong);
		assert_string_equal(nest_line_counts(arena, nest, &sim.counts), row->counts);
		assert_int_equal(sim.counts.computes, row->computes);
		assert_int_equal(sim.counts.compute_cycles, row->cycles);
	}
	arena_close(arena);
}

/* One move goes wrong; the sentence that says what came of it begins so. */
static const struct broken {
	const char *name, *levels, *einsum, *mapping;
	enum nest_sim_fault fault;
	uint64_t at;
	const char *wrong;
	bool counted; /* counting alone finds it as well */
} breaks[] = {
	{
		.name = "a fill is skipped",
		.levels = "DRAM Buf MAC",
		.einsum = "Z[m,n] = A[m,k] B[k,n], m=2 n=3 k=4",
		.mapping = "DRAM: m2 n3 | Buf: k4",
		.fault = NEST_SIM_FILL_LOST,
		.at = 4,
		.wrong = "step 4: multiplier 0 needs B[0, 1] of Buf 0, which does not hold it",
		.counted = true,
	},
	{
		.name = "a drain is dropped",
		.levels = "DRAM Buf MAC",
		.einsum = "Z[m,n] = A[m,k] B[k,n], m=2 n=3 k=4",
		.mapping = "DRAM: m2 n3 | Buf: k4",
		.fault = NEST_SIM_DRAIN_LOST,
		.at = 4,
		.wrong = "step 23: Z[1, 1] comes out ",
	},
	{
		.name = "a drain reads nothing",
		.levels = "DRAM Buf MAC",
		.einsum = "Z[m,n] = A[m,k] B[k,n], m=2 n=3 k=4",
		.mapping = "DRAM: m2 n3 | Buf: k4",
		.fault = NEST_SIM_DRAIN_UNREAD,
		.at = 4,
		.wrong = "step 23: Z[1, 1] comes out ",
	},
	{
		.name = "a group serves one that wants other words",
		.levels = "Buf (PE:2x2) RF MAC",
		.einsum = "O[p] = I[p+r] W[r], p=2 r=2",
		.mapping = "PE: p2 r2@y",
		.fault = NEST_SIM_GROUP_WRONG,
		.at = 4,
		.wrong = "step 0: multiplier 3 needs I[2] of RF 3, which does not hold it",
		.counted = true,
	},
	{
		.name = "a sum comes back and stays as well",
		.levels = "DRAM Buf MAC",
		.einsum = "Z[m,n] = A[m,k] B[k,n], m=2 n=3 k=4",
		.mapping = "DRAM: m2 k4 n3",
		.fault = NEST_SIM_SUM_COPIED,
		.at = 7,
		.wrong = "step 23: Z[0, 1] comes out ",
	},
	{
		.name = "a sum is written over",
		.levels = "DRAM Buf MAC",
		.einsum = "Z[m,n] = A[m,k] B[k,n], m=2 n=3 k=4",
		.mapping = "DRAM: m2 n3 | Buf: k4",
		.fault = NEST_SIM_SUM_UNREAD,
		.at = 17,
		.wrong = "step 23: Z[1, 2] comes out ",
	},
};

static void a_broken_rule_is_caught(void **state)
{
	const struct broken *broken = *state;
	struct arena *arena = arena_open();
	const struct nest_case *nest =
		nest_line(arena, broken->levels, broken->einsum, broken->mapping);
	struct nest_sim_options options = {
		.data = true, .seed = 12, .fault = broken->fault, .fault_at = broken->at};
	struct nest_sim sim = simulate(arena, nest, &options);
	assert_true(sim.finished);
	assert_false(sim.right);
	assert_non_null(sim.wrong);
	if (strncmp(sim.wrong, broken->wrong, strlen(broken->wrong)) != 0)
		assert_string_equal(sim.wrong, broken->wrong);
	options.data = false;
	sim = simulate(arena, nest, &options);
	assert_int_equal(sim.right, !broken->counted);
	if (broken->counted)
		assert_string_equal(sim.wrong, broken->wrong);
	arena_close(arena);
}

static const struct refused {
	const char *levels, *einsum, *mapping;
	int64_t size; /* of Buf; 0: unlimited; -1: no room */
	enum nest_verdict verdict;
} refusals[] = {
	{"DRAM Buf MAC", "Z[m] = A[m,k], m=4 k=4", "DRAM: m4 k4 | keep nowhere: A", 0,
		NEST_HOMELESS},
	{"DRAM Buf MAC", "Z[m] = A[m,k,n], m=2147483648 k=2147483648 n=2",
		"DRAM: m2147483648 k2147483648 n2", 0, NEST_OVERFLOW},
	{"DRAM Buf MAC", "Z[m+k] = A[m,k], m=4 k=4", "DRAM: m4 k4", 0, NEST_UNCOUNTABLE},
	{"DRAM Buf MAC", "Z[m] = A[m,k], m=4 k=4", "DRAM: m4 | Buf: k4", 4, NEST_CAPACITY},
	{"DRAM Buf MAC", "Z[m] = A[m,k], m=4 k=4", "DRAM: m4 | Buf: k4", 5, NEST_FITS},
	{"DRAM Buf MAC", "Z[m] = A[m,k], m=4 k=4", "DRAM: m4 | Buf: k4", -1, NEST_CAPACITY},
	{"DRAM Buf MAC", "Z[m] = A[m,k], m=4 k=4", "DRAM: m4 | Buf: k4 | keep DRAM: A Z", -1,
		NEST_FITS},
};

static void a_verdict_says_what_does_not_fit(void **state)
{
	struct arena *arena = arena_open();
	for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
		const struct refused *row = &refusals[i];
		struct nest_case *nest = nest_line(arena, row->levels, row->einsum, row->mapping);
		nest_line_level(nest, "Buf")->size = row->size < 0 ? 0 : row->size;
		nest_line_level(nest, "Buf")->store.no_room = row->size < 0;
		struct nest_sim_options options = {0};
		assert_int_equal(simulate(arena, nest, &options).verdict, row->verdict);
	}
	struct nest_case *nest = nest_line(
		arena, "DRAM Buf (PE:2) RF MAC", "Z[m] = A[m,k], m=4 k=4", "DRAM: m2 k4 | PE: m2");
	struct nest_sim_options options = {0};
	nest->mapping.rows[0].temporal[0] = 3;
	assert_int_equal(simulate(arena, nest, &options).verdict, NEST_FACTORS);
	nest->mapping.rows[0].temporal[0] = 1;
	nest->mapping.rows[2].spatial[0] = 4;
	assert_int_equal(simulate(arena, nest, &options).verdict, NEST_FANOUT);
	nest->mapping.rows[0].temporal[0] = 2;
	nest->mapping.rows[2].spatial[0] = 2;
	nest->hierarchy.least_parallelism = 1;
	assert_int_equal(simulate(arena, nest, &options).verdict, NEST_FITS);
	nest->hierarchy.compute_mesh_x = 4;
	assert_int_equal(simulate(arena, nest, &options).verdict, NEST_UTILIZATION);
	arena_close(arena);
}

static void limits_end_it_with_a_reason(void **state)
{
	struct arena *arena = arena_open();
	struct nest_case *nest = nest_line(arena, "DRAM Buf MAC",
		"Z[m,n] = A[m,k] B[k,n], m=7 n=12 k=5", "DRAM: m2 n3 k2 | Buf: m4 n4 k3");
	struct nest_sim_options options = {.steps_most = 420, .every_step = true};
	assert_true(simulate(arena, nest, &options).finished);
	options.steps_most = 419;
	struct nest_sim sim = simulate(arena, nest, &options);
	assert_false(sim.finished);
	assert_string_equal(sim.wrong, "420 steps of multipliers, and at most 419 are taken");
	options = (struct nest_sim_options){0};
	uint64_t work = simulate(arena, nest, &options).work;
	assert_int_equal(work, 64);
	options.steps_most = work;
	assert_true(simulate(arena, nest, &options).finished);
	options.steps_most = work - 1;
	sim = simulate(arena, nest, &options);
	assert_false(sim.finished);
	assert_string_equal(sim.wrong,
		"its steps of multipliers exceed the budget, though iterations that are "
		"alike are executed once");
	nest = nest_line(arena, "DRAM Buf MAC", "Z[m,n] = A[m] B[n], m=65536 n=65536",
		"DRAM: m65536 n65536");
	options = (struct nest_sim_options){0};
	sim = simulate(arena, nest, &options);
	assert_false(sim.finished);
	assert_string_equal(sim.wrong, "the buffers need 4.0 GiB, and at most 1 are taken");
	nest = nest_line(arena, "Buf (MACs:4096x4096) MAC", "Z[m,n] = A[m] B[n], m=4096 n=4096",
		"MACs: m4096 n4096@y");
	sim = simulate(arena, nest, &options);
	assert_false(sim.finished);
	assert_string_equal(sim.wrong, "the instances need 24.3 GiB, and at most 1 are taken");
	arena_close(arena);
}

int main(void)
{
	enum {
		ROWS = NESTS_BY_HAND,
		BREAKS = sizeof breaks / sizeof *breaks,
		REST = 2,
	};
	struct CMUnitTest tests[REST + ROWS + BREAKS] = {
		cmocka_unit_test(a_verdict_says_what_does_not_fit),
		cmocka_unit_test(limits_end_it_with_a_reason),
	};
	for (int i = 0; i < ROWS; i++)
		tests[REST + i] = (struct CMUnitTest){.name = nests_by_hand[i].name,
			.test_func = counts_are_the_hand_s,
			.initial_state = (void *)&nests_by_hand[i]};
	for (int i = 0; i < BREAKS; i++)
		tests[REST + ROWS + i] = (struct CMUnitTest){.name = breaks[i].name,
			.test_func = a_broken_rule_is_caught,
			.initial_state = (void *)&breaks[i]};
	return run_table("nest_sim", tests, REST + ROWS + BREAKS);
}
