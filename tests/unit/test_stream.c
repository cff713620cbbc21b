#include "base/arena.h"
#include "cost/graph/cost.h"
#include "lower/graph/lower.h"
#include "search/graph/stream.h"
#include "sim/graph/sim.h"
#include "tests/support/plan_text.h"
#include "tests/support/sample.h"

#include "tests/test.h"

#define CHAIN                                                                                      \
	"{dimensions: {m: 512, n: 1024}, ops: ['t[m,n] = clone(x[m,n])', 's[n] = sum(m) t[m,n]']}"
#define NOTHING                                                                                    \
	{                                                                                          \
		NULL                                                                               \
	}

/* Divisions and stays in, mappings with the chosen tiles out. */
static const struct {
	int cores;
	const char *workload;
	const char *divisions[4], *stays[4], *mappings[4];
} table[] = {
	/* HBM takes 120 cycles, the cores 64: of those the last tile may add 15 */
	{1, "{dimensions: {m: 4, n: 1024}, ops: ['y[m,n] = exp(x[m,n])']}", {""}, NOTHING,
		{"LX: n8"}},
	/* four buffers of 128 KiB do not fit the reserve */
	{1, "{dimensions: {m: 512, n: 1024}, ops: ['y[m,n] = exp(x[m,n])']}", {""}, NOTHING,
		{"LX: n16"}},
	/* cores are much faster than HBM: one tile exposes little */
	{32, "{dimensions: {m: 512, n: 1024}, ops: ['y[m,n] = exp(x[m,n])']}", {"core: m32"},
		NOTHING, {"core: m32"}},
	/* between two tensors in LX nothing moves */
	{1,
		"{dimensions: {m: 4, n: 1024}, ops: ['t[m,n] = exp(x[m,n])', 'y[m,n] = "
		"exp(t[m,n])', "
		"'z[m,n] = exp(y[m,n])']}",
		{"", "", ""}, {"t at 0 steps 0 2, cores 1", "y at 8192 steps 1 3, cores 1"},
		{"LX: n8", "undivided", "LX: n8"}},
	/* a clone comes in the tiles of its reader, which waits for no more than one of them: the port of a core
	 * takes 16 cycles for an eighth, 8 for a sixteenth */
	{1, CHAIN, {"", ""}, {"t at 0 steps 0 2, cores 1"}, {"LX: n16", "LX: n16"}},
	/* one loop is tiled, and that is not the one that would fetch a or b again */
	{1, "{dimensions: {m: 4096, n: 64, k: 64}, ops: ['c[m,n] = sum(k) a[m,k] * b[k,n]']}", {""},
		NOTHING, {"LX: m8"}},
	/* opaque ops have no tiles */
	{1,
		"{dimensions: {m: 64, n: 64}, ops: [{opaque: sort, reads: ['x[m,n]'], writes: "
		"['y[m]']}]}",
		{""}, NOTHING, {"undivided"}},
};

TEST(tiles_are_those_found_by_hand)
{
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct plan *plan = plan_text(arena, table[i].cores, table[i].workload,
			table[i].divisions, table[i].stays);
		const char *why = NULL;
		assert_true(stream_plan(plan, NULL, arena, &why));
		for (int step = 0; step < plan->step_count; step++)
			assert_string_equal(mapping_print(arena, plan->arch,
						    &plan->workload->ops[plan->steps[step].op],
						    &plan->steps[step].mapping),
				table[i].mappings[step]);
	}
}

/* A stick each in two buffers for x and two for y. */
TEST(a_step_that_fits_in_no_tiles_is_named)
{
	struct plan *plan =
		plan_text(arena, 1, "{dimensions: {m: 4, n: 1024}, ops: ['y[m,n] = exp(x[m,n])']}",
			(const char *[]){"", NULL}, (const char *[]){NULL});
	struct arch *arch = arena_copy(arena, plan->arch, sizeof *arch);
	const char *why = NULL;
	plan->arch = arch;
	arch->levels[arch->lx].storage.reserve =
		arch->levels[arch->lx].storage.capacity % 128 + 4 * 128;
	assert_true(stream_plan(plan, NULL, arena, &why));
	assert_null(why);
	arch->levels[arch->lx].storage.reserve -= 1;
	assert_false(stream_plan(plan, NULL, arena, &why));
	assert_string_equal(why, "op 'y': its smallest tile buffers take 512 bytes of a core's LX; "
				 "384 are kept for them");
}

/* The machine is as fast as the estimate says, apart from the ports, which the estimate ignores. */
TEST(the_machine_is_as_fast_as_the_estimate)
{
	static const struct {
		int cores;
		const char *workload, *division;
	} rows[] = {
		{1, "{dimensions: {m: 512, n: 1024}, ops: ['y[m,n] = exp(x[m,n])']}", ""},
		{4, "{dimensions: {m: 512, n: 1024}, ops: ['y[m,n] = exp(x[m,n])']}", "core: m4"},
		{8, "{dimensions: {m: 512, n: 1024}, ops: ['s[n] = sum(m) x[m,n]']}", "core: n8"},
		{8,
			"{dimensions: {m: 512, n: 512, k: 512}, "
			"ops: ['c[m,n] = sum(k) a[m,k] * b[k,n]']}",
			"core: m8"},
		{32,
			"{dimensions: {m: 64, n: 2048, k: 512}, "
			"ops: ['c[m,n] = sum(k) a[m,k] * b[k,n]']}",
			"core: n32"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct plan *plan = plan_text(arena, rows[i].cores, rows[i].workload,
			(const char *[]){rows[i].division, NULL}, (const char *[]){NULL});
		struct sim_options options = {.mode = SIM_COUNT};
		struct plan_cost cost;
		const char *why;
		struct op_question question = {
			.arch = plan->arch,
			.workload = plan->workload,
			.op = plan->workload->ops,
			.mapping = &plan->steps[0].mapping,
		};
		struct stream_answer answer = stream_tiles(&question, arena);
		assert_true(stream_plan(plan, NULL, arena, &why));
		assert_true(cost_plan(plan, arena, &cost));
		const struct program *program = lower_plan(plan, arena, &why);
		assert_non_null(program);
		struct sim_result result = sim_run(program, &options, arena);
		assert_in_range(result.cycles - cost.overhead_cycles,
			cost.score.cycles - cost.overhead_cycles,
			answer.cycles + answer.cycles / 16);
	}
}

/* y[32*p + q] lies in sticks of two p each: a tile of one p would write the other's half. */
TEST(loops_that_share_a_stick_of_the_output_stay_whole)
{
	struct workload *workload =
		sample_op(arena, OP_MAP, DTYPE_FP16, "pq->pq", "pq", (int64_t[]){1024, 32});
	struct tensor *out = (struct tensor *)&workload->tensors[1];
	assert_true(layout_make(DTYPE_FP16, (int64_t[]){1024 * 32}, 1, NULL, 0, &out->layout));
	workload->ops->writes[0].host[0] = (struct affine){.coefficient = {32, 1}};
	workload->ops->writes[0].host[1] = (struct affine){.offset = 0};
	const char *why;
	struct plan *plan =
		plan_of(arena, 1, workload, (const char *[]){"", NULL}, (const char *[]){NULL});
	assert_true(stream_plan(plan, NULL, arena, &why));
	assert_int_equal(plan->steps[0].mapping.rows[plan->arch->lx].temporal[0], 1);
}

/* 1350 vectors of divisors, most of them in many orders: a part of them is enough. */
TEST(few_tilings_are_priced)
{
	struct plan *plan = plan_text(arena, 1,
		"{dimensions: {b: 16, h: 16, q: 256, k: 2048}, "
		"ops: ['y[b,h,q,k] = x[b,h,q,k] + mask[q,k]']}",
		(const char *[]){"", NULL}, (const char *[]){NULL});
	struct op_question question = {
		.arch = plan->arch,
		.workload = plan->workload,
		.op = plan->workload->ops,
		.mapping = &plan->steps[0].mapping,
	};
	struct stream_answer answer = stream_tiles(&question, arena);
	assert_true(answer.found);
	int64_t elements = 16 * 16 * 256 * 2048;
	assert_int_equal(answer.hbm_bytes, 2 * (2 * elements + 256 * 2048));
	assert_in_range(answer.evaluations, 1, 1000);
}
