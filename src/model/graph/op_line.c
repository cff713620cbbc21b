#include "model/graph/op_line.h"

#include "base/arena.h"
#include "base/number.h"
#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { INDICES_MOST = 8, OPERANDS_MOST = 3 };

const struct named_shape named_shapes[] = {
	{"softmax", "y[m,n] = softmax(n) x[m,n]"},
	{"layernorm", "y[m,n] = layernorm(n) x[m,n]"},
	{"rmsnorm", "y[m,n] = rmsnorm(n) x[m,n]"},
	{"attention", "o[h,q,d] = attention(Q[h,q,d], K[h,k,d], V[h,k,d])"},
	{"swiglu", "y[m,f] = swiglu(gate[m,f], up[m,f])"},
	{"conv2d", "y[n,k,p,q] = conv2d(x[n,c,p,q], w[k,c,r,s])"},
	{"rope", "y[h,s,t,d] = rope(x[h,s,t,d], cos[s,d], sin[s,d])"},
	{NULL, NULL},
};

struct indexed {
	const char *name, *whole; /* "x", "x[m,n]" */
	int count;
	const char *index[INDICES_MOST];
};

struct shape_line {
	struct arena *arena;
	const char *function;
	struct indexed output, operands[OPERANDS_MOST];
	int operand_count, over_count;
	const char *over[INDICES_MOST];
	struct shape_lines *out;
};

static const char *skip(const char *at)
{
	while (isspace((unsigned char)*at))
		at++;
	return at;
}

static const char *split_word(struct arena *arena, const char *at, const char **word)
{
	const char *from = at = skip(at);
	while (isalnum((unsigned char)*at) || *at == '_' || *at == '.')
		at++;
	*word = arena_format(arena, "%.*s", (int)(at - from), from);
	return at > from ? skip(at) : NULL;
}

/* "x[m,n]" of words alone; NULL: it is something else. */
static const char *take_indexed(struct arena *arena, const char *at, struct indexed *out)
{
	*out = (struct indexed){0};
	const char *from = skip(at);
	at = split_word(arena, from, &out->name);
	if (!at || *at != '[')
		return NULL;
	for (char next = ','; next == ',';) {
		if (out->count == INDICES_MOST ||
			!(at = split_word(arena, at + 1, &out->index[out->count])))
			return NULL;
		out->count++;
		next = *at;
		if (next != ',' && next != ']')
			return NULL;
	}
	out->whole = arena_format(arena, "%.*s", (int)(at + 1 - from), from);
	return skip(at + 1);
}

static bool list_has_word(const char *const *list, int count, const char *word)
{
	for (int i = 0; i < count; i++)
		if (text_equal(list[i], word))
			return true;
	return false;
}

/* "y_max[m]" of the output's indices without those that are reduced, with another last one if given. */
static const char *between(
	const struct shape_line *line, const char *word, bool kept, const char *last)
{
	struct text text = text_open(line->arena);
	int count = 0;
	text_add(&text, "%s_%s[", line->output.name, word);
	for (int i = 0; i < line->output.count; i++) {
		const char *index =
			last && i + 1 == line->output.count ? last : line->output.index[i];
		if (!kept || !list_has_word(line->over, line->over_count, index))
			text_add(&text, "%s%s", count++ ? "," : "", index);
	}
	text_add(&text, "]");
	return text_read(&text);
}

static const char *list_over(const struct shape_line *line)
{
	struct text text = text_open(line->arena);
	for (int i = 0; i < line->over_count; i++)
		text_add(&text, "%s%s", i ? "," : "", line->over[i]);
	return text_read(&text);
}

#define ADD(line, ...)                                                                             \
	(*array_add((line)->arena, (line)->out) = arena_format((line)->arena, __VA_ARGS__))

static void add_softmax(struct shape_line *line, const char *from, const char *to, const char *last)
{
	const char *over = list_over(line);
	const char *most = between(line, "max", true, last),
		   *less = between(line, "sub", false, last);
	const char *power = between(line, "exp", false, last),
		   *sum = between(line, "sum", true, last);
	ADD(line, "%s = max(%s) %s", most, over, from);
	ADD(line, "%s = %s - %s", less, from, most);
	ADD(line, "%s = exp(%s)", power, less);
	ADD(line, "%s = sum(%s) %s", sum, over, power);
	ADD(line, "%s = %s / %s", to, power, sum);
}

static void add_norm(struct shape_line *line, bool centre)
{
	const char *over = list_over(line), *from = line->operands[0].whole;
	const char *mean = between(line, "mean", true, NULL),
		   *less = between(line, "sub", false, NULL);
	const char *square = between(line, "square", false, NULL),
		   *variance = between(line, "variance", true, NULL);
	const char *safe = between(line, "safe", true, NULL),
		   *factor = between(line, "rsqrt", true, NULL);
	if (centre) {
		ADD(line, "%s = mean(%s) %s", mean, over, from);
		ADD(line, "%s = %s - %s", less, from, mean);
		from = less;
	}
	ADD(line, "%s = %s * %s", square, from, from);
	ADD(line, "%s = mean(%s) %s", variance, over, square);
	ADD(line, "%s = %s + 0.00001", safe, variance);
	ADD(line, "%s = rsqrt(%s)", factor, safe);
	ADD(line, "%s = %s * %s", line->output.whole, from, factor);
}

/* softmax(Q K / sqrt(d)) V */
static const char *add_attention(
	struct shape_line *line, long long (*extent)(const void *, const char *), const void *of)
{
	const struct indexed *q = &line->operands[0], *k = &line->operands[1],
			     *v = &line->operands[2];
	const char *depth = q->index[q->count - 1], *key = NULL;
	for (int i = 0; i < k->count; i++)
		if (!list_has_word(q->index, q->count, k->index[i]))
			key = k->index[i];
	long long size = extent(of, depth);
	if (!key || size < 1 || !list_has_word(v->index, v->count, key) || line->output.count < 1)
		return "attention takes Q[..,q,d], K[..,k,d] and V[..,k,d]";
	line->over[0] = key;
	line->over_count = 1;
	const char *scores = between(line, "scores", false, key),
		   *scaled = between(line, "scaled", false, key);
	const char *weights = between(line, "weights", false, key);
	ADD(line, "%s = sum(%s) %s * %s", scores, depth, q->whole, k->whole);
	ADD(line, "%s = %s * %.9g", scaled, scores, 1 / sqrt((double)size));
	add_softmax(line, scaled, weights, key);
	ADD(line, "%s = sum(%s) %s * %s", line->output.whole, key, weights, v->whole);
	return NULL;
}

static const char *add_convolution(
	struct shape_line *line, long long (*extent)(const void *, const char *), const void *of)
{
	const struct indexed *x = &line->operands[0], *w = &line->operands[1];
	if (x->count != 4 || w->count != 4 || line->output.count != 4 ||
		!text_equal(x->index[1], w->index[1]))
		return "conv2d takes x[n,c,p,q] and w[k,c,r,s]";
	long long r = extent(of, w->index[2]), s = extent(of, w->index[3]);
	ADD(line, "%s = sum(%s,%s,%s) pad %s[%s,%s,%s+%s-%lld,%s+%s-%lld] * %s", line->output.whole,
		x->index[1], w->index[2], w->index[3], x->name, x->index[0], x->index[1],
		x->index[2], w->index[2], (r - 1) / 2, x->index[3], w->index[3], (s - 1) / 2,
		w->whole);
	return NULL;
}

/* The name and the indices of x, with `shift` behind index t. */
static const char *shifted(const struct shape_line *line, int t, const char *shift)
{
	const struct indexed *x = &line->operands[0];
	struct text text = text_open(line->arena);
	for (int i = 0; i < x->count; i++)
		text_add(&text, "%s%s%s", i ? "," : "", x->index[i], i == t ? shift : "");
	return arena_format(line->arena, "%s[%s]", x->name, text_read(&text));
}

/*
 * x cos + turned sin, where t of extent 2 numbers the two coordinates of a pair: turned is -x[1] where t is 0, and x[0]
 * where it is 1.  Both are elements beyond x for the other t, which are 0.
 */
static const char *add_rotation(
	struct shape_line *line, long long (*extent)(const void *, const char *), const void *of)
{
	const struct indexed *x = &line->operands[0], *cosine = &line->operands[1],
			     *sine = &line->operands[2];
	int t = -1;
	for (int i = 0; i < x->count; i++)
		if (extent(of, x->index[i]) == 2 &&
			!list_has_word(cosine->index, cosine->count, x->index[i]) &&
			!list_has_word(sine->index, sine->count, x->index[i]))
			t = i;
	if (t < 0 || line->output.count != x->count)
		return "rope takes x[..,t,d] with two t, cos[..,d] and sin[..,d]";
	const char *turned = between(line, "turned", false, NULL),
		   *along = between(line, "cos", false, NULL),
		   *across = between(line, "sin", false, NULL);
	ADD(line, "%s = %s * %s", along, x->whole, cosine->whole);
	ADD(line, "%s = pad %s - pad %s", turned, shifted(line, t, "-1"), shifted(line, t, "+1"));
	ADD(line, "%s = %s * %s", across, turned, sine->whole);
	ADD(line, "%s = %s + %s", line->output.whole, along, across);
	return NULL;
}

static bool is_named(const char *name)
{
	for (int i = 0; named_shapes[i].name; i++)
		if (text_equal(named_shapes[i].name, name))
			return true;
	return false;
}

/* "(n) x[m,n]", "(a[..], b[..])" */
static bool read_operands(struct shape_line *line, const char *at, bool reduces)
{
	for (char next = ','; reduces && next == ',';) {
		if (line->over_count == INDICES_MOST ||
			!(at = split_word(line->arena, at + 1, &line->over[line->over_count])))
			return false;
		line->over_count++;
		next = *at;
		if (next == ')' && !(at = take_indexed(line->arena, at + 1,
					     &line->operands[line->operand_count++])))
			return false;
		if (next == ')')
			return !*at;
	}
	for (char next = ','; !reduces && next == ',';) {
		if (line->operand_count == OPERANDS_MOST ||
			!(at = take_indexed(
				  line->arena, at + 1, &line->operands[line->operand_count++])))
			return false;
		next = *at;
		if (next == ')')
			return !*skip(at + 1);
	}
	return false;
}

bool named_shape_expand(struct arena *arena, const char *text,
	long long (*extent)(const void *of, const char *name), const void *of,
	struct shape_lines *out, const char **why)
{
	struct shape_line line = {.arena = arena, .out = out};
	const char *at = take_indexed(arena, text, &line.output);
	*why = NULL;
	if (!at || *at != '=' || !(at = split_word(arena, at + 1, &line.function)) || *at != '(' ||
		!is_named(line.function))
		return false;
	bool norm = strstr(line.function, "norm"), softmax = text_equal(line.function, "softmax");
	bool attention = text_equal(line.function, "attention"),
	     rope = text_equal(line.function, "rope");
	int wanted = norm || softmax ? 1 : attention || rope ? 3 : 2;
	if (!read_operands(&line, at, norm || softmax) || line.operand_count != wanted) {
		for (int i = 0; named_shapes[i].name; i++)
			if (text_equal(named_shapes[i].name, line.function))
				*why = arena_format(arena, "'%s' is written as '%s'", line.function,
					named_shapes[i].line);
		return true;
	}
	if (softmax)
		add_softmax(&line, line.operands[0].whole, line.output.whole, NULL);
	else if (norm)
		add_norm(&line, text_equal(line.function, "layernorm"));
	else if (attention)
		*why = add_attention(&line, extent, of);
	else if (rope)
		*why = add_rotation(&line, extent, of);
	else if (text_equal(line.function, "conv2d"))
		*why = add_convolution(&line, extent, of);
	else {
		const char *gate = between(&line, "silu", false, NULL);
		ADD(&line, "%s = silu(%s)", gate, line.operands[0].whole);
		ADD(&line, "%s = %s * %s", line.output.whole, gate, line.operands[1].whole);
	}
	return true;
}

static bool take_word(struct scan *p, struct word *out)
{
	const char *text = scan_word(p, ".");
	if (text)
		*out = (struct word){text, p->at - strlen(text), p->at};
	return text != NULL;
}

/* Parses the indices after a tensor's name. */
static bool parse_indices(struct scan *p, struct word tensor, struct line_operand *operand)
{
	operand->tensor = tensor;
	operand->at = tensor.at;
	operand->index_count = 0;
	if (!scan_take(p, '['))
		return scan_fail_next(p, "'[' with the indices of a tensor");
	while (!scan_take(p, ']')) {
		if (operand->index_count > 0 && !scan_take(p, ','))
			return scan_fail_next(p, "',' or ']'");
		if (operand->index_count == LAYOUT_HOST_RANK_MOST)
			return scan_fail(p, operand->at, p->at,
				arena_format(p->arena, "tensor '%s' has more than %d dimensions",
					tensor.text, LAYOUT_HOST_RANK_MOST));
		if (!affine_scan(p, NULL, &operand->indices[operand->index_count]))
			return false;
		operand->index_count++;
	}
	operand->end = p->at;
	return true;
}

/* "pad" before the name of a tensor. */
static bool take_pad(struct scan *p, struct word *word)
{
	if (!text_equal(word->text, "pad") || !scan_is_letter(scan_next(p)))
		return false;
	return take_word(p, word);
}

static bool parse_operand(struct scan *p, struct line_operand *operand)
{
	struct word tensor;
	if (!take_word(p, &tensor))
		return scan_fail_next(p, "a tensor");
	operand->pad = take_pad(p, &tensor);
	return parse_indices(p, tensor, operand);
}

static bool parse_number(struct scan *p, double *out)
{
	char *end;
	size_t at = p->at;
	*out = strtod(p->text + p->at, &end);
	p->at = (size_t)(end - p->text);
	if (p->at == at)
		return scan_fail_next(p, "a number");
	return true;
}

/* One factor of a map: a tensor, or its one constant. */
static bool parse_factor(struct scan *p, struct op_line *op, bool *is_constant)
{
	char c = scan_next(p);
	struct word word;
	size_t at = p->at;
	*is_constant = true;
	if (take_word(p, &word)) {
		bool pad = take_pad(p, &word);
		*is_constant = scan_next(p) != '[' && !pad;
		op->reads[op->read_count].pad = pad;
		if (!*is_constant)
			return parse_indices(p, word, &op->reads[op->read_count++]);
		op->variable = word;
	} else if (c == '-' || c == '.' || scan_is_digit(c)) {
		if (!parse_number(p, &op->constant))
			return false;
	} else {
		return scan_fail_next(p, "a tensor or a number");
	}
	if (op->has_constant)
		return scan_fail(p, at, p->at, "an op needs a tensor besides its constant");
	op->has_constant = true;
	return true;
}

/* The second factor of a map of two; `first_constant`: the first one was a constant. */
static bool parse_second(
	struct scan *p, struct op_line *op, size_t at, size_t end, bool first_constant)
{
	bool second_constant;
	if (!parse_factor(p, op, &second_constant))
		return false;
	if (!first_constant || !op->primitive->constant_first)
		return true;
	return scan_fail(p, at, end, op->primitive->constant_first);
}

static bool parse_product(struct scan *p, struct op_line *op)
{
	do {
		if (op->read_count == OP_READS_MOST)
			return scan_fail(p, p->at - 1, p->at,
				arena_format(
					p->arena, "an op reads at most %d tensors", OP_READS_MOST));
		if (!parse_operand(p, &op->reads[op->read_count++]))
			return false;
	} while (scan_take(p, '*'));
	return true;
}

/* A product of more than two tensors is an einsum that reduces nothing. */
static bool parse_rest(struct scan *p, struct op_line *op)
{
	if (op->primitive != &primitive_mul || op->has_constant || !scan_take(p, '*'))
		return true;
	op->primitive = &primitive_einsum;
	return parse_product(p, op);
}

/* "x[m] + y[m]", "x[m] * 2", "x[m]" */
static bool parse_infix(struct scan *p, struct op_line *op)
{
	bool first_constant;
	scan_next(p);
	size_t at = p->at;
	if (!parse_factor(p, op, &first_constant))
		return false;
	size_t end = p->at;
	for (int i = 0; primitives[i]; i++) {
		if (primitives[i]->sign && scan_take(p, primitives[i]->sign)) {
			op->primitive = primitives[i];
			return parse_second(p, op, at, end, first_constant) && parse_rest(p, op);
		}
	}
	op->primitive = &primitive_clone;
	return !first_constant || scan_fail_next(p, "one of + - * /");
}

static const char *pairwise_hint(struct scan *p, const struct primitive *reduction)
{
	return reduction->pairwise ? arena_format(p->arena, "; of two tensors take %s(a, b)",
					     reduction->pairwise->name)
				   : "";
}

static bool parse_reduction(struct scan *p, struct word name, struct op_line *op)
{
	do {
		struct word dimension;
		if (op->reduction_count == OP_LOOPS_MOST)
			return scan_fail(p, p->at - 1, p->at,
				arena_format(
					p->arena, "an op has at most %d loops", OP_LOOPS_MOST));
		if (!take_word(p, &dimension))
			return scan_fail_next(p, "a dimension to reduce over");
		if (scan_next(p) == '[')
			return scan_fail(p, name.at, name.end,
				arena_format(p->arena,
					"'%s' reduces over dimensions, as in %s(k) x[m,k]%s",
					name.text, name.text, pairwise_hint(p, op->primitive)));
		op->reductions[op->reduction_count++] = dimension;
	} while (scan_take(p, ','));
	if (!scan_take(p, ')'))
		return scan_fail_next(p, "',' or ')'");
	if (!parse_product(p, op))
		return false;
	if (op->read_count == 1)
		return true;
	if (op->primitive != &primitive_sum)
		return scan_fail(p, name.at, name.end,
			arena_format(p->arena,
				"only sum takes a product; give '%s' a tensor that holds it",
				name.text));
	op->primitive = &primitive_einsum;
	return true;
}

static bool parse_arguments(struct scan *p, struct word name, struct op_line *op)
{
	bool first_constant, second;
	int arity = op->primitive->arity;
	scan_next(p);
	size_t at = p->at;
	if (!parse_factor(p, op, &first_constant))
		return false;
	size_t end = p->at;
	second = scan_take(p, ',');
	if (second != (arity == 2))
		return scan_fail(p, name.at, p->at,
			arena_format(p->arena, "'%s' takes %s", name.text,
				arity == 2 ? "two operands" : "one operand"));
	if (!second && first_constant)
		return scan_fail(p, at, p->at, "an op needs a tensor besides its constant");
	if (second && !parse_second(p, op, at, end, first_constant))
		return false;
	return scan_take(p, ')') || scan_fail_next(p, "')'");
}

static bool is_prefix(const struct primitive *primitive)
{
	return primitive->kind == OP_RESTICKIFY || primitive->kind == OP_BROADCAST;
}

/* The names that may stand in a place, restickify first; `prefix` before an operand, else before
 * a bracket. */
static const char *const *list_names(struct scan *p, bool prefix)
{
	int count = 0, most = 2;
	while (primitives[most - 2])
		most++;
	for (int i = 0; named_shapes[i].name; i++)
		most++;
	const char **names = arena_array(p->arena, const char *, most);
	names[count++] = primitive_restickify.name;
	for (int i = 0; !prefix && named_shapes[i].name; i++)
		names[count++] = named_shapes[i].name;
	for (int i = 0; primitives[i]; i++)
		if (prefix ? is_prefix(primitives[i])
			   : primitives[i]->kind == OP_MAP || primitives[i]->kind == OP_REDUCE)
			names[count++] = primitives[i]->name;
	return names;
}

/* Names that are several ops, and how those are written. */
static const struct {
	const char *name, *ops;
} several[] = {
	{"softmax", "write a[m] = max(n) x[m,n], d[m,n] = x[m,n] - a[m], e[m,n] = exp(d[m,n]), "
		    "s[m] = sum(n) e[m,n], y[m,n] = e[m,n] / s[m]"},
	{"layernorm", "write the ops of specs/workloads/layernorm.yaml"},
	{"rmsnorm", "write q[m,n] = x[m,n] * x[m,n], a[m] = mean(n) q[m,n], r[m] = rsqrt(a[m]), "
		    "y[m,n] = x[m,n] * r[m]"},
	{"matmul", "write y[m,n] = sum(k) a[m,k] * b[k,n]"},
};

static const char *ops_of(const char *name)
{
	for (size_t i = 0; i < sizeof several / sizeof *several; i++)
		if (text_equal(several[i].name, name))
			return several[i].ops;
	return NULL;
}

static bool find_function(struct scan *p, struct word name, struct op_line *op)
{
	op->primitive = primitive_find(name.text);
	if (op->primitive && (op->primitive->kind == OP_MAP || op->primitive->kind == OP_REDUCE))
		return true;
	const char *ops = ops_of(name.text);
	if (ops)
		return scan_fail(p, name.at, name.end,
			arena_format(p->arena, "'%s' is not one op; %s", name.text, ops));
	const char *near = suggest(name.text, list_names(p, false));
	return scan_fail(p, name.at, name.end,
		arena_format(p->arena, "unknown function '%s'%s", name.text,
			suggestion(p->arena, near, "")));
}

/* "restickify x[m,k]", "broadcast x[m,k]" */
static bool parse_copy(struct scan *p, struct word name, struct op_line *op)
{
	op->primitive = primitive_find(name.text);
	if (op->primitive && is_prefix(op->primitive))
		return parse_operand(p, &op->reads[op->read_count++]);
	const char *near = suggest(name.text, list_names(p, true));
	return near ? scan_fail(p, name.at, name.end,
			      arena_format(p->arena, "unknown operation '%s'; did you mean '%s'?",
				      name.text, near))
		    : scan_fail_next(p, "'[', '(' or an operation");
}

static bool parse_right(struct scan *p, struct op_line *op)
{
	struct word name;
	scan_next(p);
	size_t at = p->at;
	if (take_word(p, &name)) {
		if (scan_take(p, '(')) {
			if (text_equal(name.text, primitive_broadcast.name))
				return parse_copy(p, name, op) &&
				       (scan_take(p, ')') || scan_fail_next(p, "')'"));
			if (!find_function(p, name, op))
				return false;
			return op->primitive->kind == OP_REDUCE ? parse_reduction(p, name, op)
								: parse_arguments(p, name, op);
		}
		if (scan_is_letter(scan_next(p)) &&
			!text_equal(name.text, "pad")) { /* two words: the first is an operation */
			return parse_copy(p, name, op);
		}
		p->at = at;
	}
	return parse_infix(p, op);
}

bool op_line_parse(
	struct arena *arena, const char *text, struct op_line *out, struct scan_fault *fault)
{
	struct scan p = {arena, text, " \t\n", "op", 0, fault};
	memset(out, 0, sizeof *out);
	if (!parse_operand(&p, &out->output))
		return false;
	if (!scan_take(&p, '='))
		return scan_fail_next(&p, "'='");
	if (!parse_right(&p, out))
		return false;
	if (scan_next(&p) == '@')
		return scan_fail(&p, p.at, p.at + 1,
			"'@' is not an operator; a product is written 'y[m,n] = sum(k) x[m,k] * w[k,n]'");
	if (scan_next(&p))
		return scan_fail_next(
			&p, "the end (an op is a function of two tensors, or a product)");
	return true;
}

bool line_operand_parse(
	struct arena *arena, const char *text, struct line_operand *out, struct scan_fault *fault)
{
	struct scan p = {arena, text, " \t\n", "op", 0, fault};
	struct word tensor;
	memset(out, 0, sizeof *out);
	if (!take_word(&p, &tensor))
		return scan_fail_next(&p, "a tensor");
	if (scan_next(&p)) {
		if (!parse_indices(&p, tensor, out))
			return false;
	} else {
		*out = (struct line_operand){
			.tensor = tensor, .at = tensor.at, .end = tensor.end, .index_count = -1};
	}
	return !scan_next(&p) || scan_fail_next(&p, "the end");
}
