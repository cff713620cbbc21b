#include "base/arena.h"
#include "base/text.h"
#include "tests/support/sample.h"
#include "tests/support/workload_text.h"

#include <glob.h>
#include <inttypes.h>
#include <string.h>

#include "tests/test.h"

#define DIMENSIONS "  dimensions: {m: 512, n: 1024, k: 256, h: 4, q: 128, d: 64, one: 1}\n"

/* Reads a good workload with the dimensions above; `rest` is the body below them. */
static const struct workload *read_good(struct arena *arena, const char *rest)
{
	const char *complaints;
	const struct workload *workload = workload_of_text(
		arena, arena_format(arena, "workload:\n" DIMENSIONS "%s", rest), &complaints);
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
			text_add(&text, "%s%" PRId64, l ? "," : "", access->linear.coefficient[l]);
		text_add(&text, access->linear.offset ? "+%" PRId64 ")" : ")",
			access->linear.offset);
	}
	return text_read(&text);
}

BARE_TEST(ops_become_loop_nests)
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

TEST(shapes_come_from_the_first_use)
{
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
}

TEST(roles_follow_the_use)
{
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
}

TEST(constants_may_be_variables)
{
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
}

TEST(opaque_ops_have_tensors_and_no_loops)
{
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
}

BARE_TEST(shipped_workloads_are_read_without_complaint)
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
