#include "base/arena.h"
#include "base/text.h"
#include "model/graph/op_line.h"

#include <inttypes.h>

#include "tests/test.h"

static void print_index(struct text *out, const struct affine_sum *index)
{
	for (int t = 0; t < index->term_count; t++) {
		const struct affine_term *term = &index->terms[t];
		text_add(out, "%s%" PRId64 "%s", t ? "+" : "", term->factor,
			term->name.text ? term->name.text : "");
	}
}

static void print_operand(struct text *out, const struct line_operand *operand)
{
	text_add(out, " %s[", operand->tensor.text);
	for (int h = 0; h < operand->index_count; h++) {
		text_add(out, h ? "," : "");
		print_index(out, &operand->indices[h]);
	}
	text_add(out, "]");
}

/* A text of what was understood, or of what was not: "17-18: words". */
static const char *understand(struct arena *arena, const char *text)
{
	static const char *const kinds[] = {"", "map ", "reduce ", "", "", ""};
	struct op_line op;
	struct scan_fault fault;
	if (!op_line_parse(arena, text, &op, &fault))
		return arena_format(arena, "%zu-%zu: %s", fault.from, fault.to, fault.text);
	struct text out = text_open(arena);
	text_add(&out, "%s%s", kinds[op.primitive->kind], op.primitive->name);
	print_operand(&out, &op.output);
	text_add(&out, " =");
	for (int i = 0; i < op.read_count; i++)
		print_operand(&out, &op.reads[i]);
	if (op.has_constant && op.variable.text)
		text_add(&out, " %s", op.variable.text);
	else if (op.has_constant)
		text_add(&out, " %g", op.constant);
	for (int r = 0; r < op.reduction_count; r++)
		text_add(&out, "%s%s", r ? "," : " over ", op.reductions[r].text);
	return text_read(&out);
}

struct row {
	const char *text, *expected;
};

static void check(const struct row *table, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct arena *arena = arena_open();
		assert_string_equal(understand(arena, table[i].text), table[i].expected);
		arena_close(arena);
	}
}

TEST(ops_are_understood)
{
	static const struct row table[] = {
		{"y[m] = x[m] + z[m]", "map add y[1m] = x[1m] z[1m]"},
		{" y[m]=x[m]-2.5 ", "map sub y[1m] = x[1m] 2.5"},
		{"y[m] = 2 * x[m]", "map mul y[1m] = x[1m] 2"},
		{"y[m] = x[m] * -1e-3", "map mul y[1m] = x[1m] -0.001"},
		{"y[m] = x[m] / scale", "map div y[1m] = x[1m] scale"},
		{"y[m] = x[m]", "map clone y[1m] = x[1m]"},
		{"y[m] = exp(x[m])", "map exp y[1m] = x[1m]"},
		{"y[m] = maximum(x[m], 0)", "map maximum y[1m] = x[1m] 0"},
		{"y[m] = add(x[m], z[m])", "map add y[1m] = x[1m] z[1m]"},
		{"y[m] = a[m] * b[m] * c[m]", "einsum y[1m] = a[1m] b[1m] c[1m]"},
		{"y[m] = max(k) x[m,k]", "reduce max y[1m] = x[1m,1k] over k"},
		{"y[] = mean(m, k) x[m,k]", "reduce mean y[] = x[1m,1k] over m,k"},
		{"c[m,n] = sum(k) a[m,k] * b[k,n]", "einsum c[1m,1n] = a[1m,1k] b[1k,1n] over k"},
		{"t[k,m] = restickify x[m,k]", "restickify t[1k,1m] = x[1m,1k]"},
		{"w[k] = broadcast w0[k]", "broadcast w[1k] = w0[1k]"},
		{"w[k] = broadcast(w0[k])", "broadcast w[1k] = w0[1k]"},
		{"restickify[k] = restickify[k] + x[k]",
			"map add restickify[1k] = restickify[1k] x[1k]"},
		{"o[p] = sum(r) i[2*p + r - 1] * w[r]", "einsum o[1p] = i[2p+1r+-1] w[1r] over r"},
		{"o[p] = sum(r) i[2p+r*3] * w[r]", "einsum o[1p] = i[2p+3r] w[1r] over r"},
		{"o[p] = sum(r) i[2*(p + 3*(r - 1)) + 4] * w[r]",
			"einsum o[1p] = i[2p+6r+-6+4] w[1r] over r"},
		{"o[p] = i[+p - -2*2 - (1 - 3)]", "map clone o[1p] = i[1p+4+-1+3]"},
		{"y[0,m] = x[3,m]", "map clone y[0,1m] = x[3,1m]"},
		{"layer.0.y[m] = neg(layer.0.x[m])", "map neg layer.0.y[1m] = layer.0.x[1m]"},
	};
	check(table, sizeof table / sizeof *table);
}

TEST(faults_say_where_and_why)
{
	static const struct row table[] = {
		{"", "0-0: the op ends where a tensor is expected"},
		{"y = x[m]", "2-3: '=' stands where '[' with the indices of a tensor is expected"},
		{"y[m = x[m]", "4-5: '=' stands where ',' or ']' is expected"},
		{"y[m] : x[m]", "5-6: ':' stands where '=' is expected"},
		{"y[m] = \xc3\xa9[m]",
			"7-9: '\xc3\xa9' stands where a tensor or a number is expected"},
		{"y[m] = x[m] ^ z[m]", "12-13: '^' stands where the end (an op is a function of "
				       "two tensors, or a product) is expected"},
		{"y[m] = x[m] + z[m] + w[m]", "19-20: '+' stands where the end (an op is a "
					      "function of two tensors, or a product) is expected"},
		{"y[m] = exq(x[m])", "7-10: unknown function 'exq'; did you mean 'exp'?"},
		{"y[m] = restickfy x[m]",
			"7-16: unknown operation 'restickfy'; did you mean 'restickify'?"},
		{"y[m] = otherwise x[m]",
			"17-18: 'x' stands where '[', '(' or an operation is expected"},
		{"y[m] = max(x[m], z[m])", "7-10: 'max' reduces over dimensions, as in max(k) "
					   "x[m,k]; of two tensors take maximum(a, b)"},
		{"y[m] = sum() x[m]",
			"11-12: ')' stands where a dimension to reduce over is expected"},
		{"y[m] = max(k) a[m,k] * b[k]",
			"7-10: only sum takes a product; give 'max' a tensor that holds it"},
		{"y[m] = exp(x[m], z[m])", "7-16: 'exp' takes one operand"},
		{"y[m] = maximum(x[m])", "7-19: 'maximum' takes two operands"},
		{"y[m] = 1 - x[m]", "7-8: nothing can be subtracted from a constant; write "
				    "neg(..), and add in an op of its own"},
		{"y[m] = 1 / x[m]", "7-8: a constant cannot be divided; write reciprocal(..), and "
				    "mul in an op of its own"},
		{"y[m] = 1 + 2", "11-12: an op needs a tensor besides its constant"},
		{"y[m] = exp(1)", "11-12: an op needs a tensor besides its constant"},
		{"y[m] = 3", "8-8: the op ends where one of + - * / is expected"},
		{"y[99999999999999999999] = x[m]", "2-22: the number is too large"},
		{"y[m] = x[9223372036854775807*2*m]", "29-30: the number is too large"},
		{"y[m] = x[2*m*(1 + n)]", "13-20: an index adds dimensions times whole numbers; it "
					  "cannot multiply 'm' by 'n'"},
		{"y[m] = x[2*(m + 1]", "17-18: ']' stands where ')' is expected"},
		{"y[m] = x[m + ]", "13-14: ']' stands where a dimension or a number is expected"},
		{"y[m] = x[((((((((((((((((((m))))))))))))))))))]", "26-27: nested too deeply"},
		{"y[a,b,c,d,e,f,g,h,i] = x[a]", "0-18: tensor 'y' has more than 8 dimensions"},
		{"y[a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a] = x[a]",
			"2-35: an index has at most 16 terms"},
		{"y[m] = a[m]*a[m]*a[m]*a[m]*a[m]*a[m]*a[m]*a[m]",
			"41-42: an op reads at most 7 tensors"},
	};
	check(table, sizeof table / sizeof *table);
}
