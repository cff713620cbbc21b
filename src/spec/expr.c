#include "spec/expr.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "base/text.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Arithmetic of specs.  A parser reads one text by recursive descent and stops at the first error; its functions return
 * false after complaining.  Below it the values of `variables:`, each computed when an expression first needs it.
 */
enum { WORD_MOST = 64 };

struct parser {
	struct diag *diag;
	struct variables *variables;
	const struct node *scalar;
	const char *text, *what;
	size_t at; /* bytes of the text read so far */
	int depth;
};

enum expr_state { UNTRIED, OPEN, KNOWN, WRONG };

struct variable {
	enum expr_state state;
	struct value value;
	size_t user; /* OPEN: the variable that asked for it */
};

struct variables {
	struct arena *arena;
	const struct node *map;
	struct variable *at; /* as the entries of the map */
	const char **known;  /* the names; NULL ends them */
	size_t open;         /* the variable being computed; the count of all: none */
};

static bool variables_have(const struct variables *variables, const char *name)
{
	return variables && node_index(variables->map, name) >= 0;
}

static const char *variables_suggest(const struct variables *variables, const char *name)
{
	return variables ? suggest(name, variables->known) : NULL;
}

/* The value of a variable that exists, whose name begins at byte `from`.  False
 * after complaining, once for each variable. */
static bool variables_find(
	const struct parser *p, const char *name, size_t from, struct value *out);

static bool expr_is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool parser_at_word(const struct parser *p, size_t at)
{
	return expr_is_name(p->text[at]) && !isdigit((unsigned char)p->text[at]);
}

/* The first WORD_MOST - 1 bytes of the word at `from`; *end is where all of it ends. */
static void parser_word(const struct parser *p, size_t from, size_t *end, char word[WORD_MOST])
{
	*end = from;
	while (expr_is_name(p->text[*end]))
		++*end;
	size_t length = *end - from < WORD_MOST ? *end - from : WORD_MOST - 1;
	memcpy(word, p->text + from, length);
	word[length] = '\0';
}

static struct span parser_place(const struct parser *p, size_t from, size_t to)
{
	return diag_full(p->diag) ? p->scalar->span : node_part(p->scalar, from, to);
}

/* Complains about bytes `from` up to `to`, after what the value is for. */
static bool parser_fail(const struct parser *p, size_t from, size_t to, const char *format, ...)
{
	char text[512];
	va_list list;
	va_start(list, format);
	vsnprintf(text, sizeof text, format, list);
	va_end(list);
	diag_error(p->diag, parser_place(p, from, to), "%s: %s", p->what, text);
	return false;
}

/* True if `why` is NULL; else complains about all that was read since `from`. */
static bool parser_check(const struct parser *p, size_t from, const char *why)
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

static bool expr_take(struct parser *p, const char *symbol)
{
	skip_spaces(p);
	size_t length = strlen(symbol);
	if (strncmp(p->text + p->at, symbol, length) != 0)
		return false;
	p->at += length;
	return true;
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
static bool parse_unit(struct parser *p, struct value *value)
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

/* A number with its unit; a unit behind something else, if there is one. */
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

static const struct function *expr_find_function(const char *name)
{
	for (size_t i = 0; i < FUNCTIONS; i++)
		if (text_equal(functions[i].name, name))
			return &functions[i];
	return NULL;
}

static bool parser_parse_call(struct parser *p, const char *name, size_t from, struct value *out)
{
	const struct function *function = expr_find_function(name);
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
	while (function->two && expr_take(p, ",")) {
		if (!parse_sum(p, &value) ||
			!parser_check(p, from, function->two(*out, value, out)))
			return false;
	}
	if (expr_take(p, ")"))
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

/* Returns the advice for a word that looks like a unit; NULL if it does not. */
static const char *unit_mend(const char *word)
{
	static const struct {
		const char *words, *mend;
	} rows[] = {
		{" cycle cycles clk ",
			"write a rate, such as 140.8GB/s, or the number alone, which counts per cycle"},
		{" bit bits byte bytes word words access op mac MAC ",
			"energies are in pJ of what the key names (a byte: 60pJ for 7.5pJ a bit)"},
		{" percent ", "a share is a number, such as 0.2"},
	};
	char spaced[WORD_MOST + 3];
	snprintf(spaced, sizeof spaced, " %s ", word);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (strstr(rows[i].words, spaced))
			return rows[i].mend;
	return NULL;
}

static bool parse_name(struct parser *p, struct value *out)
{
	char word[WORD_MOST], variable[WORD_MOST];
	size_t from = p->at, length;
	parser_word(p, from, &p->at, word);
	size_t end = p->at;
	if (p->at - from >= WORD_MOST)
		return parser_fail(p, from, end, "unknown variable '%s...'", word);
	if (expr_take(p, "("))
		return parser_parse_call(p, word, from, out) && parse_unit(p, out);
	p->at = variable_end(p, from, end, variable);
	if (p->at > from)
		return variables_find(p, variable, from, out);
	if (unit_read(p->text + from, &length, out)) {
		p->at = from + length;
		return true;
	}
	const char *mend = unit_mend(word);
	if (mend)
		return parser_fail(p, from, end, "'%s' is not a unit; %s", word, mend);
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
	if (expr_take(p, "(")) {
		if (!parse_sum(p, out))
			return false;
		if (!expr_take(p, ")"))
			return parser_fail(p, from, from + 1, "'(' is never closed");
		return parse_unit(p, out);
	}
	if (!c && from && p->text[from - 1] == '%')
		return parser_fail(p, from - 1, from,
			"'%%' is the remainder of a division; a share is a number, such as 0.2 for "
			"20%%");
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
	if (expr_take(p, "-"))
		fine = parse_unary(p, out) &&
		       parser_check(p, from, value_mul(value_whole(-1), *out, out));
	else if (expr_take(p, "+"))
		fine = parse_unary(p, out);
	else
		fine = parse_primary(p, out);
	struct value power;
	if (fine && expr_take(p, "**"))
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
		while (i < 4 && !expr_take(p, operators[i].symbol))
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
		bool plus = expr_take(p, "+");
		if (!plus && !expr_take(p, "-"))
			return true;
		struct value right;
		fine = parse_product(p, &right) &&
		       parser_check(p, from, (plus ? value_add : value_sub)(*out, right, out));
	}
	return false;
}

/* The whole text. */
static bool parse_text(struct parser *p, struct value *out)
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

static struct variables *variables_make(struct arena *arena, const struct node *map)
{
	struct variables *variables = arena_new(arena, struct variables);
	*variables = (struct variables){.arena = arena,
		.map = map,
		.at = arena_array(arena, struct variable, map->count),
		.known = arena_array(arena, const char *, map->count + 1),
		.open = map->count};
	for (size_t i = 0; i < map->count; i++)
		variables->known[i] = map->entries[i].key;
	return variables;
}

struct variables *variables_read(struct arena *arena, struct diag *diag, const struct node *map)
{
	if (map->kind != NODE_MAP) {
		diag_error(diag, map->span,
			"'variables' is %s; a map of names to values is expected",
			node_kind_name(map));
		return NULL;
	}
	return variables_make(arena, map);
}

struct variables *variables_with(
	struct arena *arena, const struct variables *outer, const struct node *map)
{
	const struct node none = {.kind = NODE_MAP}, *first = outer ? outer->map : &none;
	size_t count = first->count;
	struct node *both = arena_new(arena, struct node);
	struct node_entry *entries = arena_array(arena, struct node_entry, count + map->count);
	struct names *index = arena_new(arena, struct names);
	for (size_t i = 0; i < count; i++) {
		entries[i] = first->entries[i];
		names_add(arena, index, entries[i].key, (int)i);
	}
	for (size_t i = 0; i < map->count; i++) {
		if (names_find(index, map->entries[i].key) >= 0)
			continue;
		names_add(arena, index, map->entries[i].key, (int)count);
		entries[count++] = map->entries[i];
	}
	*both = (struct node){.kind = NODE_MAP,
		.span = map->span,
		.entries = entries,
		.count = count,
		.index = index};
	return variables_make(arena, both);
}

const struct node *variables_node(const struct variables *variables, const char *name)
{
	return variables ? node_find(variables->map, name) : NULL;
}

bool variables_used(const struct variables *variables, const char *name)
{
	int i = variables ? node_index(variables->map, name) : -1;
	return i >= 0 && variables->at[i].state != UNTRIED;
}

/* "a -> b -> a": from variable `from`, along who asked for whom, back to it. */
static const char *variables_chain(const struct variables *variables, size_t from)
{
	enum { SHOWN = 6 };
	struct text text = text_open(variables->arena);
	size_t links[EXPR_DEPTH_MOST + 1], count = 0;
	for (size_t i = variables->open; count < EXPR_DEPTH_MOST; i = variables->at[i].user) {
		links[count++] = i;
		if (i == from)
			break;
	}
	for (size_t i = count; i-- > 0;) {
		size_t done = count - 1 - i;
		if (done < SHOWN || i == 0)
			text_add(&text, "%s -> ", variables->known[links[i]]);
		else if (done == SHOWN)
			text_add(&text, "... -> ");
	}
	text_add(&text, "%s", variables->known[from]);
	return text_read(&text);
}

static bool compute_variables(struct variables *variables, size_t i, struct diag *diag, int depth)
{
	struct variable *variable = &variables->at[i];
	const struct node *node = variables->map->entries[i].value;
	const char *what = arena_format(variables->arena, "variable '%s'", variables->known[i]);
	struct parser inner = {.diag = diag,
		.variables = variables,
		.scalar = node,
		.text = node->text,
		.what = what,
		.depth = depth};
	variable->state = OPEN;
	variable->user = variables->open;
	variables->open = i;
	bool fine = false;
	if (node->kind == NODE_SCALAR)
		fine = parse_text(&inner, &variable->value);
	else
		diag_error(diag, node->span, "%s is %s; a number is expected", what,
			node_kind_name(node));
	variables->open = variable->user;
	variable->state = fine ? KNOWN : WRONG;
	return fine;
}

static bool variables_find(const struct parser *p, const char *name, size_t from, struct value *out)
{
	struct variables *variables = p->variables;
	size_t i = (size_t)node_index(variables->map, name);
	struct variable *variable = &variables->at[i];
	if (variable->state == OPEN) {
		diag_error(p->diag, parser_place(p, from, from + strlen(name)),
			"variable '%s' needs itself: %s", name, variables_chain(variables, i));
		return false;
	}
	if (variable->state == UNTRIED)
		compute_variables(variables, i, p->diag, p->depth);
	*out = variable->value;
	return variable->state == KNOWN;
}

/* Lists, functions and conditions of Python, which nothing here computes. */
static bool is_python(const char *text)
{
	return strpbrk(text, "[]{}'\"=<>:") || strstr(text, " if ") || strstr(text, "lambda");
}

static bool is_text(const struct variables *variables, const struct node *node)
{
	return node->quoted || node->tag || is_python(node->text) ||
	       (strcspn(node->text, " ()*/%+") == strlen(node->text) &&
		       !variables_have(variables, node->text));
}

void variables_check(struct variables *variables, struct diag *diag)
{
	for (size_t i = 0; i < variables->map->count; i++) {
		const struct node *node = variables->map->entries[i].value;
		if (variables->at[i].state == UNTRIED && node->kind == NODE_SCALAR &&
			!is_text(variables, node))
			compute_variables(variables, i, diag, 0);
	}
}
