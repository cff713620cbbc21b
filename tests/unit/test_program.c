#include "base/arena.h"
#include "lower/graph/lower.h"
#include "tests/support/plan_text.h"

#include "tests/test.h"

/* The remarks of a program beside its instructions, and plans that cannot be lowered. */

TEST(every_bundle_costs_its_overhead_once)
{
	struct plan *plan = plan_text(arena, 4,
		"{dimensions: {m: 4, n: 64}, ops: ['a[m,n] = exp(x[m,n])', 'b[m,n] = exp(a[m,n])', "
		"'c[m,n] = exp(b[m,n])']}",
		(const char *const[]){"core: m2 / 0", "core: m4 / 0", "core: m2 / 1", NULL},
		(const char *const[]){NULL});
	struct arch *arch = arena_copy(arena, plan->arch, sizeof *arch);
	arch->bundle_cycles = 1000;
	arch->core_cycles = 7;
	plan->arch = arch;
	const char *why = NULL;
	const struct program *program = lower_plan(plan, arena, &why);
	assert_non_null(program);
	assert_int_equal(program->overhead_cycles, 1000 + 4 * 7 + 1000 + 2 * 7);
}

static const struct allotment *find_allotment(const struct program *program, int tensor, int step)
{
	for (size_t i = 0; i < program->allotment_count; i++) {
		const struct allotment *allotment = &program->allotments[i];
		if (allotment->tensor == tensor && allotment->from <= step && step < allotment->to)
			return allotment;
	}
	return NULL;
}

TEST(residents_and_tile_buffers_have_allotments)
{
	const struct plan *plan = plan_text(arena, 2,
		"{dimensions: {m: 4, n: 64}, ops: ['s[m,n] = neg(x[m,n])', 'e[m,n] = exp(s[m,n])', "
		"'y[m,n] = neg(e[m,n])']}",
		(const char *const[]){"core: m2", "core: m2", "core: m2 | LX: m2", NULL},
		(const char *const[]){"s at 256 steps 0 2, cores 2: dim 1 / 2 by 1",
			"e at 256 steps 1 3 in place of s, cores 2: dim 1 / 2 by 1", NULL});
	int s = workload_tensor(plan->workload, "s"), e = workload_tensor(plan->workload, "e");
	const char *why = NULL;
	const struct program *program = lower_plan(plan, arena, &why);
	assert_non_null(program);
	assert_int_equal(program->allotment_count, 4);
	const struct allotment *in_place = find_allotment(program, e, 1);
	assert_int_equal(in_place->address, 256);
	assert_int_equal(in_place->size, 2 * STICK_BYTES);
	assert_int_equal(in_place->in_place_of, s);
	assert_int_equal(in_place->cores, 3);
	assert_int_equal(find_allotment(program, s, 0)->to, 2);
	assert_int_equal(find_allotment(program, -1, 0)->size, 2 * STICK_BYTES);
	assert_null(find_allotment(program, -1, 1));
	assert_int_equal(find_allotment(program, -1, 2)->size, 2 * STICK_BYTES);
	assert_int_equal(find_allotment(program, -1, 2)->address, arch_stream_address(plan->arch));
	assert_int_equal(program->hbm[s], -1);
	assert_int_equal(program->hbm[e], -1);
	assert_int_equal(program->hbm_bytes, 2 * 4 * STICK_BYTES);
}

TEST(a_ring_that_cannot_combine_is_refused)
{
	struct plan *plan =
		plan_text(arena, 2, "{dimensions: {m: 4, n: 64}, ops: ['x[n] = max(m) a[m,n]']}",
			(const char *const[]){"core: m2", NULL}, (const char *const[]){NULL});
	struct arch *arch = arena_copy(arena, plan->arch, sizeof *arch);
	arch->reduce_ring.reductions =
		(const struct primitive *const[]){&primitive_sum, &primitive_min, NULL};
	plan->arch = arch;
	const char *why = NULL;
	assert_null(lower_plan(plan, arena, &why));
	assert_string_equal(why, "op 'x' splits a reduction over cores, and the reduce ring cannot "
				 "combine 'max'");
}

TEST(sizes_that_cannot_be_counted_are_refused)
{
	struct plan *plan = plan_text(arena, 1,
		"{dimensions: {m: 65536, n: 65536, k: 65536}, ops: ['c[m,n] = sum(k) a[m,k] * "
		"b[k,n]']}",
		(const char *const[]){"LX: m65536 n1024 k1024", NULL}, (const char *const[]){NULL});
	const char *why = NULL;
	struct lower_refusal refusal;
	assert_null(lower_within(plan, UINT64_MAX, arena, &refusal));
	assert_null(refusal.why);
	assert_null(lower_plan(plan, arena, &why));
	assert_string_equal(why, "the program has more instructions than can be numbered");
}
