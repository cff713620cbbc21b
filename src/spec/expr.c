#include "base/text.h"
#include "spec/parser.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

bool parser_at_word(const struct parser *p, size_t at)
{
	return is_name(p->text[at]) && !isdigit((unsigned char)p->text[at]);
}

void parser_word(const struct parser *p, size_t from, size_t *end, char word[WORD_MOST])
{
	*end = from;
	while (is_name(p->text[*end]))
		++*end;
	size_t length = *end - from < WORD_MOST ? *end - from : WORD_MOST - 1;
	memcpy(word, p->text + from, length);
	word[length] = '\0';
}

struct span parser_place(const struct parser *p, size_t from, size_t to)
{
	return diag_full(p->diag) ? p->scalar->span : node_part(p->scalar, from, to);
}

bool parser_fail(const struct parser *p, size_t from, size_t to, const char *format, ...)
{
	char text[512];
	va_list list;
	va_start(list, format);
	vsnprintf(text, sizeof text, format, list);
	va_end(list);
	diag_error(p->diag, parser_place(p, from, to), "%s: %s", p->what, text);
	return false;
}

bool parser_check(const struct parser *p, size_t from, const char *why)
{
	if (!why)
		return true;
	size_t to = p->at;
	while (to > from && isspace((unsigned char)p->text[to - 1]))
		to--;
	return parser_fail(p, from, to, "%s", why);
}

static void skip_spaces(struct parser *p)
{
	while (isspace((unsigned char)p->text[p->at]))
		p->at++;
}

static bool take(struct parser *p, const char *symbol)
{
	skip_spaces(p);
	size_t length = strlen(symbol);
	if (strncmp(p->text + p->at, symbol, length) != 0)
		return false;
	p->at += length;
	return true;
}

static bool parse_sum(struct parser *p, struct value *out);

struct function {
	const char *name;
	const char *(*one)(struct value, struct value *);
	const char *(*two)(struct value, struct value, struct value *);
};

static const struct function functions[] = {
	{"min", NULL, value_min},
	{"max", NULL, value_max},
	{"pow", NULL, value_pow},
	{"ceil", value_ceil, NULL},
	{"floor", value_floor, NULL},
	{"round", value_round, NULL},
	{"int", value_trunc, NULL},
	{"trunc", value_trunc, NULL},
	{"float", value_float, NULL},
	{"abs", value_abs, NULL},
	{"log2", value_log2, NULL},
	{"sqrt", value_sqrt, NULL},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static const struct function *find_function(const char *name)
{
	for (size_t i = 0; i < FUNCTIONS; i++)
		if (text_equal(functions[i].name, name))
			return &functions[i];
	return NULL;
}

static bool parse_call(struct parser *p, const char *name, size_t from, struct value *out)
{
	const struct function *function = find_function(name);
	size_t name_end = from + strlen(name);
	if (!function) {
		const char *known[FUNCTIONS + 1] = {NULL};
		for (size_t i = 0; i < FUNCTIONS; i++)
			known[i] = functions[i].name;
		const char *near = suggest(name, known);
		return parser_fail(p, from, name_end,
			near ? "unknown function '%s'; did you mean '%s'?"
			     : "unknown function '%s'; there are min, max, pow, ceil, floor, "
			       "round, int, trunc, float, abs, log2 and sqrt",
			name, near);
	}
	struct value value;
	if (!parse_sum(p, out))
		return false;
	if (function->one && !parser_check(p, from, function->one(*out, out)))
		return false;
	while (function->two && take(p, ",")) {
		if (!parse_sum(p, &value) ||
			!parser_check(p, from, function->two(*out, value, out)))
			return false;
	}
	if (take(p, ")"))
		return true;
	if (p->text[p->at] == ',')
		return parser_fail(p, p->at, p->at + 1, "'%s' takes one argument", name);
	return parser_fail(p, p->at, p->at + 1, "')' is expected");
}

/* A variable that begins with the word from `from` to `end`: its name may have dots, as parameters of a sweep have
 * (problem.instance.K).  Its end; `from` where there is none. */
static size_t variable_end(
	const struct parser *p, size_t from, size_t end, char variable[WORD_MOST])
{
	char word[WORD_MOST];
	while (p->text[end] == '.')
		parser_word(p, end + 1, &end, word);
	snprintf(variable, WORD_MOST, "%.*s", (int)(end - from), p->text + from);
	return end - from < WORD_MOST && variables_have(p->variables, variable) ? end : from;
}

static bool parse_name(struct parser *p, struct value *out)
{
	char word[WORD_MOST], variable[WORD_MOST];
	size_t from = p->at, length;
	parser_word(p, from, &p->at, word);
	size_t end = p->at;
	if (p->at - from >= WORD_MOST)
		return parser_fail(p, from, end, "unknown variable '%s...'", word);
	if (take(p, "("))
		return parse_call(p, word, from, out) && parse_unit(p, out);
	p->at = variable_end(p, from, end, variable);
	if (p->at > from)
		return variables_find(p, variable, from, out);
	if (unit_read(p->text + from, &length, out)) {
		p->at = from + length;
		return true;
	}
	const char *near = diag_full(p->diag) ? NULL : variables_suggest(p->variables, word);
	return parser_fail(p, from, end,
		near ? "unknown variable '%s'; did you mean '%s'?"
		     : "unknown variable '%s'; a number or arithmetic is expected",
		word, near);
}

static bool parse_primary(struct parser *p, struct value *out)
{
	skip_spaces(p);
	size_t from = p->at;
	char c = p->text[from];
	if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)p->text[from + 1])))
		return parse_number(p, out);
	if (parser_at_word(p, from))
		return parse_name(p, out);
	if (take(p, "(")) {
		if (!parse_sum(p, out))
			return false;
		if (!take(p, ")"))
			return parser_fail(p, from, from + 1, "'(' is never closed");
		return parse_unit(p, out);
	}
	if (!c)
		return parser_fail(p, from ? from - 1 : 0, from, "a number is expected after this");
	return parser_fail(p, from, from + 1, "a number is expected instead of '%c'", c);
}

static bool parse_unary(struct parser *p, struct value *out)
{
	size_t from = p->at;
	if (p->depth >= EXPR_DEPTH_MOST)
		return parser_fail(p, from, from + 1, "nested more than %d deep", EXPR_DEPTH_MOST);
	p->depth++;
	bool fine;
	if (take(p, "-"))
		fine = parse_unary(p, out) &&
		       parser_check(p, from, value_mul(value_whole(-1), *out, out));
	else if (take(p, "+"))
		fine = parse_unary(p, out);
	else
		fine = parse_primary(p, out);
	struct value power;
	if (fine && take(p, "**"))
		fine = parse_unary(p, &power) && parser_check(p, from, value_pow(*out, power, out));
	p->depth--;
	return fine;
}

static bool parse_product(struct parser *p, struct value *out)
{
	static const struct {
		const char *symbol;
		const char *(*apply)(struct value, struct value, struct value *);
	} operators[] = {
		{"//", value_floor_div}, {"*", value_mul}, {"/", value_div}, {"%", value_mod}};
	skip_spaces(p);
	size_t from = p->at;
	bool fine = parse_unary(p, out);
	while (fine) {
		size_t i = 0;
		while (i < 4 && !take(p, operators[i].symbol))
			i++;
		struct value right;
		if (i == 4)
			return true;
		fine = parse_unary(p, &right) &&
		       parser_check(p, from, operators[i].apply(*out, right, out));
	}
	return false;
}

static bool parse_sum(struct parser *p, struct value *out)
{
	skip_spaces(p);
	size_t from = p->at;
	bool fine = parse_product(p, out);
	while (fine) {
		bool plus = take(p, "+");
		if (!plus && !take(p, "-"))
			return true;
		struct value right;
		fine = parse_product(p, &right) &&
		       parser_check(p, from, (plus ? value_add : value_sub)(*out, right, out));
	}
	return false;
}

bool parse_text(struct parser *p, struct value *out)
{
	if (p->scalar->tag)
		return parser_fail(
			p, 0, strlen(p->text), "tag '%s' means nothing here", p->scalar->tag);
	skip_spaces(p);
	if (!p->text[p->at])
		return parser_fail(p, 0, 0, "it is empty; a number is expected");
	if (!parse_sum(p, out))
		return false;
	skip_spaces(p);
	char c = p->text[p->at];
	if (!c)
		return true;
	if (c == '^')
		return parser_fail(p, p->at, p->at + 1, "a power is written '**'");
	if (c == ')')
		return parser_fail(p, p->at, p->at + 1, "')' has no '('");
	return parser_fail(p, p->at, p->at + 1, "an operator is expected before '%c'", c);
}

bool expr_read(struct diag *diag, struct variables *variables, const struct node *scalar,
	const char *what, struct value *out)
{
	struct parser p = {.diag = diag,
		.variables = variables,
		.scalar = scalar,
		.text = scalar->text,
		.what = what};
	return parse_text(&p, out);
}
