#include "base/arena.h"
#include "base/text.h"
#include "tests/support/sample.h"
#include "tests/support/workload_text.h"

#include <glob.h>
#include <inttypes.h>
#include <string.h>

#include "tests/test.h"

#define DIMENSIONS "  dimensions: {m: 512, n: 1024, k: 256, h: 4, q: 128, d: 64, one: 1}\n"

static const char *first_line(struct arena *arena, const char *text)
{
	char *copy = arena_text(arena, text);
	copy[strcspn(copy, "\n")] = '\0';
	return copy;
}

/* Reads a workload with the dimensions above; `rest` is the body below them. */
static const struct workload *read_body(
	struct arena *arena, const char *rest, const char **complaints)
{
	return workload_of_text(
		arena, arena_format(arena, "workload:\n" DIMENSIONS "%s", rest), complaints);
}

static const struct workload *read_good(struct arena *arena, const char *rest)
{
	const char *complaints;
	const struct workload *workload = read_body(arena, rest, &complaints);
	if (!workload)
		fail_msg("%s", complaints);
	return workload;
}

/* "m:512 k*:256" and per operand "tensor[index ..]+linear". */
static const char *describe_op(struct arena *arena, const struct workload *workload, int o)
{
	const struct op *op = &workload->ops[o];
	struct text text = text_open(arena);
	text_add(&text, "%s %s:", op->name, op->type);
	for (int l = 0; l < op->loop_count; l++)
		text_add(&text, " %s%s%" PRId64, op->loops[l].name,
			op->loops[l].reduction ? "*" : "=", op->loops[l].extent);
	for (int i = 0; i < op_operands(op); i++) {
		const struct access *access = op_operand(op, i);
		text_add(&text, " %s(", workload->tensors[access->tensor].name);
		for (int l = 0; l < op->loop_count; l++)
			text_add(&text, "%s%" PRId64, l ? "," : "", access->linear.loop[l]);
		text_add(&text, access->linear.offset ? "+%" PRId64 ")" : ")",
			access->linear.offset);
	}
	return text_read(&text);
}

static void ops_become_loop_nests(void **state)
{
	static const struct {
		const char *op, *expected;
	} table[] = {
		{"c[m,n] = sum(k) a[m,k] * b[k,n]",
			"c mm: m=512 n=1024 k*256 a(256,0,1) b(0,1,1024) c(1024,1,0)"},
		{"y[n] = max(m) x[m,n]", "y amax: n=1024 m*512 x(1,1024) y(1,0)"},
		{"y[m] = min(n) x[m,n]", "y amin: m=512 n*1024 x(1024,1) y(1,0)"},
		{"y[m,n] = mean(k) x[k,m,n]",
			"y mean: m=512 n=1024 k*256 x(1024,1,524288) y(1024,1,0)"},
		{"y[m,n] = exp(x[m,n])", "y exp: m=512 n=1024 x(1024,1) y(1024,1)"},
		{"y[m,n] = x[m,n] * 2", "y mul: m=512 n=1024 x(1024,1) y(1024,1)"},
		{"y[m,n] = x[n]", "y clone: m=512 n=1024 x(0,1) y(1024,1)"},
		{"y[n,m] = restickify x[m,n]", "y restickify: n=1024 m=512 x(1,1024) y(512,1)"},
		{"s[h,q,k] = sum(d) x[h,q,d] * z[h,d,k]",
			"s bmm: h=4 q=128 k=256 d*64 x(8192,64,0,1) z(16384,0,1,256) "
			"s(32768,256,1,0)"},
		{"y[n] = sum(m,k) x[m,k] * w[k,m,n]",
			"y einsum: n=1024 m*512 k*256 x(0,256,1) w(1,1024,524288) y(1,0,0)"},
		/* a dimension of extent 1 is not a loop, but stays in the arrays */
		{"y[one,n] = max(m) x[m,one,n]", "y amax: n=1024 m*512 x(1,1024) y(1,0)"},
		{"y[0,n] = max(m) x[m,n]", "y amax: n=1024 m*512 x(1,1024) y(1,0)"},
		{"y[n] = max(one) x[one,n]", "y amax: n=1024 x(1) y(1)"},
		/* halos and offsets */
		{"y[q,n] = sum(h) x[2*q+h+3,n] * w[h]",
			"y mm: q=128 n=1024 h*4 x(2048,1,1024+3072) w(0,0,1) y(1024,1,0)"},
		{"y[n] = exp(x[2,n])", "y exp: n=1024 x(1+2048) y(1)"},
	};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct arena *arena = arena_open();
		const struct workload *workload =
			read_good(arena, arena_format(arena, "  ops:\n    - %s\n", table[i].op));
		assert_string_equal(describe_op(arena, workload, 0), table[i].expected);
		arena_close(arena);
	}
}

static void shapes_come_from_the_first_use(void **state)
{
	struct arena *arena = arena_open();
	const struct workload *workload =
		read_good(arena, "  tensors: {z: {shape: [m, 7, one], dtype: int8}}\n"
				 "  ops:\n"
				 "    - y[q,n] = sum(h) x[2*q+h+3,n] * w[h]\n"
				 "    - u[m] = exp(z[m,6,0])\n");
	const struct layout *x = &workload->tensors[workload_tensor(workload, "x")].layout;
	const struct layout *z = &workload->tensors[workload_tensor(workload, "z")].layout;
	assert_int_equal(x->host_size[0], 2 * 127 + 3 + 3 + 1);
	assert_int_equal(x->host_size[1], 1024);
	assert_int_equal(x->dtype, DTYPE_FP16);
	assert_int_equal(z->host_rank, 3);
	assert_int_equal(z->host_size[1], 7);
	assert_int_equal(z->dtype, DTYPE_INT8);
	arena_close(arena);
}

static void roles_follow_the_use(void **state)
{
	struct arena *arena = arena_open();
	const char *body = "  ops:\n"
			   "    - t[m] = exp(x[m])\n"
			   "    - {op: \"y[m] = t[m] + x[m]\", name: total, type: plus}\n";
	const struct workload *workload = read_good(arena, body);
	assert_int_equal(workload->tensors[workload_tensor(workload, "x")].role, TENSOR_INPUT);
	assert_int_equal(workload->tensors[workload_tensor(workload, "x")].producer, -1);
	assert_int_equal(
		workload->tensors[workload_tensor(workload, "t")].role, TENSOR_INTERMEDIATE);
	assert_int_equal(workload->tensors[workload_tensor(workload, "t")].producer, 0);
	assert_int_equal(workload->tensors[workload_tensor(workload, "y")].role, TENSOR_OUTPUT);
	assert_string_equal(workload->ops[1].name, "total");
	assert_string_equal(workload->ops[1].type, "plus");
	workload = read_good(arena, arena_format(arena, "  outputs: [t, y]\n%s", body));
	assert_int_equal(workload->tensors[workload_tensor(workload, "t")].role, TENSOR_OUTPUT);
	arena_close(arena);
}

static void constants_may_be_variables(void **state)
{
	struct arena *arena = arena_open();
	const char *complaints;
	const struct workload *workload = workload_of_text(arena,
		"variables: {width: 64, scale: 1 / sqrt(width)}\n"
		"workload:\n"
		"  dimensions: {m: width * 2}\n"
		"  ops:\n"
		"    - y[m] = x[m] * scale\n",
		&complaints);
	assert_string_equal(complaints, "");
	assert_int_equal(workload->ops[0].loops[0].extent, 128);
	assert_true(workload->ops[0].has_constant && workload->ops[0].constant == 0.125);
	arena_close(arena);
}

static void opaque_ops_have_tensors_and_no_loops(void **state)
{
	struct arena *arena = arena_open();
	const struct workload *workload = read_good(arena,
		"  tensors: {i: {dtype: int32, shape: [m, 2]}}\n"
		"  ops:\n"
		"    - p[m,h] = exp(x[m,h])\n"
		"    - {opaque: topk, name: choose, reads: [p], writes: [\"w[m,one]\", i]}\n"
		"    - y[m,one] = neg(w[m,one])\n"
		"    - z[m] = neg(i[m,0])\n");
	const struct op *op = &workload->ops[1];
	assert_int_equal(op->primitive->kind, OP_OPAQUE);
	assert_string_equal(op->name, "choose");
	assert_string_equal(op->type, "topk");
	assert_int_equal(op->loop_count, 0);
	assert_int_equal(op->read_count, 1);
	assert_int_equal(op->write_count, 2);
	assert_int_equal(op_operands(op), 3);
	assert_int_equal(op_operand(op, 2)->tensor, workload_tensor(workload, "i"));
	assert_int_equal(workload->tensors[workload_tensor(workload, "i")].producer, 1);
	assert_int_equal(op_points(op), 0);
	arena_close(arena);
}

static void wrong_workloads_are_refused_with_a_reason(void **state)
{
	static const struct {
		const char *body, *complaint;
	} table[] = {
		{"  ops: []\n", "3:8: error: a workload needs at least one op"},
		{"  ops:\n    - y[m,nn] = exp(x[m])\n",
			"4:11: error: unknown dimension 'nn'; did you mean 'n'?"},
		{"  ops:\n    - y[m] = exq(x[m])\n",
			"4:14: error: unknown function 'exq'; did you mean 'exp'?"},
		{"  ops:\n    - y[m] = exp(x[k])\n",
			"4:20: error: dimension 'k' indexes no output here; did you mean to reduce over it?"},
		{"  ops:\n    - y[m] = sum(k) x[m]\n",
			"4:18: error: dimension 'k' is reduced, but indexes no operand"},
		{"  ops:\n    - y[m] = sum(m) x[m]\n",
			"4:18: error: dimension 'm' is reduced, but indexes the output or is "
			"listed twice"},
		{"  ops:\n    - y[m,m] = exp(x[m])\n",
			"4:11: error: dimension 'm' indexes the output twice"},
		{"  ops:\n    - y[m] = exp(x[m,m])\n",
			"4:22: error: dimension 'm' indexes this tensor twice"},
		{"  ops:\n    - y[2*m] = exp(x[m])\n", "4:9: error: dimensions index a tensor "
						       "here, or 0 where it has one element"},
		{"  ops:\n    - y[m] = exp(x[m-1])\n", "4:20: error: this index starts below 0"},
		{"  ops:\n    - y[m] = exp(x[3-m])\n",
			"4:22: error: an index cannot fall while 'm' grows"},
		{"  ops:\n    - y[m] = exp(x[9999999*m])\n",
			"4:20: error: this index runs past 2^31"},
		{"  ops:\n    - y[m] = exp(x[m])\n    - z[n] = exp(x[n])\n",
			"5:20: error: 'n' runs over 1024, but dimension 0 of 'x' has 512 elements"},
		{"  ops:\n    - y[n] = exp(x[n])\n    - z[m] = exp(x[m])\n",
			"5:20: error: 'm' runs over 512, but dimension 0 of 'x' has 1024 elements"},
		{"  ops:\n    - y[m] = exp(x[m])\n    - z[k] = exp(x[2*k+2])\n",
			"5:20: error: this index reaches 512, but dimension 0 of 'x' ends at 511"},
		{"  ops:\n    - y[m] = exp(x[m])\n    - z[m,n] = exp(x[m,n])\n",
			"5:20: error: 'x' is indexed by 2 dimensions, but has 1"},
		{"  tensors: {y: {shape: [n]}}\n  ops:\n    - y[m] = exp(x[m])\n",
			"5:9: error: 'm' runs over 512, but dimension 0 of 'y' has 1024 elements"},
		{"  ops:\n    - y[m] = exp(x[m])\n    - y[m] = neg(x[m])\n",
			"5:7: error: tensor 'y' is written twice"},
		{"  ops:\n    - y[m] = exp(x[m])\n    - x[m] = neg(z[m])\n",
			"5:7: error: tensor 'x' is read before it is written"},
		{"  ops:\n    - y[m] = exp(y[m])\n",
			"4:7: error: tensor 'y' is read before it is written"},
		{"  ops:\n    - y[m] = exp(x[m])\n    - {op: \"z[m] = neg(y[m])\", name: y}\n",
			"5:7: error: two ops are called 'y'"},
		{"  inputs: [x, y]\n  ops:\n    - y[m] = exp(x[m])\n",
			"3:15: error: an op writes 'y': it is not an input"},
		{"  inputs: [xx]\n  ops:\n    - y[m] = exp(x[m])\n",
			"3:12: error: no op has a tensor 'xx'; did you mean 'x'?"},
		{"  inputs: [x]\n  ops:\n    - y[m] = x[m] + X[m]\n",
			"5:21: error: no op writes 'X', and it is not among the inputs; did you "
			"mean 'x'?"},
		{"  outputs: [x]\n  ops:\n    - y[m] = exp(x[m])\n",
			"3:13: error: no op writes the output 'x'"},
		{"  tensors: {xx: {dtype: fp32}}\n  ops:\n    - y[m] = exp(x[m])\n",
			"3:13: error: no op has a tensor 'xx'; did you mean 'x'?"},
		{"  tensors: {x: {dtype: fp17}}\n  ops:\n    - y[m] = exp(x[m])\n",
			"3:24: error: 'dtype' in tensor 'x' is 'fp17'; it can be fp16, bf16, fp32, "
			"int8, int32, bool, int64 or fp8; did you mean 'fp16'?"},
		{"  tensors: {x: {layout: [k]}}\n  ops:\n    - y[m] = exp(x[m])\n",
			"3:26: error: the layout of 'x' lists its dimensions m, stick last, or "
			"sparse after them"},
		{"  tensors: {x: {layout: [n, n]}}\n  ops:\n    - y[m,n] = exp(x[m,n])\n",
			"3:25: error: the layout of 'x' must list each of its dimensions m, n "
			"once, stick last"},
		{"  ops:\n    - y[m] = x[m] * scale\n",
			"4:21: error: 'scale' is not a variable; a tensor is written with its "
			"indices, as 'scale[..]'"},
		{"  ops:\n    - {opaque: f, writes: []}\n",
			"4:7: error: an opaque op writes at least one tensor, and has at most 8 in "
			"all"},
		{"  ops:\n    - {opaque: f, reads: [p], writes: [\"y[m]\"]}\n",
			"4:27: error: 'p' needs its dimensions where it first appears, as in "
			"'p[k]'"},
	};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct arena *arena = arena_open();
		const char *complaints;
		assert_null(read_body(arena, table[i].body, &complaints));
		assert_string_equal(first_line(arena, complaints),
			arena_format(arena, "w.yaml:%s", table[i].complaint));
		arena_close(arena);
	}
}

static void sizes_past_all_memory_are_refused(void **state)
{
	static const struct {
		const char *op, *complaint;
	} table[] = {
		{"y[a,b] = exp(x[a,b])",
			"w.yaml:4:20: error: tensor 'x' takes more than 2^48 bytes on the device"},
		{"y[] = sum(a,b,c) x[a] * z[b] * u[c]",
			"w.yaml:4:7: error: the op has more than 2^63 computes"},
	};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct arena *arena = arena_open();
		const char *complaints;
		assert_null(workload_of_text(arena,
			arena_format(arena,
				"workload:\n"
				"  dimensions: {a: 2147483647, b: 2147483647, c: 2147483647}\n"
				"  ops:\n    - %s\n",
				table[i].op),
			&complaints));
		assert_string_equal(first_line(arena, complaints), table[i].complaint);
		arena_close(arena);
	}
}

static void what_nobody_uses_is_only_a_warning(void **state)
{
	struct arena *arena = arena_open();
	const char *complaints;
	assert_non_null(workload_of_text(arena,
		"workload:\n  dimensions: {m: 8, n: 8}\n  ops:\n    - y[m] = exp(x[m])\n",
		&complaints));
	assert_string_equal(
		first_line(arena, complaints), "w.yaml:2:22: warning: dimension 'n' is not used");
	assert_non_null(workload_of_text(arena,
		"workload:\n  dimensions: {m: 8}\n  outputs: [y]\n  ops:\n"
		"    - y[m] = exp(x[m])\n    - z[m] = exp(x[m])\n",
		&complaints));
	assert_string_equal(first_line(arena, complaints),
		"w.yaml:6:7: warning: no op reads 'z', and it is not among the outputs");
	arena_close(arena);
}

static void shipped_workloads_are_read_without_complaint(void **state)
{
	glob_t found;
	assert_int_equal(glob("specs/workloads/*.yaml", 0, NULL, &found), 0);
	assert_true(found.gl_pathc >= 15);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct arena *arena = arena_open();
		const char *complaints;
		if (strstr(text_of_file(arena, found.gl_pathv[i]), "\nnetwork:")) {
			arena_close(arena);
			continue;
		}
		const struct workload *workload =
			workload_of_file(arena, found.gl_pathv[i], &complaints);
		if (!workload || *complaints)
			fail_msg("%s", complaints);
		/* the file is named after the workload */
		assert_non_null(strstr(found.gl_pathv[i], workload->name));
		arena_close(arena);
	}
	globfree(&found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ops_become_loop_nests),
		cmocka_unit_test(shapes_come_from_the_first_use),
		cmocka_unit_test(roles_follow_the_use),
		cmocka_unit_test(constants_may_be_variables),
		cmocka_unit_test(opaque_ops_have_tensors_and_no_loops),
		cmocka_unit_test(wrong_workloads_are_refused_with_a_reason),
		cmocka_unit_test(sizes_past_all_memory_are_refused),
		cmocka_unit_test(what_nobody_uses_is_only_a_warning),
		cmocka_unit_test(shipped_workloads_are_read_without_complaint),
	};
	return cmocka_run_group_tests_name("workload_read", tests, NULL, NULL);
}
