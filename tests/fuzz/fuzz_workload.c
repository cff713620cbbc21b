#include "base/arena.h"
#include "base/random.h"
#include "base/text.h"
#include "model/graph/workload.h"
#include "tests/support/draws.h"
#include "tests/support/mutated_text.h"
#include "tests/support/workload_text.h"

#include <string.h>

#include "tests/test.h"

/*
 * Workloads with something changed: read or refused with a complaint,
 * and what is read keeps its promises.
 */
static const char *const seeds[] = {
	"  ops:\n    - mx[n] = max(m) x[m,n]\n    - s[m,n] = x[m,n] - mx[n]\n"
	"    - e[m,n] = exp(s[m,n])\n    - d[n] = sum(m) e[m,n]\n    - y[m,n] = e[m,n] / d[n]\n",
	"  tensors: {K: {layout: [h, d, k]}}\n  ops:\n"
	"    - S[h,q,k] = sum(d) Q[h,q,d] * K[h,k,d]\n    - t[h,q,k] = S[h,q,k] * 0.125\n",
	"  tensors: {x: {shape: [m, 7, one], dtype: fp8, layout: [m, 1, one, sparse]},\n"
	"    y: {layout: [m, sparse]}}\n  ops:\n"
	"    - y[m] = sum(h) x[m,2*h,0] * w[h]\n",
	"  dtype: bf16\n  inputs: [p]\n  outputs: [z, w]\n  ops:\n"
	"    - {opaque: topk, reads: [\"p[m,h]\"], writes: [\"w[m,one]\", \"i[m,h]\"]}\n"
	"    - {op: \"z[m,one] = maximum(w[m,0], -1.5e0)\", name: top, type: clamp}\n",
	"  ops:\n    - kt[d,k] = restickify kk[k,d]\n    - o[q,d] = sum(h) i[2q+h+3,d] * w[h]\n"
	"    - y[m,n] = a[m,n] * b[n] * c[m,n]\n",
	"  layouts: auto\n  tensors: {x: {shape: [q, 8, d]}}\n  ops:\n"
	"    - y[q,d] = sum(h) pad x[q,2h-3,d] * w[h]\n    - z[q,d] = pad y[q-1,d] + pad y[q,d]\n"
	"    - s[q,d] = softmax(d) z[q,d]\n",
	"  ops:\n    - w[m,k] = broadcast w0[m,k]\n"
	"    - {op: \"v[h,one] = broadcast(v0[h,one])\", root: 3}\n"
	"    - y[m,k] = x[m,k] * w[m,k]\n",
};

/* Every element that an access names lies in its tensor, if it is not padded. */
static void check_access(
	const struct workload *workload, const struct op *op, const struct access *access)
{
	const struct layout *layout = &workload->tensors[access->tensor].layout;
	for (int h = 0; !access->pad && h < layout->host_rank; h++) {
		int64_t most = access->host[h].offset;
		assert_true(most >= 0);
		for (int l = 0; l < op->loop_count; l++) {
			assert_true(access->host[h].coefficient[l] >= 0);
			most += access->host[h].coefficient[l] * (op->loops[l].extent - 1);
		}
		assert_true(most < layout->host_size[h]);
	}
}

static void check_workload(const struct workload *workload)
{
	struct stick_misfit misfit;
	assert_true(workload->op_count > 0);
	for (size_t o = 0; o < workload->op_count; o++) {
		const struct op *op = &workload->ops[o];
		assert_int_equal(workload_op(workload, op->name), o);
		assert_true(sticks_fit(workload, op, &misfit));
		for (int l = 0; l < op->loop_count; l++) {
			assert_true(op->loops[l].extent > 1);
			/* outputs first */
			assert_true(l == 0 || op->loops[l].reduction >= op->loops[l - 1].reduction);
		}
		for (int i = 0; i < op_operands(op); i++)
			check_access(workload, op, op_operand(op, i));
		for (int w = 0; w < op->write_count; w++)
			assert_int_equal(workload->tensors[op->writes[w].tensor].producer, o);
		for (int r = 0; r < op->read_count; r++)
			assert_true(workload->tensors[op->reads[r].tensor].producer < (int)o);
	}
	for (size_t t = 0; t < workload->tensor_count; t++) {
		const struct tensor *tensor = &workload->tensors[t];
		assert_int_equal(workload_tensor(workload, tensor->name), t);
		assert_int_equal(tensor->role == TENSOR_INPUT, tensor->producer < 0);
		assert_true(tensor->layout.rank > 0);
	}
}

BARE_TEST(changed_workloads_are_read_or_refused)
{
	uint64_t seed = draws_seed(3);
	long count = draws(4000), read = 0, refused = 0;
	for (long i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		struct random random = random_open(seed, (uint64_t)i);
		const char *body = mutated_text(
			arena, &random, seeds[i % (long)(sizeof seeds / sizeof *seeds)]);
		const char *complaints;
		const struct workload *workload = workload_of_text(arena,
			arena_format(arena,
				"workload:\n  dimensions: {m: 512, n: 1024, k: 256, h: 4, q: 128, "
				"d: 64, "
				"one: 1}\n%s",
				body),
			&complaints);
		if (workload) {
			check_workload(workload);
			read++;
		} else if (!strstr(complaints, "error: ")) {
			fail_msg("draw %ld is refused without a reason:\n%s", i, body);
		} else {
			refused++;
		}
		arena_close(arena);
	}
	mutated_tell(read + refused, read);
	assert_true(!draws_are_many(count) || (read > 0 && refused > 0));
}
