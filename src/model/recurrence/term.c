#include "model/recurrence/term.h"

#include "base/arena.h"
#include "base/text.h"

#include <math.h>

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
