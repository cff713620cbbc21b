#include "model/recurrence/term.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "base/text.h"
#include "spec/reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double term_value(const struct term *term, const struct term_values *values)
{
	const struct term *const *of = term->of;
	switch (term->kind) {
	case TERM_NUMBER:
		return term->number;
	case TERM_LOOP:
		return (double)values->point[term->index];
	case TERM_STREAM: {
		int64_t place[TERM_LOOPS_MOST] = {0};
		for (int i = 0; i < term->place_count; i++)
			place[i] = loop_sum_value(&term->place[i], TERM_LOOPS_MOST, values->point);
		return values->read(values->user, term->index, place);
	}
	case TERM_NEGATE:
		return -term_value(of[0], values);
	case TERM_NOT:
		return term_value(of[0], values) == 0;
	case TERM_AND:
		return term_value(of[0], values) != 0 && term_value(of[1], values) != 0;
	case TERM_OR:
		return term_value(of[0], values) != 0 || term_value(of[1], values) != 0;
	case TERM_SELECT:
		if (term_value(of[0], values) != 0)
			return term_value(of[1], values);
		return of[2] ? term_value(of[2], values) : 0;
	default:
		break;
	}
	double a = term_value(of[0], values), b = term_value(of[1], values);
	switch (term->kind) {
	case TERM_ADD:
		return a + b;
	case TERM_SUBTRACT:
		return a - b;
	case TERM_MULTIPLY:
		return a * b;
	case TERM_DIVIDE:
		return a / b;
	case TERM_FLOOR:
		return floor(a / b);
	case TERM_REMAINDER:
		return a - b * floor(a / b);
	case TERM_MIN:
		return a < b ? a : b;
	case TERM_MAX:
		return a > b ? a : b;
	case TERM_EQUAL:
		return a == b;
	case TERM_UNEQUAL:
		return a != b;
	case TERM_LESS:
		return a < b;
	default:
		return a <= b;
	}
}

bool term_holds(const struct term *condition, const int64_t *point)
{
	struct term_values values = {.point = point};
	return !condition || term_value(condition, &values) != 0;
}

bool term_has_stream(const struct term *term)
{
	if (!term)
		return false;
	return term->kind == TERM_STREAM || term_has_stream(term->of[0]) ||
	       term_has_stream(term->of[1]) || term_has_stream(term->of[2]);
}

const struct term *term_make(struct arena *arena, enum term_kind kind, const struct term *a,
	const struct term *b, const struct term *c)
{
	struct term *term = arena_new(arena, struct term);
	*term = (struct term){.kind = kind, .of = {a, b, c}};
	for (int i = 0; i < 3; i++)
		if (term->of[i] && term->of[i]->height >= term->height)
			term->height = term->of[i]->height + 1;
	return term;
}

const struct term *term_number(struct arena *arena, double value)
{
	struct term *term = arena_new(arena, struct term);
	*term = (struct term){.kind = TERM_NUMBER, .number = value};
	return term;
}

const struct term *term_loop(struct arena *arena, int loop)
{
	struct term *term = arena_new(arena, struct term);
	*term = (struct term){.kind = TERM_LOOP, .index = loop};
	return term;
}

const struct term *term_and(struct arena *arena, const struct term *left, const struct term *right)
{
	if (!left || !right)
		return left ? left : right;
	return term_make(arena, TERM_AND, left, right, NULL);
}

const struct term *term_not(struct arena *arena, const struct term *of)
{
	return term_make(arena, TERM_NOT, of, NULL, NULL);
}

int64_t loop_sum_value(const struct loop_sum *affine, int loops, const int64_t *point)
{
	int64_t sum = affine->constant;
	for (int i = 0; i < loops; i++)
		if (affine->at[i])
			sum += affine->at[i] * point[i];
	return sum;
}

const char *loop_sum_text(
	struct arena *arena, const struct loop_sum *affine, int loops, const char *const *names)
{
	struct text text = text_open(arena);
	for (int i = 0; i < loops; i++) {
		int64_t c = affine->at[i];
		if (!c)
			continue;
		text_add(&text, "%s", text.length ? (c < 0 ? " - " : " + ") : (c < 0 ? "-" : ""));
		if (c != 1 && c != -1)
			text_add(&text, "%lld*", (long long)(c < 0 ? -c : c));
		text_add(&text, "%s", names[i]);
	}
	int64_t c = affine->constant;
	if (!text.length)
		text_add(&text, "%lld", (long long)c);
	else if (c)
		text_add(&text, " %c %lld", c < 0 ? '-' : '+', (long long)(c < 0 ? -c : c));
	return text_read(&text);
}

struct term_parser {
	struct arena *arena;
	const char *text;
	size_t at;
	int depth;
	const struct term_names *names;
	struct term_fault *fault;
};

static const struct term *fail(struct term_parser *p, size_t from, size_t to, const char *text)
{
	*p->fault = (struct term_fault){from, to, text};
	return NULL;
}

static char look(struct term_parser *p)
{
	while (p->text[p->at] == ' ' || p->text[p->at] == '\t')
		p->at++;
	return p->text[p->at];
}

static const struct term *fail_next(struct term_parser *p, const char *wanted)
{
	char c = look(p);
	size_t end = p->at + 1;
	while (c & 0x80 && (p->text[end] & 0xc0) == 0x80) /* the rest of a UTF-8 character */
		end++;
	if (!c || c == '\n')
		return fail(p, p->at, p->at,
			arena_format(p->arena, "the equation ends where %s is expected", wanted));
	return fail(p, p->at, end,
		arena_format(p->arena, "'%.*s' stands where %s is expected", (int)(end - p->at),
			p->text + p->at, wanted));
}

/* A sign such as "<=", or a word such as "and". */
static bool take(struct term_parser *p, const char *sign)
{
	look(p);
	size_t length = strlen(sign);
	if (strncmp(p->text + p->at, sign, length) != 0)
		return false;
	char next = p->text[p->at + length];
	if (scan_is_letter(sign[0]) ? scan_is_letter(next) || scan_is_digit(next)
				    : length == 1 && strchr("<>=!", sign[0]) && next == '=')
		return false;
	p->at += length;
	return true;
}

static const char *take_word(struct term_parser *p)
{
	if (!scan_is_letter(look(p)))
		return NULL;
	size_t from = p->at;
	while (scan_is_letter(p->text[p->at]) || scan_is_digit(p->text[p->at]))
		p->at++;
	return arena_format(p->arena, "%.*s", (int)(p->at - from), p->text + from);
}

static const struct term *make(struct term_parser *p, size_t from, enum term_kind kind,
	const struct term *a, const struct term *b, const struct term *c)
{
	int height = a->height;
	if (b && b->height > height)
		height = b->height;
	if (c && c->height > height)
		height = c->height;
	if (height == TERM_HEIGHT_MOST)
		return fail(p, from, p->at, "this has more operators than can be read");
	struct term *term = arena_new(p->arena, struct term);
	*term = (struct term){
		.kind = kind, .of = {a, b, c}, .height = height + 1, .from = from, .to = p->at};
	return term;
}

/* Sums and products of loops and whole numbers; false after a fault at the term. */
static bool to_affine(struct term_parser *p, const struct term *term, struct loop_sum *out)
{
	struct loop_sum a, b;
	*out = (struct loop_sum){0};
	switch (term->kind) {
	case TERM_NUMBER:
		if (term->number > (double)LOOP_SUM_CONSTANT_MOST ||
			term->number != floor(term->number))
			break;
		out->constant = (int64_t)term->number;
		return true;
	case TERM_LOOP:
		out->at[term->index] = 1;
		return true;
	case TERM_NEGATE:
	case TERM_ADD:
	case TERM_SUBTRACT:
	case TERM_MULTIPLY: {
		if (!to_affine(p, term->of[0], &a))
			return false;
		b = (struct loop_sum){.constant = -1};
		if (term->of[1] && !to_affine(p, term->of[1], &b))
			return false;
		bool product = term->kind == TERM_NEGATE || term->kind == TERM_MULTIPLY;
		bool plain_a = true, plain_b = true;
		for (int i = 0; i < TERM_LOOPS_MOST; i++) {
			plain_a &= !a.at[i];
			plain_b &= !b.at[i];
		}
		if (product && !plain_a && !plain_b)
			break;
		int64_t by = plain_b ? b.constant : a.constant,
			sign = term->kind == TERM_SUBTRACT ? -1 : 1;
		const struct loop_sum *of = plain_b ? &a : &b;
		bool fits = true;
		for (int i = 0; i <= TERM_LOOPS_MOST; i++) {
			int64_t x = i < TERM_LOOPS_MOST ? a.at[i] : a.constant;
			int64_t y = i < TERM_LOOPS_MOST ? b.at[i] : b.constant;
			int64_t z = i < TERM_LOOPS_MOST ? of->at[i] : of->constant;
			int64_t *to = i < TERM_LOOPS_MOST ? &out->at[i] : &out->constant;
			fits &= product ? number_mul(z, by, to) : number_add(x, sign * y, to);
			int64_t most =
				i < TERM_LOOPS_MOST ? LOOP_SUM_FACTOR_MOST : LOOP_SUM_CONSTANT_MOST;
			fits &= fits && *to <= most && *to >= -most;
		}
		if (fits)
			return true;
		fail(p, term->from, term->to, "this index is too large");
		return false;
	}
	default:
		break;
	}
	fail(p, term->from, term->to,
		"an index is a sum of loops, times whole numbers, and of whole numbers");
	return false;
}

bool term_variable(const struct reading *reading, const char *name, double *out)
{
	const struct node *node = variables_node(reading->variables, name);
	return node && node_number(reading, node, name, out);
}

/* From the loosest to the tightest. */
enum operator_level { OR, AND, NOT, COMPARISON, SUM, PRODUCT, SIGN };

static const struct term *parse_level(struct term_parser *p, enum operator_level level);

static const struct term *parse_stream(struct term_parser *p, size_t from, const char *name)
{
	struct loop_sum places[TERM_LOOPS_MOST];
	int count = 0;
	if (!take(p, ")")) {
		do {
			if (count == TERM_LOOPS_MOST)
				return fail(p, from, p->at, "more than 8 indices");
			const struct term *index = parse_level(p, OR);
			if (!index || !to_affine(p, index, &places[count]))
				return NULL;
			count++;
		} while (take(p, ","));
		if (!take(p, ")"))
			return fail_next(p, "',' or ')'");
	}
	int stream = p->names->stream ? p->names->stream(p->names->user, name) : 0;
	if (stream < 0)
		return fail(p, from, p->at, "too many streams: at most 16");
	struct term *term = arena_new(p->arena, struct term);
	*term = (struct term){.kind = TERM_STREAM,
		.index = stream,
		.place_count = count,
		.place = arena_copy(p->arena, places, sizeof *places * (size_t)count),
		.from = from,
		.to = p->at};
	return term;
}

static const struct term *parse_call(struct term_parser *p, size_t from, const char *name)
{
	bool select = text_equal(name, "select");
	if (!select && !text_equal(name, "min") && !text_equal(name, "max"))
		return parse_stream(p, from, name);
	const struct term *of[3] = {0};
	int count = 0, most = select ? 3 : 2;
	do {
		if (count == most)
			return fail_next(p, "')'");
		of[count] = parse_level(p, OR);
		if (!of[count++])
			return NULL;
	} while (take(p, ","));
	if (!take(p, ")"))
		return fail_next(p, count < most ? "',' or ')'" : "')'");
	if (count < 2)
		return fail(p, from, p->at,
			select ? "select needs a condition and a value"
			       : "min and max need two values");
	return make(p, from,
		select                    ? TERM_SELECT
		: text_equal(name, "min") ? TERM_MIN
					  : TERM_MAX,
		of[0], of[1], of[2]);
}

static const struct term *parse_name(struct term_parser *p)
{
	size_t from = p->at;
	const char *name = take_word(p);
	if (take(p, "("))
		return parse_call(p, from, name);
	struct term *term = arena_new(p->arena, struct term);
	const char *const *loops = p->names->loops;
	*term = (struct term){.kind = TERM_LOOP, .from = from, .to = p->at};
	while (loops[term->index] && !text_equal(loops[term->index], name))
		term->index++;
	if (loops[term->index])
		return term;
	*term = (struct term){.kind = TERM_NUMBER, .index = -1, .from = from, .to = p->at};
	if (term_variable(p->names->reading, name, &term->number))
		return term;
	return fail(p, from, p->at,
		arena_format(p->arena, "'%s' is no loop and no variable%s", name,
			suggestion(p->arena, suggest(name, loops), "")));
}

static const struct term *parse_primary(struct term_parser *p)
{
	char c = look(p);
	size_t from = p->at;
	if (take(p, "(")) {
		const struct term *inner = parse_level(p, OR);
		if (inner && !take(p, ")"))
			return fail_next(p, "')'");
		return inner;
	}
	if (scan_is_letter(c))
		return parse_name(p);
	if (!scan_is_digit(c) && c != '.')
		return fail_next(p, "a value");
	/* As strtod reads it, but neither hexadecimal nor infinite. */
	char *end;
	double number = strtod(p->text + from, &end);
	size_t length = (size_t)(end - (p->text + from));
	if (!length || memchr(p->text + from, 'x', length) || memchr(p->text + from, 'X', length) ||
		number > 1e300)
		return fail(p, from, from + (length ? length : 1), "this is no number");
	p->at = from + length;
	struct term *term = arena_new(p->arena, struct term);
	*term = (struct term){.kind = TERM_NUMBER, .number = number, .from = from, .to = p->at};
	return term;
}

static const struct term *parse_sign(struct term_parser *p)
{
	look(p);
	size_t from = p->at;
	if (++p->depth > TERM_HEIGHT_MOST)
		return fail(p, from, from + 1, "nested too deeply");
	const struct term *term;
	if (take(p, "-")) {
		term = parse_sign(p);
		term = term ? make(p, from, TERM_NEGATE, term, NULL, NULL) : NULL;
	} else if (take(p, "+")) {
		term = parse_sign(p);
	} else {
		term = parse_primary(p);
	}
	p->depth--;
	return term;
}

/* Operators by level, from left to right within one; a sign that another one begins with stands behind that. */
static const struct operator_sign {
	const char *sign;
	enum operator_level level;
	enum term_kind kind;
	bool swapped;
} signs[] = {
	{"||", OR, TERM_OR, false},
	{"or", OR, TERM_OR, false},
	{"&&", AND, TERM_AND, false},
	{"and", AND, TERM_AND, false},
	{"==", COMPARISON, TERM_EQUAL, false},
	{"!=", COMPARISON, TERM_UNEQUAL, false},
	{"<=", COMPARISON, TERM_AT_MOST, false},
	{">=", COMPARISON, TERM_AT_MOST, true},
	{"<", COMPARISON, TERM_LESS, false},
	{">", COMPARISON, TERM_LESS, true},
	{"+", SUM, TERM_ADD, false},
	{"-", SUM, TERM_SUBTRACT, false},
	{"*", PRODUCT, TERM_MULTIPLY, false},
	{"//", PRODUCT, TERM_FLOOR, false},
	{"/", PRODUCT, TERM_DIVIDE, false},
	{"%", PRODUCT, TERM_REMAINDER, false},
};

static const struct operator_sign *take_sign(struct term_parser *p, enum operator_level level)
{
	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
		if (signs[i].level == level && take(p, signs[i].sign))
			return &signs[i];
	return NULL;
}

static bool compares(const struct term *term)
{
	return term->kind >= TERM_EQUAL && term->kind <= TERM_AT_MOST;
}

/* a < b < c, which is (a < b) < c: what was written first is itself a comparison. */
static bool is_chain(const struct term_parser *p, const struct term *term)
{
	if (!compares(term) || p->text[term->from] == '(')
		return false;
	return compares(term->of[0]->from < term->of[1]->from ? term->of[0] : term->of[1]);
}

static const struct term *parse_not(struct term_parser *p, size_t from)
{
	if (++p->depth > TERM_HEIGHT_MOST)
		return fail(p, from, from + 1, "nested too deeply");
	const struct term *inner = parse_level(p, NOT);
	p->depth--;
	return inner ? make(p, from, TERM_NOT, inner, NULL, NULL) : NULL;
}

static const struct term *parse_level(struct term_parser *p, enum operator_level level)
{
	look(p);
	size_t from = p->at;
	if (level == SIGN)
		return parse_sign(p);
	if (level == NOT && (take(p, "!") || take(p, "not")))
		return parse_not(p, from);
	const struct term *left = parse_level(p, level + 1);
	const struct operator_sign *sign = NULL;
	while (left && (sign = take_sign(p, level))) {
		const struct term *right = parse_level(p, level + 1);
		if (!right)
			return NULL;
		left = make(p, from, sign->kind, sign->swapped ? right : left,
			sign->swapped ? left : right, NULL);
	}
	if (left && level == COMPARISON && is_chain(p, left))
		return fail(p, left->from, left->to,
			"comparisons do not chain: write 'a <= b and b < c'");
	return left;
}

const struct term *term_parse(struct arena *arena, const char *text, size_t *at,
	const struct term_names *names, struct term_fault *fault)
{
	struct term_parser p = {arena, text, *at, 0, names, fault};
	const struct term *term = parse_level(&p, OR);
	*at = p.at;
	return term;
}

const struct term *term_parse_place(struct arena *arena, const char *text, size_t *at,
	const struct term_names *names, struct term_fault *fault)
{
	struct term_parser p = {arena, text, *at, 0, names, fault};
	look(&p);
	size_t from = p.at;
	const char *name = take_word(&p);
	const struct term *place;
	if (!name)
		place = fail_next(&p, "the name of a stream");
	else if (!take(&p, "("))
		place = fail_next(&p, "'('");
	else
		place = parse_stream(&p, from, name);
	*at = p.at;
	return place;
}
