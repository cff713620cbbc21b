#include "base/arena.h"
#include "model/graph/plan.h"
#include "model/graph/planning.h"
#include "search/drive/solver.h"
#include "tests/support/lookups.h"
#include "tests/support/sample.h"
#include "tests/support/spyre.h"

#include <string.h>

#include "tests/test.h"

#define EXTENTS(...) ((const int64_t[]){__VA_ARGS__})

struct ground {
	struct arena *arena;
	const struct arch *arch;
	struct planning planning;
};

static int open_ground(void **state)
{
	struct arena *arena = arena_open();
	struct ground *ground = arena_new(arena, struct ground);
	ground->arena = arena;
	ground->arch = spyre_arch(arena, 32);
	ground->planning = planning_default(ground->arch);
	ground->planning.cores = 32;
	ground->planning.span_limit = INT64_C(256) << 20;
	*state = ground;
	return 0;
}

static int close_ground(void **state)
{
	arena_close(((struct ground *)*state)->arena);
	return 0;
}

static struct answer ask(
	const struct ground *ground, const char *name, const struct workload *workload, int op)
{
	const struct problem problem = {
		.stage = STAGE_DIVIDE,
		.arch = ground->arch,
		.workload = workload,
		.planning = &ground->planning,
		.op = op,
	};
	const struct solver *solver = solver_find(STAGE_DIVIDE, name);
	assert_non_null(solver);
	return solve(solver, &problem, 0, 1, ground->arena);
}

static struct workload *sample(const struct ground *ground, enum op_kind kind, const char *operands,
	const char *loops, const int64_t *extents)
{
	return sample_op(ground->arena, kind, DTYPE_FP16, operands, loops, extents);
}

static void assert_mapping(const struct ground *ground, const struct workload *workload,
	const struct mapping *mapping, const int64_t *splits)
{
	const struct op *op = workload->ops;
	const char *why = mapping_check(ground->arena, ground->arch, workload, op, mapping);
	if (why)
		fail_msg("%s", why);
	for (int l = 0; l < op->loop_count; l++)
		assert_int_equal(mapping_split(ground->arch, mapping, l), splits[l]);
}

static void spyre_writes_the_core_row(void **state)
{
	const struct ground *ground = *state;
	const struct workload *workload =
		sample(ground, OP_REDUCE, "mn->.n", "nm", EXTENTS(1024, 512));
	struct answer answer = ask(ground, "spyre", workload, -1);
	assert_int_equal(answer.candidate_count, 1);
	assert_int_equal(answer.complaint_count, 0);
	const struct mapping *mapping = &answer.candidates[0].mappings[0];
	assert_mapping(ground, workload, mapping, EXTENTS(16, 2));
	assert_int_equal(mapping_slot(ground->arch, mapping, 0, 17), 1);
	assert_int_equal(mapping_slot(ground->arch, mapping, 1, 17), 1);
}

static void k_fast_puts_the_reduction_on_neighbouring_cores(void **state)
{
	struct ground *ground = *state;
	const struct workload *workload =
		sample(ground, OP_EINSUM, "mk,kn->mn", "mnk", EXTENTS(64, 1024, 4096));
	ground->planning.k_fast = true;
	struct answer answer = ask(ground, "spyre", workload, 0);
	const struct mapping *mapping = answer.candidates[0].mappings;
	assert_mapping(ground, workload, mapping, EXTENTS(1, 16, 2));
	assert_int_equal(mapping_slot(ground->arch, mapping, 2, 1), 1);
	assert_int_equal(mapping_slot(ground->arch, mapping, 1, 1), 0);
	ground->planning.k_fast = false;
	answer = ask(ground, "spyre", workload, 0);
	assert_mapping(ground, workload, answer.candidates[0].mappings, EXTENTS(32, 1, 1));
}

static void opaque_and_topk_ops_stay_whole(void **state)
{
	const struct ground *ground = *state;
	struct workload *workload = sample(ground, OP_MAP, "mn->mn", "mn", EXTENTS(512, 1024));
	struct op *op = (struct op *)workload->ops;
	op->type = "topk";
	for (int turn = 0; turn < 2; turn++) {
		static const char *const names[] = {"spyre", "exhaustive"};
		for (int s = 0; s < 2; s++) {
			struct answer answer = ask(ground, names[s], workload, 0);
			assert_int_equal(answer.candidate_count, 1);
			assert_int_equal(answer.complaint_count, 0);
			assert_mapping(
				ground, workload, answer.candidates[0].mappings, EXTENTS(1, 1));
		}
		op->type = "custom";
		op->primitive = &primitive_opaque;
	}
}

static void an_overlong_span_is_an_error_with_the_padding_that_mends_it(void **state)
{
	struct ground *ground = *state;
	const struct workload *workload =
		sample(ground, OP_EINSUM, "mk,kn->mn", "mnk", EXTENTS(8, 769 * 64, 4096));
	struct answer answer = ask(ground, "spyre", workload, -1);
	assert_int_equal(answer.candidate_count, 1);
	assert_int_equal(answer.complaint_count, 1);
	assert_true(answer.complaints[0].error);
	assert_int_equal(answer.complaints[0].op, 0);
	assert_string_equal(answer.complaints[0].text,
		"op 'o': a core would span 403177472 bytes of 'b' along 'n', the limit is "
		"268435456; padding 'n' from 49216 to 49280 elements (770 instead of 769 sticks) "
		"would help");
	ground->planning.strict = false;
	answer = ask(ground, "spyre", workload, -1);
	assert_int_equal(answer.candidate_count, 1);
	assert_int_equal(answer.complaint_count, 1);
	assert_false(answer.complaints[0].error);
}

static void the_padding_of_the_complaint_does_mend_it(void **state)
{
	const struct ground *ground = *state;
	const struct workload *workload =
		sample(ground, OP_EINSUM, "mk,kn->mn", "mnk", EXTENTS(8, 770 * 64, 4096));
	struct answer answer = ask(ground, "spyre", workload, -1);
	assert_int_equal(answer.complaint_count, 0);
	assert_mapping(ground, workload, answer.candidates[0].mappings, EXTENTS(8, 2, 2));
}

static void two_reductions_are_refused_by_name_and_left_whole(void **state)
{
	struct ground *ground = *state;
	const struct workload *workload =
		sample(ground, OP_REDUCE, "mkn->m..", "mkn", EXTENTS(8192, 3, 65536));
	for (int strict = 0; strict < 2; strict++) {
		ground->planning.strict = strict;
		struct answer answer = ask(ground, "spyre", workload, -1);
		assert_int_equal(answer.complaint_count, 1);
		assert_true(answer.complaints[0].error);
		assert_string_equal(answer.complaints[0].text,
			"op 'o': the span limit of 268435456 bytes needs the reduction loops divided: 'k' and 'n'; at most one can be divided");
		assert_mapping(ground, workload, answer.candidates[0].mappings, EXTENTS(1, 1, 1));
	}
}

static void an_unsupported_stick_leaves_the_op_whole(void **state)
{
	const struct ground *ground = *state;
	struct workload *workload = sample(ground, OP_MAP, "m->m", "m", EXTENTS(4096));
	struct op *op = (struct op *)workload->ops;
	op->reads[0].linear = op->reads[0].host[0] = (struct affine){.coefficient = {2}};
	op->loops[0].extent = 2048;
	struct answer answer = ask(ground, "spyre", workload, -1);
	assert_int_equal(answer.complaint_count, 1);
	assert_string_equal(answer.complaints[0].text,
		"op 'o': the stick of 'a' is walked by Mod(2*m, 64); a device can walk a loop, or "
		"a loop modulo 64");
	assert_mapping(ground, workload, answer.candidates[0].mappings, EXTENTS(1));
}

/* Every 64th element of a: the published pass sees 64 rows, the machine one unit. */
static void splits_that_the_machine_cannot_run_are_not_taken_over(void **state)
{
	const struct ground *ground = *state;
	struct workload *workload = sample(ground, OP_MAP, "mn->m.", "mn", EXTENTS(64, 64));
	struct workload *flat = sample(ground, OP_MAP, "m->m", "m", EXTENTS(4096));
	((struct tensor *)workload->tensors)[0] = flat->tensors[0];
	struct op *op = (struct op *)workload->ops;
	op->loop_count = 1;
	op->reads[0].linear = op->reads[0].host[0] = (struct affine){.coefficient = {64}};
	op->reads[0].host[1] = (struct affine){0};
	struct answer answer = ask(ground, "spyre", workload, -1);
	assert_int_equal(answer.complaint_count, 1);
	assert_string_equal(answer.complaints[0].text,
		"op 'o': loop 'm' stays whole, 32 does not divide its 1 indivisible units");
	assert_mapping(ground, workload, answer.candidates[0].mappings, EXTENTS(1));
}

/* r and s have one coefficient in a: the 8 stored for r is read back for both. */
static void a_split_that_storing_doubles_is_taken_as_meant(void **state)
{
	const struct ground *ground = *state;
	struct workload *workload =
		sample(ground, OP_REDUCE, "mr.->m..", "mrs", EXTENTS(4, 16, 16));
	struct op *op = (struct op *)workload->ops;
	op->reads[0].linear.coefficient[2] = op->reads[0].host[1].coefficient[2] = 1;
	struct answer answer = ask(ground, "spyre", workload, -1);
	assert_int_equal(answer.complaint_count, 0);
	assert_mapping(ground, workload, answer.candidates[0].mappings, EXTENTS(4, 8, 1));
}

/* Only the cores that the outputs leave over would go to k. */
static void a_reduction_stays_whole_where_no_ring_combines_it(void **state)
{
	struct ground *ground = *state;
	struct arch *arch = arena_copy(ground->arena, ground->arch, sizeof *arch);
	const struct workload *workload =
		sample(ground, OP_EINSUM, "mk,kn->mn", "mnk", EXTENTS(4, 256, 4096));
	struct answer answer = ask(ground, "spyre", workload, -1);
	assert_mapping(ground, workload, answer.candidates[0].mappings, EXTENTS(4, 4, 2));
	arch->reduce_ring.reductions = NULL;
	ground->arch = arch;
	answer = ask(ground, "spyre", workload, -1);
	assert_mapping(ground, workload, answer.candidates[0].mappings, EXTENTS(4, 4, 1));
	ground->planning.cores = 4;
	answer = ask(ground, "exhaustive", workload, 0);
	assert_int_equal(answer.candidate_count, 6);
}

static void exhaustive_offers_in_order_and_within_its_budget(void **state)
{
	struct ground *ground = *state;
	ground->planning.cores = 4;
	const struct workload *workload =
		sample(ground, OP_EINSUM, "mk,kn->mn", "mnk", EXTENTS(6, 128, 256));
	static const int64_t expected[][3] = {{1, 1, 1}, {1, 1, 2}, {1, 1, 4}, {1, 2, 1}, {1, 2, 2},
		{2, 1, 1}, {2, 1, 2}, {2, 2, 1}, {3, 1, 1}};
	struct answer answer = ask(ground, "exhaustive", workload, 0);
	assert_int_equal(answer.candidate_count, 9);
	assert_int_equal(answer.ticks, 9);
	for (size_t i = 0; i < 9; i++)
		assert_mapping(ground, workload, answer.candidates[i].mappings, expected[i]);
	const struct problem problem = {.stage = STAGE_DIVIDE,
		.arch = ground->arch,
		.workload = workload,
		.planning = &ground->planning};
	answer = solve(solver_find(STAGE_DIVIDE, "exhaustive"), &problem, 5, 1, ground->arena);
	assert_int_equal(answer.candidate_count, 5);
	assert_true(answer.cut);
}

static void exhaustive_says_when_nothing_keeps_the_span(void **state)
{
	struct ground *ground = *state;
	const struct workload *workload =
		sample(ground, OP_MAP, "mn->mn", "mn", EXTENTS(65536, 769 * 64));
	struct answer answer = ask(ground, "exhaustive", workload, 0);
	assert_int_equal(answer.candidate_count, 0);
	assert_true(answer.complaints[0].error);
	ground->planning.strict = false;
	answer = ask(ground, "exhaustive", workload, 0);
	assert_int_equal(answer.candidate_count, 6); /* 1, 2, 4, ... 32 ways in m */
	assert_int_equal(answer.complaint_count, 0);
}

int main(void)
{
#define FIXED(name) cmocka_unit_test_setup_teardown(name, open_ground, close_ground)
	const struct CMUnitTest tests[] = {
		FIXED(spyre_writes_the_core_row),
		FIXED(k_fast_puts_the_reduction_on_neighbouring_cores),
		FIXED(opaque_and_topk_ops_stay_whole),
		FIXED(an_overlong_span_is_an_error_with_the_padding_that_mends_it),
		FIXED(the_padding_of_the_complaint_does_mend_it),
		FIXED(two_reductions_are_refused_by_name_and_left_whole),
		FIXED(an_unsupported_stick_leaves_the_op_whole),
		FIXED(splits_that_the_machine_cannot_run_are_not_taken_over),
		FIXED(a_split_that_storing_doubles_is_taken_as_meant),
		FIXED(a_reduction_stays_whole_where_no_ring_combines_it),
		FIXED(exhaustive_offers_in_order_and_within_its_budget),
		FIXED(exhaustive_says_when_nothing_keeps_the_span),
	};
	return cmocka_run_group_tests_name("divide solvers", tests, NULL, NULL);
}
