#include "model/graph/named_shape.h"

#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { INDICES_MOST = 8, OPERANDS_MOST = 3 };

const struct named_shape named_shapes[] = {
	{"softmax", "y[m,n] = softmax(n) x[m,n]"},
	{"layernorm", "y[m,n] = layernorm(n) x[m,n]"},
	{"rmsnorm", "y[m,n] = rmsnorm(n) x[m,n]"},
	{"attention", "o[h,q,d] = attention(Q[h,q,d], K[h,k,d], V[h,k,d])"},
	{"swiglu", "y[m,f] = swiglu(gate[m,f], up[m,f])"},
	{"conv2d", "y[n,k,p,q] = conv2d(x[n,c,p,q], w[k,c,r,s])"},
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

static const char *take_word(struct arena *arena, const char *at, const char **word)
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
	at = take_word(arena, from, &out->name);
	if (!at || *at != '[')
		return NULL;
	for (char next = ','; next == ',';) {
		if (out->count == INDICES_MOST ||
			!(at = take_word(arena, at + 1, &out->index[out->count])))
			return NULL;
		out->count++;
		next = *at;
		if (next != ',' && next != ']')
			return NULL;
	}
	out->whole = arena_format(arena, "%.*s", (int)(at + 1 - from), from);
	return skip(at + 1);
}

static bool has(const char *const *list, int count, const char *word)
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
		if (!kept || !has(line->over, line->over_count, index))
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
		if (!has(q->index, q->count, k->index[i]))
			key = k->index[i];
	long long size = extent(of, depth);
	if (!key || size < 1 || !has(v->index, v->count, key) || line->output.count < 1)
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
			!(at = take_word(line->arena, at + 1, &line->over[line->over_count])))
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
	if (!at || *at != '=' || !(at = take_word(arena, at + 1, &line.function)) || *at != '(' ||
		!is_named(line.function))
		return false;
	bool norm = strstr(line.function, "norm"), softmax = text_equal(line.function, "softmax");
	int wanted = norm || softmax ? 1 : text_equal(line.function, "attention") ? 3 : 2;
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
	else if (wanted == 3)
		*why = add_attention(&line, extent, of);
	else if (text_equal(line.function, "conv2d"))
		*why = add_convolution(&line, extent, of);
	else {
		const char *gate = between(&line, "silu", false, NULL);
		ADD(&line, "%s = silu(%s)", gate, line.operands[0].whole);
		ADD(&line, "%s = %s * %s", line.output.whole, gate, line.operands[1].whole);
	}
	return true;
}
