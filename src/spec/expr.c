#include "spec/expr.h"

#include "base/number.h"
#include "base/text.h"
#include "spec/variables.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_MOST = 64 };

static bool is_name_start(char c)
{
	return isalpha((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool is_name(char c)
{
	return is_name_start(c) || isdigit((unsigned char)c);
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

/* Past so many complaints nobody sees the place: do not look for it. */
static struct span place(const struct parser *p, size_t from, size_t to)
{
	return diag_errors(p->diag) < DIAG_MOST ? node_part(p->scalar, from, to) : p->scalar->span;
}

#define FAIL(p, from, to, ...) (diag_error((p)->diag, place(p, from, to), __VA_ARGS__), false)

static bool checked(struct parser *p, size_t from, const char *why)
{
	if (!why)
		return true;
	size_t to = p->at;
	while (to > from && isspace((unsigned char)p->text[to - 1]))
		to--;
	return FAIL(p, from, to, "%s in %s", why, p->what);
}

static const char *word_at(const struct parser *p, size_t from, size_t *end, char word[])
{
	*end = from;
	while (is_name(p->text[*end]))
		++*end;
	size_t length = *end - from < WORD_MOST ? *end - from : WORD_MOST - 1;
	memcpy(word, p->text + from, length);
	word[length] = '\0';
	return word;
}

static int digit_of(char c)
{
	return isdigit((unsigned char)c)   ? c - '0'
	       : isalpha((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10
					   : 99;
}

static bool parse_based(struct parser *p, int base, size_t from, struct value *out)
{
	int64_t n = 0;
	size_t digits = 0;
	for (p->at += 2; digit_of(p->text[p->at]) < base || p->text[p->at] == '_'; p->at++) {
		if (p->text[p->at] == '_')
			continue;
		if (!number_mul(n, base, &n) || !number_add(n, digit_of(p->text[p->at]), &n))
			return FAIL(p, from, p->at + 1, "the number is too large in %s", p->what);
		digits++;
	}
	if (!digits || is_name(p->text[p->at]))
		return FAIL(p, from, p->at + (p->text[p->at] != 0),
			"digits of base %d are expected after '%.2s' in %s", base, p->text + from,
			p->what);
	*out = value_whole(n);
	return true;
}

/* The decimal digits from `from` on, as mantissa * 10 ^ power while that is exact. */
struct decimal {
	int64_t mantissa;
	int power;
	bool exact;
};

static void add_digit(struct decimal *decimal, char c, bool after_point)
{
	int64_t n;
	if (number_mul(decimal->mantissa, 10, &n) && number_add(n, c - '0', &n))
		decimal->mantissa = n;
	else
		decimal->exact = false;
	decimal->power -= after_point;
}

static size_t scan_digits(struct parser *p, struct decimal *decimal, bool after_point)
{
	size_t digits = 0;
	for (;; p->at++) {
		char c = p->text[p->at];
		if (c == '_' && digits && isdigit((unsigned char)p->text[p->at + 1]))
			continue;
		if (!isdigit((unsigned char)c))
			return digits;
		add_digit(decimal, c, after_point);
		digits++;
	}
}

static void scan_exponent(struct parser *p, struct decimal *decimal)
{
	const char *at = p->text + p->at;
	size_t sign = at[0] && (at[1] == '-' || at[1] == '+');
	if ((at[0] != 'e' && at[0] != 'E') || !isdigit((unsigned char)at[1 + sign]))
		return;
	int exponent = 0;
	for (p->at += 1 + sign; isdigit((unsigned char)p->text[p->at]); p->at++)
		if (exponent < 10000)
			exponent = exponent * 10 + p->text[p->at] - '0';
	decimal->power += at[1] == '-' ? -exponent : exponent;
}

static const char *decimal_value(
	struct parser *p, size_t from, const struct decimal *decimal, struct value *out)
{
	struct value power;
	if (decimal->exact && decimal->power >= -18 && decimal->power <= 18 &&
		!value_pow(value_whole(10), value_whole(decimal->power), &power) &&
		!value_mul(value_whole(decimal->mantissa), power, out))
		return NULL;
	char digits[2 * WORD_MOST];
	size_t length = 0;
	for (size_t i = from; i < p->at; i++)
		if (p->text[i] != '_' && length + 1 < sizeof digits)
			digits[length++] = p->text[i];
	digits[length] = '\0';
	double real = strtod(digits, NULL);
	if (length + 1 == sizeof digits || real > 1.7e308)
		return "the number is too large";
	*out = value_real(real);
	return NULL;
}

/* A unit behind a number or a parenthesis multiplies it. */
static bool parse_unit(struct parser *p, struct value *value)
{
	size_t at = p->at, length, end;
	while (p->text[at] == ' ')
		at++;
	if (!is_name_start(p->text[at]))
		return true;
	struct value unit;
	if (unit_read(p->text + at, &length, &unit)) {
		size_t from = p->at;
		p->at = at + length;
		return checked(p, from, value_mul(*value, unit, value));
	}
	char word[WORD_MOST];
	word_at(p, at, &end, word);
	if (variables_have(p->variables, word))
		return FAIL(
			p, at, end, "'%s' is a variable; write '*' before it in %s", word, p->what);
	const char *near = unit_suggest(word);
	if (near)
		return FAIL(p, at, end, "unknown unit '%s' in %s; did you mean '%s'?", word,
			p->what, near);
	return FAIL(p, at, end,
		"unknown unit '%s' in %s; units are B KB KiB .., Hz .. GHz, GB/s .., ns .. s, "
		"pJ ..",
		word, p->what);
}

static bool parse_number(struct parser *p, struct value *out)
{
	size_t from = p->at;
	const char *at = p->text + from;
	int base = at[0] != '0'                                     ? 10
		   : at[1] == 'x' || at[1] == 'X'                   ? 16
		   : at[1] == 'o'                                   ? 8
		   : at[1] == 'b' && (at[2] == '0' || at[2] == '1') ? 2
								    : 10;
	if (base != 10)
		return parse_based(p, base, from, out);
	struct decimal decimal = {.exact = true};
	size_t digits = scan_digits(p, &decimal, false);
	bool whole = p->text[p->at] != '.';
	if (whole && digits > 1 && at[0] == '0')
		return FAIL(p, from, p->at,
			"'%.*s' begins with 0, which YAML 1.1 reads as octal; write it without, "
			"or as 0o..",
			(int)(p->at - from), at);
	if (!whole) {
		p->at++;
		digits += scan_digits(p, &decimal, true);
	}
	if (!digits)
		return FAIL(p, from, p->at, "a digit is expected in %s", p->what);
	scan_exponent(p, &decimal);
	return checked(p, from, decimal_value(p, from, &decimal, out)) && parse_unit(p, out);
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
	{"ceil", value_ceil, NULL},
	{"floor", value_floor, NULL},
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
		return FAIL(p, from, name_end,
			near ? "unknown function '%s' in %s; did you mean '%s'?"
			     : "unknown function '%s' in %s; there are min, max, ceil, floor, "
			       "log2 and sqrt",
			name, p->what, near);
	}
	struct value value;
	if (!parse_sum(p, out))
		return false;
	if (function->one && !checked(p, from, function->one(*out, out)))
		return false;
	while (function->two && take(p, ",")) {
		if (!parse_sum(p, &value) || !checked(p, from, function->two(*out, value, out)))
			return false;
	}
	if (take(p, ")"))
		return true;
	if (p->text[p->at] == ',')
		return FAIL(p, p->at, p->at + 1, "'%s' takes one argument in %s", name, p->what);
	return FAIL(p, p->at, p->at + 1, "')' is expected in %s", p->what);
}

static bool parse_name(struct parser *p, struct value *out)
{
	char word[WORD_MOST];
	size_t from = p->at, length;
	word_at(p, from, &p->at, word);
	size_t end = p->at;
	if (p->at - from >= WORD_MOST)
		return FAIL(p, from, end, "unknown variable '%s...' in %s", word, p->what);
	if (take(p, "("))
		return parse_call(p, word, from, out) && parse_unit(p, out);
	p->at = end;
	if (variables_have(p->variables, word))
		return variables_find(p, word, from, out);
	if (unit_read(p->text + from, &length, out)) {
		p->at = from + length;
		return true;
	}
	const char *near = variables_suggest(p->variables, word);
	return FAIL(p, from, end,
		near ? "unknown variable '%s' in %s; did you mean '%s'?"
		     : "unknown variable '%s' in %s; a number or arithmetic is expected",
		word, p->what, near);
}

static bool parse_primary(struct parser *p, struct value *out)
{
	skip_spaces(p);
	size_t from = p->at;
	char c = p->text[from];
	if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)p->text[from + 1])))
		return parse_number(p, out);
	if (is_name_start(c))
		return parse_name(p, out);
	if (take(p, "(")) {
		if (!parse_sum(p, out))
			return false;
		if (!take(p, ")"))
			return FAIL(p, from, from + 1, "'(' is never closed in %s", p->what);
		return parse_unit(p, out);
	}
	if (!c)
		return FAIL(p, from ? from - 1 : 0, from, "a number is expected after this in %s",
			p->what);
	return FAIL(p, from, from + 1, "a number is expected instead of '%c' in %s", c, p->what);
}

static bool parse_unary(struct parser *p, struct value *out)
{
	size_t from = p->at;
	if (p->depth >= EXPR_DEPTH_MOST)
		return FAIL(p, from, from + 1, "nested more than %d deep in %s", EXPR_DEPTH_MOST,
			p->what);
	p->depth++;
	bool fine;
	if (take(p, "-"))
		fine = parse_unary(p, out) &&
		       checked(p, from, value_mul(value_whole(-1), *out, out));
	else if (take(p, "+"))
		fine = parse_unary(p, out);
	else
		fine = parse_primary(p, out);
	struct value power;
	if (fine && take(p, "**"))
		fine = parse_unary(p, &power) && checked(p, from, value_pow(*out, power, out));
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
		       checked(p, from, operators[i].apply(*out, right, out));
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
		       checked(p, from, (plus ? value_add : value_sub)(*out, right, out));
	}
	return false;
}

bool expr_parse(struct parser *p, struct value *out)
{
	if (p->scalar->tag)
		return FAIL(p, 0, strlen(p->text), "tag '%s' means nothing on %s", p->scalar->tag,
			p->what);
	skip_spaces(p);
	if (!p->text[p->at])
		return FAIL(p, 0, 0, "%s has no value; a number is expected", p->what);
	if (!parse_sum(p, out))
		return false;
	skip_spaces(p);
	char c = p->text[p->at];
	if (!c)
		return true;
	if (c == '^')
		return FAIL(p, p->at, p->at + 1, "a power is written '**' in %s", p->what);
	if (c == ')')
		return FAIL(p, p->at, p->at + 1, "')' has no '(' in %s", p->what);
	return FAIL(p, p->at, p->at + 1, "an operator is expected before '%c' in %s", c, p->what);
}

bool expr_read(struct diag *diag, struct variables *variables, const struct node *scalar,
	const char *what, struct value *out)
{
	struct parser p = {.diag = diag,
		.variables = variables,
		.scalar = scalar,
		.text = scalar->text,
		.what = what};
	return expr_parse(&p, out);
}
