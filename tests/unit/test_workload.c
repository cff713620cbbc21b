#include "base/arena.h"
#include "tests/support/sample.h"
#include "tests/support/workload_text.h"

#include <string.h>

#include "tests/test.h"

static int find_op(const struct workload *workload, const char *name)
{
	int o = workload_op(workload, name);
	assert_true(o >= 0);
	return o;
}

TEST(grains_are_the_widest_stick_along_a_loop)
{
	const struct workload *workload =
		workload_given(arena, "workload:\n"
				      "  dimensions: {m: 100, n: 300, k: 96}\n"
				      "  tensors: {x: {dtype: fp8}, a: {dtype: fp32}}\n"
				      "  ops:\n"
				      "    - y[m,n] = exp(x[m,n])\n"
				      "    - c[m,n] = sum(k) a[m,k] * b[k,n]\n"
				      "    - s[m] = max(n) y[m,n]\n");
	const struct op *map = &workload->ops[find_op(workload, "y")];
	const struct op *product = &workload->ops[find_op(workload, "c")];
	const struct op *reduce = &workload->ops[find_op(workload, "s")];
	assert_int_equal(op_grain(workload, map, 0), 1);
	assert_int_equal(op_grain(workload, map, 1), 128); /* fp8, not the output's 64 */
	assert_int_equal(op_units(workload, map, 1), 3);
	assert_int_equal(op_grain(workload, product, 1), 64);
	assert_int_equal(op_grain(workload, product, 2), 32); /* k: the stick of a */
	assert_int_equal(op_units(workload, product, 2), 3);
	assert_int_equal(op_stick_loop(workload, product, 0), 2);
	assert_int_equal(op_stick_loop(workload, product, 1), 1);
	assert_int_equal(op_stick_loop(workload, product, 2), 1);
	assert_int_equal(op_stick_loop(workload, reduce, 0), 1);
	assert_int_equal(op_stick_loop(workload, reduce, 1), -1); /* sparse */
	assert_int_equal(op_points(product), 100 * 300 * 96);
}

TEST(a_stick_along_two_loops_is_no_loops)
{
	const struct workload *workload =
		workload_given(arena, "workload:\n"
				      "  dimensions: {p: 64, r: 3, k: 64}\n"
				      "  tensors: {y: {layout: [p, k]}, x: {layout: [0, sparse]}}\n"
				      "  ops:\n"
				      "    - y[k,p] = sum(r) x[p+r] * w[r,k]\n");
	assert_int_equal(op_stick_loop(workload, &workload->ops[0], 0), -1);
	assert_int_equal(op_stick_loop(workload, &workload->ops[0], 1), 0);
}

TEST(names_find_their_numbers)
{
	const struct workload *workload =
		workload_given(arena, "workload:\n  dimensions: {m: 4}\n  ops:\n"
				      "    - {op: \"y[m] = exp(x[m])\", name: first}\n"
				      "    - z[m] = neg(y[m])\n");
	assert_int_equal(workload_tensor(workload, "x"), 0);
	assert_int_equal(workload_tensor(workload, "z"), 2);
	assert_int_equal(workload_tensor(workload, "first"), -1);
	assert_int_equal(workload_op(workload, "first"), 0);
	assert_int_equal(workload_op(workload, "z"), 1);
	assert_int_equal(workload_op(workload, "y"), -1);
}

TEST(primitives_have_names_of_their_own_and_arities)
{
	static const char *const of_two =
		" add sub mul div maximum minimum pow eq ne lt le gt ge where unless "
		"bitand bitor bitxor ";
	for (int i = 0; primitives[i]; i++) {
		const char *word = arena_format(arena, " %s ", primitives[i]->name);
		assert_int_equal(primitives[i]->arity, strstr(of_two, word) ? 2 : 1);
		assert_ptr_equal(primitive_find(primitives[i]->name), primitives[i]);
		assert_non_null(primitives[i]->kernel);
		assert_non_null(primitives[i]->reference);
	}
	assert_null(primitive_find("none"));
}
