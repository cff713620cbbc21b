#include "base/number.h"
#include "spec/parser.h"

#include <ctype.h>
#include <stdlib.h>

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
			return parser_fail(p, from, p->at + 1, "the number is too large");
		digits++;
	}
	if (!digits || parser_at_word(p, p->at))
		return parser_fail(p, from, p->at + (p->text[p->at] != 0),
			"digits of base %d are expected after '%.2s'", base, p->text + from);
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
bool parse_unit(struct parser *p, struct value *value)
{
	size_t at = p->at, length, end;
	while (p->text[at] == ' ')
		at++;
	if (!parser_at_word(p, at))
		return true;
	struct value unit;
	if (unit_read(p->text + at, &length, &unit)) {
		size_t from = p->at;
		p->at = at + length;
		return parser_check(p, from, value_mul(*value, unit, value));
	}
	char word[WORD_MOST];
	parser_word(p, at, &end, word);
	if (variables_have(p->variables, word))
		return parser_fail(p, at, end, "'%s' is a variable; write '*' before it", word);
	const char *near = unit_suggest(word);
	if (near)
		return parser_fail(p, at, end, "unknown unit '%s'; did you mean '%s'?", word, near);
	return parser_fail(p, at, end,
		"unknown unit '%s'; units are B KB KiB .., Hz .. GHz, GB/s .., ns .. s, "
		"pJ ..",
		word);
}

bool parse_number(struct parser *p, struct value *out)
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
		return parser_fail(p, from, p->at,
			"'%.*s' begins with 0, which YAML 1.1 reads as octal; write it without, "
			"or as 0o..",
			(int)(p->at - from), at);
	if (!whole) {
		p->at++;
		digits += scan_digits(p, &decimal, true);
	}
	if (!digits)
		return parser_fail(p, from, p->at, "a digit is expected");
	scan_exponent(p, &decimal);
	return parser_check(p, from, decimal_value(p, from, &decimal, out)) && parse_unit(p, out);
}
