/* Tensors on machines without sticks: host arrays, row by row, in words of their home. */
#include "base/arena.h"
#include "model/graph/op_mapping.h"
#include "tests/support/arch_text.h"
#include "tests/support/workload_text.h"

#include <string.h>

#include "tests/test.h"

static const char small_yaml[] = "workload:\n"
				 "  dimensions: {m: 5, n: 7}\n"
				 "  ops:\n"
				 "    - {op: \"t[n,m] = restickify x[m,n]\"}\n"
				 "    - s[n] = sum(m) t[n,m]\n";

BARE_TEST(arrays_have_no_padding)
{
	static const struct {
		int64_t word_bits;
		enum dtype dtype;
		int64_t bytes;
	} table[] = {{8, DTYPE_INT8, 35}, {16, DTYPE_FP16, 70}, {32, DTYPE_FP32, 140}};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct arena *arena = arena_open();
		struct level home = {.name = "DRAM",
			.kind = LEVEL_STORAGE,
			.storage.store.word_bits = table[i].word_bits};
		const char *complaints;
		const struct workload *workload =
			workload_at_home(arena, small_yaml, &home, &complaints);
		assert_non_null(workload);
		const struct layout *x = &workload->tensors[workload_tensor(workload, "x")].layout;
		assert_true(layout_is_linear(x));
		assert_int_equal(x->dtype, table[i].dtype);
		assert_int_equal(x->bytes, table[i].bytes);
		assert_int_equal(x->sticks, 35);
		assert_int_equal(x->rank, 3);
		assert_int_equal(x->stride_map[0], 7);
		assert_int_equal(x->stride_map[1], 1);
		/* no sticks, no grain, and nothing that a restickify would do but copy */
		const struct op *op = &workload->ops[0];
		assert_ptr_equal(op->primitive, &primitive_clone);
		for (int l = 0; l < op->loop_count; l++)
			assert_int_equal(op_grain(workload, op, l), 1);
		arena_close(arena);
	}
}

TEST(sticks_are_as_before)
{
	struct level home = {.name = "HBM",
		.kind = LEVEL_STORAGE,
		.storage.store.word_bits = 16,
		.storage.stick = 128};
	const char *complaints;
	const struct workload *workload = workload_at_home(arena, small_yaml, &home, &complaints);
	assert_non_null(workload);
	const struct layout *x = &workload->tensors[workload_tensor(workload, "x")].layout;
	assert_int_equal(x->bytes, 5 * 128);
	assert_int_equal(x->stick_bytes, 128);
	assert_ptr_equal(workload->ops[0].primitive, &primitive_restickify);
}

BARE_TEST(what_cannot_be_is_said)
{
	static const struct {
		const char *yaml;
		int64_t word_bits;
		const char *said;
	} table[] = {
		{"workload:\n  dimensions: {m: 5}\n  tensors: {x: {layout: [m]}}\n"
		 "  ops: ['y[m] = exp(x[m])']\n",
			16,
			"w.yaml:3:25: error: 'x' has a device layout, and 'DRAM' has no sticks: arrays "
			"lie there row by row; leave 'layout' out, or give 'DRAM' 'stick: 128B' and the "
			"scratchpad 'transfer: box'"},
		{"workload:\n  dimensions: {m: 5}\n  ops: ['y[m] = exp(x[m])']\n", 24,
			"error: no dtype has the 24 bits of a word of 'DRAM'; give 'DRAM' a 'datawidth' "
			"of 8, 16 or 32, or the workload a 'dtype'"},
		{"workload:\n  dimensions: {m: 5}\n"
		 "  ops: [{op: 'y[m] = exp(x[m])', roles: [Inputs]}]\n",
			16, "w.yaml:3:41: error: 'y' has 2 operands and 1 roles"},
	};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct arena *arena = arena_open();
		struct level home = {.name = "DRAM",
			.kind = LEVEL_STORAGE,
			.storage.store.word_bits = table[i].word_bits};
		const char *complaints;
		assert_null(workload_at_home(arena, table[i].yaml, &home, &complaints));
		if (!strstr(complaints, table[i].said))
			fail_msg("%s", complaints);
		arena_close(arena);
	}
}

/* A mapping of a step is the whole nest: what is printed reads as it was, and factors must make up
 * the extents. */
TEST(mappings_are_whole_nests)
{
	static const struct {
		const char *text, *why;
	} table[] = {
		{"DRAM: m5 | GLB: n7", NULL},
		{"DRAM: m2 n7 | PE: m=3,2@y", NULL},
		{"DRAM: m5 | column: n7 | keep DRAM,GLB: 0", NULL},
		{"DRAM: m5", "the factors of dimension 'n' multiply to 1, not to its extent 7"},
		{"DRAM: m5 | PE: n7", "'PE' has 1 x 12 instances, not 7 x 1"},
		{"DRAM: m5 n7 | keep nowhere: 1", "operand 1 is kept nowhere"},
	};
	struct diag *diag = diag_open(arena);
	const struct arch *arch = arch_of_file(arena, "specs/arch/eyeriss.yaml", diag);
	const char *complaints;
	const struct workload *workload =
		workload_at_home(arena, small_yaml, arch_home(arch), &complaints);
	const struct op *op = &workload->ops[0];
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct mapping mapping, again;
		const char *wrong = mapping_parse(arena, arch, op, table[i].text, &mapping);
		if (wrong)
			fail_msg("%s: %s", table[i].text, wrong);
		const char *why = mapping_check(arena, arch, workload, op, &mapping);
		if (table[i].why)
			assert_string_equal(why, table[i].why);
		else
			assert_null(why);
		const char *printed = mapping_print(arena, arch, op, &mapping);
		assert_string_equal(printed, table[i].text);
		assert_null(mapping_parse(arena, arch, op, printed, &again));
		assert_true(mapping_equal(&mapping, &again));
	}
}
