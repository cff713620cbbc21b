#include "report/recurrence/projection_code_state.h"

#include "base/arena.h"

#include <inttypes.h>
#include <math.h>

static const char *const taken[] = {"auto", "break", "case", "char", "const", "continue", "default",
	"do", "double", "else", "enum", "extern", "float", "for", "goto", "if", "inline", "int",
	"long", "register", "restrict", "return", "short", "signed", "sizeof", "static", "struct",
	"switch", "typedef", "union", "unsigned", "void", "volatile", "while", "main", "project",
	"floor_of", "fmod", "floor", NULL};

static bool is_used(const struct code *code, const char *name)
{
	for (int i = 0; taken[i]; i++)
		if (text_equal(taken[i], name))
			return true;
	for (size_t i = 0; i < code->taken.count; i++)
		if (text_equal(code->taken.at[i], name))
			return true;
	return false;
}

const char *code_name(struct code *code, const char *name)
{
	char *own =
		arena_format(code->arena, "%s%s", *name >= '0' && *name <= '9' ? "_" : "", name);
	for (char *at = own; *at; at++)
		if (!((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
			    (*at >= '0' && *at <= '9')))
			*at = '_';
	while (is_used(code, own))
		own = arena_format(code->arena, "%s_", own);
	*array_add(code->arena, &code->taken) = own;
	return own;
}

void code_indent(struct code *code)
{
	for (int i = 0; i < code->depth; i++)
		text_add(&code->text, "\t");
}

void code_part(struct text *text, int64_t by, const char *name)
{
	if (!by)
		return;
	text_add(text, "%s", text->length ? (by < 0 ? " - " : " + ") : (by < 0 ? "-" : ""));
	if (by != 1 && by != -1)
		text_add(text, "%" PRId64 " * ", by < 0 ? -by : by);
	text_add(text, "%s", name);
}

void code_constant(struct text *text, int64_t value)
{
	if (!text->length)
		text_add(text, "%" PRId64, value);
	else if (value)
		text_add(text, " %c %" PRId64, value < 0 ? '-' : '+', value < 0 ? -value : value);
}

const char *code_sum(const struct code *code, const struct loop_sum *sum)
{
	return loop_sum_text(code->arena, sum, code->recurrence->loop_count, code->loops);
}

const char *code_pe(const struct code *code, const int64_t *move)
{
	struct text text = text_open(code->arena);
	for (int k = 0; k < code->projection->space_count; k++) {
		int r = code->order[k];
		struct text index = text_open(code->arena);
		code_part(&index, 1, code->rows[r]);
		code_constant(&index, -code->facts->space[r].least - (move ? move[r] : 0));
		text_add(&text, "[%s]", text_read(&index));
	}
	return text_read(&text);
}

/* Whether any point reads a stream at this distance. */
static bool is_read(const struct code *code, const struct term *term)
{
	bool here = true;
	for (int i = 0; i < term->place_count; i++)
		here &= !term->place[i].constant;
	for (int d = 0; d < code->recurrence->dependence_count; d++) {
		const struct dependence *dependence = &code->recurrence->dependences[d];
		bool same = dependence->stream == term->index;
		for (int i = 0; i < term->place_count; i++)
			same &= dependence->vector[i] == -term->place[i].constant;
		here |= same && code->facts->channels[d].is_live;
	}
	return here;
}

/* A value of a stream: a call, the register of the PE that made it, or what a PE made just now. */
static void add_stream(struct code *code, struct text *text, const struct term *term)
{
	const struct recurrence *recurrence = code->recurrence;
	const char *name = code->streams[term->index];
	int64_t move[RECURRENCE_LOOPS_MOST] = {0}, delay = 0;
	if (recurrence->streams[term->index].kind == STREAM_INPUT) {
		text_add(text, "%s(", name);
		for (int i = 0; i < term->place_count; i++)
			text_add(text, "%s%s", i ? ", " : "", code_sum(code, &term->place[i]));
		text_add(text, ")");
		return;
	}
	for (int i = 0; i < recurrence->loop_count; i++) {
		int64_t step = -term->place[i].constant;
		delay += code->facts->schedule[i] * step;
		for (int r = 0; r < code->projection->space_count; r++)
			move[r] += code->projection->space[r][i] * step;
	}
	if (!is_read(code, term))
		text_add(text, "0.0"); /* of a branch that no point takes */
	else if (delay)
		text_add(text, "%s%s[%" PRId64 "]", name, code_pe(code, move), delay - 1);
	else
		text_add(text, "%s_now%s", name, code_pe(code, move));
}

/* What stands before the parts of a term, and between them; a parenthesis ends it. */
static const struct {
	const char *before, *between[2];
} operators[] = {[TERM_NEGATE] = {"-(", {0}},
	[TERM_NOT] = {"!(", {0}},
	[TERM_ADD] = {"(", {" + "}},
	[TERM_SUBTRACT] = {"(", {" - "}},
	[TERM_MULTIPLY] = {"(", {" * "}},
	[TERM_DIVIDE] = {"(", {" / "}},
	[TERM_FLOOR] = {"floor(", {" / "}},
	[TERM_REMAINDER] = {"remainder_of(", {", "}},
	[TERM_MIN] = {"least_of(", {", "}},
	[TERM_MAX] = {"most_of(", {", "}},
	[TERM_EQUAL] = {"(", {" == "}},
	[TERM_UNEQUAL] = {"(", {" != "}},
	[TERM_LESS] = {"(", {" < "}},
	[TERM_AT_MOST] = {"(", {" <= "}},
	[TERM_AND] = {"(", {" && "}},
	[TERM_OR] = {"(", {" || "}},
	[TERM_SELECT] = {"(", {" ? ", " : "}}};

static void add_term(struct code *code, struct text *text, const struct term *term)
{
	switch (term->kind) {
	case TERM_NUMBER:
		if (fabs(term->number) < 1e15 && term->number == floor(term->number))
			text_add(text, "%.1f", term->number);
		else
			text_add(text, "%.17g", term->number);
		return;
	case TERM_LOOP:
		text_add(text, "(double)%s", code->loops[term->index]);
		return;
	case TERM_STREAM:
		add_stream(code, text, term);
		return;
	default:
		break;
	}
	text_add(text, "%s", operators[term->kind].before);
	for (int i = 0; i < 3 && term->of[i]; i++) {
		text_add(text, "%s", i ? operators[term->kind].between[i - 1] : "");
		add_term(code, text, term->of[i]);
	}
	text_add(text, ")");
}

const char *code_term(struct code *code, const struct term *term)
{
	struct text text = text_open(code->arena);
	add_term(code, &text, term);
	return text_read(&text);
}
