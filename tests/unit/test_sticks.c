#include "base/arena.h"
#include "base/text.h"
#include "tests/support/workload_text.h"

#include <inttypes.h>
#include <string.h>

#include "tests/test.h"

#define HEAD "workload:\n  dimensions: {m: 128, n: 192, k: 256, h: 4, q: 128, d: 64, one: 1}\n"

/* Complaints without the lines of the file: "error: ..; note: ..". */
static const char *only_words(struct arena *arena, const char *complaints)
{
	struct text text = text_open(arena);
	for (const char *at = complaints; *at;) {
		size_t length = strcspn(at, "\n");
		if (!strncmp(at, "w.yaml:", 7)) {
			const char *words = memmem(at, length, ": ", 2);
			text_add(&text, "%s", *text_read(&text) ? "; " : "");
			text_bytes(&text, words + 2, length - (size_t)(words + 2 - at));
		}
		at += length + (at[length] == '\n');
	}
	return text_read(&text);
}

/* "[2,128,64] sparse" of the last tensor written, or the complaints. */
static const char *last_layout(struct arena *arena, const char *body)
{
	const char *complaints;
	const struct workload *workload =
		workload_of_text(arena, arena_format(arena, HEAD "%s", body), &complaints);
	if (!workload)
		return only_words(arena, complaints);
	const struct op *op = &workload->ops[workload->op_count - 1];
	const struct layout *layout = &workload->tensors[op->writes[0].tensor].layout;
	struct text text = text_open(arena);
	for (int d = 0; d < layout->rank; d++)
		text_add(&text, "%c%" PRId64, d ? ',' : '[', layout->size[d]);
	text_add(&text, "]%s", layout->sparse ? " sparse" : "");
	return text_read(&text);
}

struct row {
	const char *body, *expected;
};

static void check(const struct row *table, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		assert_string_equal(last_layout(arena, table[i].body), table[i].expected);
		arena_close(arena);
	}
}

TEST(layouts_are_derived)
{
	static const struct row table[] = {
		{"  ops:\n    - y[m,n] = exp(x[m,n])\n", "[3,128,64]"},
		{"  ops:\n    - y[n] = max(m) x[m,n]\n", "[3,64]"},
		/* along the stick */
		{"  ops:\n    - y[m] = max(n) x[m,n]\n", "[1,128,64] sparse"},
		{"  ops:\n    - y[h,m] = sum(n) x[h,m,n]\n", "[128,1,4,64] sparse"},
		{"  ops:\n    - y[m,one] = max(n) x[m,n]\n", "[1,128,64] sparse"},
		{"  ops:\n    - y[] = sum(m,n) x[m,n]\n", "[1,64]"},
		/* sparse in, sparse out, in the same order */
		{"  ops:\n    - s[m] = max(n) x[m,n]\n    - y[m] = s[m] + 1\n",
			"[1,128,64] sparse"},
		{"  ops:\n    - s[h,m] = max(n) x[h,m,n]\n    - y[m] = max(h) s[h,m]\n",
			"[1,128,64] sparse"},
		{"  tensors: {x: {layout: [m, h, sparse]}}\n  ops:\n    - y[h,m] = exp(x[h,m])\n",
			"[4,1,128,64] sparse"},
		{"  tensors: {x: {layout: [m, h, sparse]}}\n  ops:\n    - y[h,m,one] = "
		 "exp(x[h,m])\n",
			"[128,1,4,64] sparse"},
		{"  tensors: {x: {layout: [m, h, sparse]}}\n  ops:\n    - y[one,h,m] = "
		 "exp(x[h,m])\n",
			"[128,4,1,1,64] sparse"},
		/* a sparse operand that is only broadcast changes nothing */
		{"  ops:\n    - s[m] = max(n) x[m,n]\n    - y[m,n] = x[m,n] - s[m]\n",
			"[3,128,64]"},
		/* what the spec says wins */
		{"  tensors: {y: {layout: [n, m]}, x: {layout: [n, m]}}\n  ops:\n"
		 "    - y[m,n] = exp(x[m,n])\n",
			"[2,192,64]"},
		/* products */
		{"  ops:\n    - y[m,n] = sum(k) a[m,k] * b[k,n]\n", "[3,128,64]"},
		{"  tensors: {K: {layout: [h, d, k]}}\n  ops:\n"
		 "    - S[h,q,k] = sum(d) Q[h,q,d] * K[h,k,d]\n",
			"[128,4,4,64]"},
		{"  tensors: {y: {layout: [m, sparse]}}\n  ops:\n"
		 "    - y[m] = sum(k) a[m,k] * b[k]\n",
			"[1,128,64] sparse"},
		{"  ops:\n    - y[] = sum(k) a[k] * b[k]\n", "[1,64]"},
		{"  ops:\n    - y[n,m] = restickify x[m,n]\n", "[2,192,64]"},
		{"  ops:\n    - y[m,n] = x[n]\n", "[3,128,64]"},
	};
	check(table, sizeof table / sizeof *table);
}

/* Does as the notes say, and reads again. */
TEST(the_mends_mend)
{
	static const struct row table[] = {
		{"  ops:\n    - K_k[h,d,k] = restickify K[h,k,d]\n"
		 "    - S[h,q,k] = sum(d) Q[h,q,d] * K_k[h,d,k]\n",
			"[128,4,4,64]"},
		{"  ops:\n    - a_k[m,k] = restickify a[k,m]\n"
		 "    - y[m,n] = sum(k) a_k[m,k] * b[k,n]\n",
			"[3,128,64]"},
		{"  tensors: {b_sparse: {layout: [m, sparse]}}\n  ops:\n"
		 "    - b_sparse[m] = restickify b[m]\n    - y[m,n] = x[m,n] * b_sparse[m]\n",
			"[3,128,64]"},
		{"  tensors: {b: {layout: [m, sparse]}}\n  ops:\n    - y[m,n] = x[m,n] * b[m]\n",
			"[3,128,64]"},
		{"  ops:\n    - s[m] = max(n) x[m,n]\n    - s_m[m] = restickify s[m]\n"
		 "    - y[m] = s_m[m] + b[m]\n",
			"[2,64]"},
		{"  tensors: {x: {layout: [1, m]}}\n  ops:\n"
		 "    - y[q,m] = sum(h) x[m,2*q+h] * w[h,m]\n",
			"[2,128,64]"},
	};
	check(table, sizeof table / sizeof *table);
}
