#include "model/graph/einsum.h"

#include "base/arena.h"
#include "base/number.h"
#include "base/text.h"
#include "model/graph/named_shape.h"

#include <stdlib.h>
#include <string.h>

struct einsum_parser {
	struct arena *arena;
	const char *text;
	size_t at;
	struct einsum_fault *fault;
};

static char look(struct einsum_parser *p)
{
	while (p->text[p->at] == ' ' || p->text[p->at] == '\t' || p->text[p->at] == '\n')
		p->at++;
	return p->text[p->at];
}

static bool fail_at(struct einsum_parser *p, size_t at, size_t end, const char *text)
{
	*p->fault = (struct einsum_fault){at, end, text};
	return false;
}

/* Complains about what comes next: a character, or the end. */
static bool fail_next(struct einsum_parser *p, const char *wanted)
{
	char c = look(p);
	size_t end = p->at + 1;
	while (c & 0x80 && (p->text[end] & 0xc0) == 0x80) /* the rest of a UTF-8 character */
		end++;
	if (!c)
		return fail_at(p, p->at, p->at,
			arena_format(p->arena, "the op ends where %s is expected", wanted));
	return fail_at(p, p->at, end,
		arena_format(p->arena, "'%.*s' stands where %s is expected", (int)(end - p->at),
			p->text + p->at, wanted));
}

static bool take(struct einsum_parser *p, char wanted)
{
	if (look(p) != wanted)
		return false;
	p->at++;
	return true;
}

static bool take_word(struct einsum_parser *p, struct word *out)
{
	if (!scan_is_letter(look(p)))
		return false;
	size_t at = p->at;
	while (scan_is_letter(p->text[p->at]) || scan_is_digit(p->text[p->at]) ||
		p->text[p->at] == '.')
		p->at++;
	char *text = arena_copy(p->arena, p->text + at, p->at - at + 1);
	text[p->at - at] = '\0';
	*out = (struct word){text, at, p->at};
	return true;
}

static bool parse_digits(struct einsum_parser *p, int64_t *out)
{
	size_t at = p->at;
	int64_t value = 0;
	bool fits = true;
	for (; scan_is_digit(p->text[p->at]); p->at++)
		fits = fits && number_mul(value, 10, &value) &&
		       number_add(value, p->text[p->at] - '0', &value);
	*out = value;
	return fits || fail_at(p, at, p->at, "the number is too large");
}

/* "2*p", "2p", "p*2", "p", "3" */
static bool parse_term(struct einsum_parser *p, int sign, struct einsum_term *term)
{
	struct word word = {0};
	int64_t factor = 1;
	if (scan_is_digit(look(p))) {
		if (!parse_digits(p, &factor))
			return false;
		if (take(p, '*')) {
			if (!take_word(p, &word))
				return fail_next(p, "a dimension");
		} else {
			take_word(p, &word);
		}
	} else if (take_word(p, &word)) {
		if (take(p, '*')) {
			if (!scan_is_digit(look(p)))
				return fail_next(p, "a whole number");
			if (!parse_digits(p, &factor))
				return false;
		}
	} else {
		return fail_next(p, "a dimension or a number");
	}
	*term = (struct einsum_term){sign * factor, word};
	return true;
}

static bool parse_index(struct einsum_parser *p, struct einsum_index *index)
{
	int sign = look(p) == '-' ? -1 : 1;
	index->at = p->at;
	index->term_count = 0;
	if (sign < 0)
		p->at++;
	for (;;) {
		if (index->term_count == INDEX_TERMS_MOST)
			return fail_at(p, index->at, p->at,
				arena_format(p->arena, "an index has at most %d terms",
					INDEX_TERMS_MOST));
		if (!parse_term(p, sign, &index->terms[index->term_count]))
			return false;
		index->term_count++;
		index->end = p->at;
		if (look(p) != '+' && look(p) != '-')
			return true;
		sign = p->text[p->at++] == '-' ? -1 : 1;
	}
}

/* What follows a tensor's name. */
static bool parse_indices(
	struct einsum_parser *p, struct word tensor, struct einsum_operand *operand)
{
	operand->tensor = tensor;
	operand->at = tensor.at;
	operand->index_count = 0;
	if (!take(p, '['))
		return fail_next(p, "'[' with the indices of a tensor");
	while (!take(p, ']')) {
		if (operand->index_count > 0 && !take(p, ','))
			return fail_next(p, "',' or ']'");
		if (operand->index_count == LAYOUT_HOST_RANK_MOST)
			return fail_at(p, operand->at, p->at,
				arena_format(p->arena, "tensor '%s' has more than %d dimensions",
					tensor.text, LAYOUT_HOST_RANK_MOST));
		if (!parse_index(p, &operand->indices[operand->index_count]))
			return false;
		operand->index_count++;
	}
	operand->end = p->at;
	return true;
}

/* "pad" before the name of a tensor. */
static bool take_pad(struct einsum_parser *p, struct word *word)
{
	if (!text_equal(word->text, "pad") || !scan_is_letter(look(p)))
		return false;
	return take_word(p, word);
}

static bool parse_operand(struct einsum_parser *p, struct einsum_operand *operand)
{
	struct word tensor;
	if (!take_word(p, &tensor))
		return fail_next(p, "a tensor");
	operand->pad = take_pad(p, &tensor);
	return parse_indices(p, tensor, operand);
}

static bool parse_number(struct einsum_parser *p, double *out)
{
	char *end;
	size_t at = p->at;
	*out = strtod(p->text + p->at, &end);
	p->at = (size_t)(end - p->text);
	if (p->at == at)
		return fail_next(p, "a number");
	return true;
}

/* One factor of a map: a tensor, or its one constant. */
static bool parse_factor(struct einsum_parser *p, struct einsum *op, bool *is_constant)
{
	char c = look(p);
	struct word word;
	size_t at = p->at;
	*is_constant = true;
	if (take_word(p, &word)) {
		bool pad = take_pad(p, &word);
		*is_constant = look(p) != '[' && !pad;
		op->reads[op->read_count].pad = pad;
		if (!*is_constant)
			return parse_indices(p, word, &op->reads[op->read_count++]);
		op->variable = word;
	} else if (c == '-' || c == '.' || scan_is_digit(c)) {
		if (!parse_number(p, &op->constant))
			return false;
	} else {
		return fail_next(p, "a tensor or a number");
	}
	if (op->has_constant)
		return fail_at(p, at, p->at, "an op needs a tensor besides its constant");
	op->has_constant = true;
	return true;
}

/* The second factor of a map of two; `first_constant` tells what the first one was. */
static bool parse_second(
	struct einsum_parser *p, struct einsum *op, size_t at, size_t end, bool first_constant)
{
	bool second_constant;
	if (!parse_factor(p, op, &second_constant))
		return false;
	if (!first_constant || !op->primitive->constant_first)
		return true;
	return fail_at(p, at, end, op->primitive->constant_first);
}

static bool parse_product(struct einsum_parser *p, struct einsum *op)
{
	do {
		if (op->read_count == OP_READS_MOST)
			return fail_at(p, p->at - 1, p->at,
				arena_format(
					p->arena, "an op reads at most %d tensors", OP_READS_MOST));
		if (!parse_operand(p, &op->reads[op->read_count++]))
			return false;
	} while (take(p, '*'));
	return true;
}

/* A product of more than two tensors is an einsum that reduces nothing. */
static bool parse_rest(struct einsum_parser *p, struct einsum *op)
{
	if (op->primitive != &primitive_mul || op->has_constant || !take(p, '*'))
		return true;
	op->primitive = &primitive_einsum;
	return parse_product(p, op);
}

/* "x[m] + y[m]", "x[m] * 2", "x[m]" */
static bool parse_infix(struct einsum_parser *p, struct einsum *op)
{
	bool first_constant;
	look(p);
	size_t at = p->at;
	if (!parse_factor(p, op, &first_constant))
		return false;
	size_t end = p->at;
	for (int i = 0; primitives[i]; i++) {
		if (primitives[i]->sign && take(p, primitives[i]->sign)) {
			op->primitive = primitives[i];
			return parse_second(p, op, at, end, first_constant) && parse_rest(p, op);
		}
	}
	op->primitive = &primitive_clone;
	return !first_constant || fail_next(p, "one of + - * /");
}

static const char *pairwise_hint(struct einsum_parser *p, const struct primitive *reduction)
{
	return reduction->pairwise ? arena_format(p->arena, "; of two tensors take %s(a, b)",
					     reduction->pairwise->name)
				   : "";
}

static bool parse_reduction(struct einsum_parser *p, struct word name, struct einsum *op)
{
	do {
		struct word dimension;
		if (op->reduction_count == OP_LOOPS_MOST)
			return fail_at(p, p->at - 1, p->at,
				arena_format(
					p->arena, "an op has at most %d loops", OP_LOOPS_MOST));
		if (!take_word(p, &dimension))
			return fail_next(p, "a dimension to reduce over");
		if (look(p) == '[')
			return fail_at(p, name.at, name.end,
				arena_format(p->arena,
					"'%s' reduces over dimensions, as in %s(k) x[m,k]%s",
					name.text, name.text, pairwise_hint(p, op->primitive)));
		op->reductions[op->reduction_count++] = dimension;
	} while (take(p, ','));
	if (!take(p, ')'))
		return fail_next(p, "',' or ')'");
	if (!parse_product(p, op))
		return false;
	if (op->read_count == 1)
		return true;
	if (op->primitive != &primitive_sum)
		return fail_at(p, name.at, name.end,
			arena_format(p->arena,
				"only sum takes a product; give '%s' a tensor that holds it",
				name.text));
	op->primitive = &primitive_einsum;
	return true;
}

static bool parse_arguments(struct einsum_parser *p, struct word name, struct einsum *op)
{
	bool first_constant, second;
	int arity = op->primitive->arity;
	look(p);
	size_t at = p->at;
	if (!parse_factor(p, op, &first_constant))
		return false;
	size_t end = p->at;
	second = take(p, ',');
	if (second != (arity == 2))
		return fail_at(p, name.at, p->at,
			arena_format(p->arena, "'%s' takes %s", name.text,
				arity == 2 ? "two operands" : "one operand"));
	if (!second && first_constant)
		return fail_at(p, at, p->at, "an op needs a tensor besides its constant");
	if (second && !parse_second(p, op, at, end, first_constant))
		return false;
	return take(p, ')') || fail_next(p, "')'");
}

static bool is_prefix(const struct primitive *primitive)
{
	return primitive->kind == OP_RESTICKIFY || primitive->kind == OP_BROADCAST;
}

/* The names that may stand in a place, restickify first; `prefix` before an operand, else before
 * a bracket. */
static const char *const *list_names(struct einsum_parser *p, bool prefix)
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
	{"rope", "write the rotations of specs/workloads/llama3_8b_block.yaml"},
	{"matmul", "write y[m,n] = sum(k) a[m,k] * b[k,n]"},
};

static const char *ops_of(const char *name)
{
	for (size_t i = 0; i < sizeof several / sizeof *several; i++)
		if (text_equal(several[i].name, name))
			return several[i].ops;
	return NULL;
}

static bool find_function(struct einsum_parser *p, struct word name, struct einsum *op)
{
	op->primitive = primitive_find(name.text);
	if (op->primitive && (op->primitive->kind == OP_MAP || op->primitive->kind == OP_REDUCE))
		return true;
	const char *ops = ops_of(name.text);
	if (ops)
		return fail_at(p, name.at, name.end,
			arena_format(p->arena, "'%s' is not one op; %s", name.text, ops));
	const char *near = suggest(name.text, list_names(p, false));
	return fail_at(p, name.at, name.end,
		arena_format(p->arena, "unknown function '%s'%s", name.text,
			suggestion(p->arena, near, "")));
}

/* "restickify x[m,k]", "broadcast x[m,k]" */
static bool parse_copy(struct einsum_parser *p, struct word name, struct einsum *op)
{
	op->primitive = primitive_find(name.text);
	if (op->primitive && is_prefix(op->primitive))
		return parse_operand(p, &op->reads[op->read_count++]);
	const char *near = suggest(name.text, list_names(p, true));
	return near ? fail_at(p, name.at, name.end,
			      arena_format(p->arena, "unknown operation '%s'; did you mean '%s'?",
				      name.text, near))
		    : fail_next(p, "'[', '(' or an operation");
}

static bool parse_right(struct einsum_parser *p, struct einsum *op)
{
	struct word name;
	look(p);
	size_t at = p->at;
	if (take_word(p, &name)) {
		if (take(p, '(')) {
			if (text_equal(name.text, primitive_broadcast.name))
				return parse_copy(p, name, op) &&
				       (take(p, ')') || fail_next(p, "')'"));
			if (!find_function(p, name, op))
				return false;
			return op->primitive->kind == OP_REDUCE ? parse_reduction(p, name, op)
								: parse_arguments(p, name, op);
		}
		if (scan_is_letter(look(p)) &&
			!text_equal(name.text, "pad")) { /* two words: the first is an operation */
			return parse_copy(p, name, op);
		}
		p->at = at;
	}
	return parse_infix(p, op);
}

bool einsum_parse(
	struct arena *arena, const char *text, struct einsum *out, struct einsum_fault *fault)
{
	struct einsum_parser p = {arena, text, 0, fault};
	memset(out, 0, sizeof *out);
	if (!parse_operand(&p, &out->output))
		return false;
	if (!take(&p, '='))
		return fail_next(&p, "'='");
	if (!parse_right(&p, out))
		return false;
	if (look(&p) == '@')
		return fail_at(&p, p.at, p.at + 1,
			"'@' is no operator; a product is written 'y[m,n] = sum(k) x[m,k] * w[k,n]'");
	if (look(&p))
		return fail_next(&p, "the end (an op is a function of two tensors, or a product)");
	return true;
}

bool einsum_parse_operand(struct arena *arena, const char *text, struct einsum_operand *out,
	struct einsum_fault *fault)
{
	struct einsum_parser p = {arena, text, 0, fault};
	struct word tensor;
	memset(out, 0, sizeof *out);
	if (!take_word(&p, &tensor))
		return fail_next(&p, "a tensor");
	if (look(&p)) {
		if (!parse_indices(&p, tensor, out))
			return false;
	} else {
		*out = (struct einsum_operand){
			.tensor = tensor, .at = tensor.at, .end = tensor.end, .index_count = -1};
	}
	return !look(&p) || fail_next(&p, "the end");
}
