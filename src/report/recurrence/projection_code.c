#include "base/array.h"
#include "base/text.h"
#include "report/recurrence/projection_report.h"

#include "base/arena.h"

#include <inttypes.h>
#include <math.h>

/* The program being written, and the spelling of names and terms in C. */
struct code {
	struct arena *arena;
	struct text text;
	const struct recurrence *recurrence;
	const struct projection *projection;
	const struct projection_facts *facts;
	struct reverse reverse;
	struct array(const char *) taken;            /* names in C, of all that has one */
	const char *loops[RECURRENCE_LOOPS_MOST];    /* likewise */
	const char *rows[2 * RECURRENCE_LOOPS_MOST]; /* space, then time */
	const char *streams[RECURRENCE_STREAMS_MOST];
	const char *shifted; /* a register while all shift */
	int order
		[RECURRENCE_LOOPS_MOST]; /* rows of space as their loops nest: lanes are innermost */
	bool down[RECURRENCE_LOOPS_MOST]; /* rows of space that run from their end */
	bool lanes_apart;                 /* no lane waits for another one within a step */
	int depth;
};

/* A line at the depth that is open. */
#define code_line(code, ...)                                                                       \
	(code_indent(code), text_add(&(code)->text, __VA_ARGS__), text_add(&(code)->text, "\n"))

static const char *const taken[] = {"auto", "break", "case", "char", "const", "continue", "default",
	"do", "double", "else", "enum", "extern", "float", "for", "goto", "if", "inline", "int",
	"long", "register", "restrict", "return", "short", "signed", "sizeof", "static", "struct",
	"switch", "typedef", "union", "unsigned", "void", "volatile", "while", "main", "project",
	"floor_of", "fmod", "floor", NULL};

static bool code_is_used(const struct code *code, const char *name)
{
	for (int i = 0; taken[i]; i++)
		if (text_equal(taken[i], name))
			return true;
	for (size_t i = 0; i < code->taken.count; i++)
		if (text_equal(code->taken.at[i], name))
			return true;
	return false;
}

/* A name of the user's as an identifier that is still free. */
static const char *code_name(struct code *code, const char *name)
{
	char *own =
		arena_format(code->arena, "%s%s", *name >= '0' && *name <= '9' ? "_" : "", name);
	for (char *at = own; *at; at++)
		if (!((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
			    (*at >= '0' && *at <= '9')))
			*at = '_';
	while (code_is_used(code, own))
		own = arena_format(code->arena, "%s_", own);
	*array_add(code->arena, &code->taken) = own;
	return own;
}

static void code_indent(struct code *code)
{
	for (int i = 0; i < code->depth; i++)
		text_add(&code->text, "\t");
}

/* A part of a sum: `by` times a name; a constant, "0" when it is alone. */
static void code_part(struct text *text, int64_t by, const char *name)
{
	if (!by)
		return;
	text_add(text, "%s", text->length ? (by < 0 ? " - " : " + ") : (by < 0 ? "-" : ""));
	if (by != 1 && by != -1)
		text_add(text, "%" PRId64 " * ", by < 0 ? -by : by);
	text_add(text, "%s", name);
}

static void code_constant(struct text *text, int64_t value)
{
	if (!text->length)
		text_add(text, "%" PRId64, value);
	else if (value)
		text_add(text, " %c %" PRId64, value < 0 ? '-' : '+', value < 0 ? -value : value);
}

static const char *code_sum(const struct code *code, const struct affine *sum)
{
	return affine_text(code->arena, sum, code->recurrence->loop_count, code->loops);
}

/* The PE that lies `move` before this one (NULL: this one), as indices of an array. */
static const char *code_pe(const struct code *code, const int64_t *move)
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

/* True if any point reads a stream at this distance. */
static bool is_read(const struct code *code, const struct term *term)
{
	bool here = true;
	for (int i = 0; i < term->place_count; i++)
		here &= !term->place[i].offset;
	for (int d = 0; d < code->recurrence->dependence_count; d++) {
		const struct dependence *dependence = &code->recurrence->dependences[d];
		bool same = dependence->stream == term->index;
		for (int i = 0; i < term->place_count; i++)
			same &= dependence->vector[i] == -term->place[i].offset;
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
		int64_t step = -term->place[i].offset;
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

/* Texts before and between the parts of a term; a parenthesis ends it. */
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

static void code_add_term(struct code *code, struct text *text, const struct term *term)
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
		code_add_term(code, text, term->of[i]);
	}
	text_add(text, ")");
}

static const char *code_term(struct code *code, const struct term *term)
{
	struct text text = text_open(code->arena);
	code_add_term(code, &text, term);
	return text_read(&text);
}

/* The step's numerator. */
static const char *numerator_text(const struct code *code, const struct reverse_step *step)
{
	struct text text = text_open(code->arena);
	int rows = code->projection->space_count + code->projection->time_count;
	for (int r = 0; r < rows; r++)
		code_part(&text, step->rows[r], code->rows[r]);
	for (int i = 0; i < code->recurrence->loop_count; i++)
		code_part(&text, step->loops[i], code->loops[i]);
	code_constant(&text, step->constant);
	return text_read(&text);
}

/* A digit counts from an end of its loop: base + sign * the quotient. */
static const char *code_based(
	const struct code *code, const struct reverse_step *step, const char *value)
{
	if (!step->base && step->sign > 0)
		return value;
	return arena_format(
		code->arena, "%" PRId64 " %c %s", step->base, step->sign < 0 ? '-' : '+', value);
}

/* Writes a test that skips the rest of the loop body under a condition. */
static void write_unless(struct code *code, const char *condition)
{
	code_line(code, "if (%s)", condition);
	code_line(code, "\tcontinue;");
}

static void open_loop(struct code *code, const char *name, int64_t least, int64_t extent)
{
	code_line(code, "for (long %s = %" PRId64 "; %s < %" PRId64 "; %s++) {", name, least, name,
		least + extent, name);
	code->depth++;
}

static void write_reverse(struct code *code)
{
	for (int k = 0; k < code->reverse.step_count; k++) {
		const struct reverse_step *step = &code->reverse.steps[k];
		const struct loop *loop = &code->recurrence->loops[step->loop];
		const char *name = code->loops[step->loop];
		const char *numerator = numerator_text(code, step);
		if (step->kind == REVERSE_SCAN) {
			open_loop(code, name, loop->least, loop->extent);
			continue;
		}
		if (step->even)
			write_unless(code, arena_format(code->arena, "(%s) %% %" PRId64 " != 0",
						   numerator, step->divisor));
		const char *quotient =
			step->divisor == 1
				? arena_format(code->arena,
					  step->base || step->sign < 0 ? "(%s)" : "%s", numerator)
			: step->even ? arena_format(code->arena, "(%s) / %" PRId64, numerator,
					       step->divisor)
				     : arena_format(code->arena, "floor_of(%s, %" PRId64 ")",
					       numerator, step->divisor);
		code_line(code, "long %s = %s;", name, code_based(code, step, quotient));
	}
}

/* A point of the domain, and of these rows. */
static void write_guard(struct code *code)
{
	const struct recurrence *recurrence = code->recurrence;
	struct text guard = text_open(code->arena);
	int spaces = code->projection->space_count;
	for (int i = 0; i < recurrence->loop_count; i++) {
		const struct loop *loop = &recurrence->loops[i];
		text_add(&guard, "%s%s < %" PRId64 " || %s > %" PRId64, guard.length ? " || " : "",
			code->loops[i], loop->least, code->loops[i],
			loop->least + loop->extent - 1);
	}
	for (int r = 0; r < spaces + code->projection->time_count; r++) {
		struct text row = text_open(code->arena);
		const int64_t *by = r < spaces ? code->projection->space[r]
					       : code->projection->time[r - spaces];
		if (!(code->reverse.checked >> r & 1))
			continue;
		for (int i = 0; i < recurrence->loop_count; i++)
			code_part(&row, by[i], code->loops[i]);
		code_constant(&row, 0);
		text_add(&guard, " || %s != %s", text_read(&row), code->rows[r]);
	}
	if (recurrence->domain)
		text_add(&guard, " || !(%s)", code_term(code, recurrence->domain));
	write_unless(code, text_read(&guard));
}

/* Streams that a body reads at its own point come before it. */
static void write_stream(struct code *code, int stream, uint32_t *written);

static void write_needed(struct code *code, const struct term *term, uint32_t *written)
{
	if (!term)
		return;
	if (term->kind == TERM_STREAM &&
		code->recurrence->streams[term->index].kind == STREAM_RECURRENT) {
		bool here = true;
		for (int i = 0; i < term->place_count; i++)
			here &= !term->place[i].offset;
		if (here)
			write_stream(code, term->index, written);
		return;
	}
	for (int i = 0; i < 3; i++)
		write_needed(code, term->of[i], written);
}

static void write_stream(struct code *code, int stream, uint32_t *written)
{
	if (*written >> stream & 1)
		return;
	*written |= UINT32_C(1) << stream;
	write_needed(code, code->recurrence->streams[stream].body, written);
	code_line(code, "%s_now%s = %s;", code->streams[stream], code_pe(code, NULL),
		code_term(code, code->recurrence->streams[stream].body));
}

static void write_outputs(struct code *code)
{
	const struct recurrence *recurrence = code->recurrence;
	bool any = false;
	for (int s = 0; s < recurrence->stream_count; s++) {
		const struct stream *stream = &recurrence->streams[s];
		struct text place = text_open(code->arena);
		if (stream->kind != STREAM_OUTPUT)
			continue;
		any = true;
		for (int i = 0; i < stream->rank; i++)
			text_add(&place, "%s, ", code_sum(code, &stream->place[i]));
		const struct term *body = stream->body;
		bool bare = body->kind == TERM_SELECT && !body->of[2];
		if (bare)
			code_line(code, "if (%s)", code_term(code, body->of[0]));
		code_line(code, "%s%s(%s%s);", bare ? "\t" : "", code->streams[s],
			text_read(&place), code_term(code, bare ? body->of[1] : body));
	}
	for (int s = 0; !any && s < recurrence->stream_count; s++) {
		struct text place = text_open(code->arena);
		for (int i = 0; i < recurrence->loop_count; i++)
			text_add(&place, "%s, ", code->loops[i]);
		if (recurrence->streams[s].kind == STREAM_RECURRENT)
			code_line(code, "%s_at(%s%s_now%s);", code->streams[s], text_read(&place),
				code->streams[s], code_pe(code, NULL));
	}
}

static void open_space(struct code *code, bool any_order)
{
	for (int k = 0; k < code->projection->space_count; k++) {
		int r = code->order[k];
		const struct bounds *bounds = &code->facts->space[r];
		const char *name = code->rows[r];
		bool lanes = code->projection->lanes[r],
		     last = k == code->projection->space_count - 1;
		if (lanes && last && (any_order || code->lanes_apart))
			code_line(code, "#pragma omp simd /* lanes of a vector unit */");
		else if (lanes)
			code_line(code, "/* lanes of a vector unit */");
		if (!code->down[r] || any_order) {
			open_loop(code, name, bounds->least, bounds->extent);
			continue;
		}
		code_line(code, "for (long %s = %" PRId64 "; %s >= %" PRId64 "; %s--) {", name,
			bounds->least + bounds->extent - 1, name, bounds->least, name);
		code->depth++;
	}
}

static void close_to(struct code *code, int depth)
{
	while (code->depth > depth) {
		code->depth--;
		code_line(code, "}");
	}
}

/* All PEs compute; then all registers shift. */
static void write_step(struct code *code)
{
	const struct recurrence *recurrence = code->recurrence;
	int depth = code->depth;
	uint32_t written = 0;
	open_space(code, false);
	if (code->projection->space_count == 0) { /* `continue` needs a loop */
		code_line(code, "do {");
		code->depth++;
	}
	int inner = code->depth;
	write_reverse(code);
	write_guard(code);
	for (int s = 0; s < recurrence->stream_count; s++)
		if (recurrence->streams[s].kind == STREAM_RECURRENT)
			write_stream(code, s, &written);
	write_outputs(code);
	close_to(code, inner);
	if (code->projection->space_count == 0) {
		code->depth--;
		code_line(code, "} while (0);");
	}
	close_to(code, depth);
	bool any = false;
	for (int s = 0; s < recurrence->stream_count; s++)
		any |= code->facts->registers[s] > 0;
	if (!any)
		return;
	open_space(code, true);
	for (int s = 0; s < recurrence->stream_count; s++) {
		int64_t length = code->facts->registers[s];
		const char *pe = code_pe(code, NULL);
		if (!length)
			continue;
		if (length > 1) {
			const char *at = code->shifted;
			code_line(code, "for (long %s = %" PRId64 "; %s > 0; %s--)", at, length - 1,
				at, at);
			code_line(code, "\t%s%s[%s] = %s%s[%s - 1];", code->streams[s], pe, at,
				code->streams[s], pe, at);
		}
		code_line(code, "%s%s[0] = %s_now%s;", code->streams[s], pe, code->streams[s], pe);
	}
	close_to(code, depth);
}

static void write_declarations(struct code *code)
{
	const struct recurrence *recurrence = code->recurrence;
	bool any = false;
	for (int s = 0; s < recurrence->stream_count; s++)
		any |= recurrence->streams[s].kind == STREAM_OUTPUT;
	for (int s = 0; s < recurrence->stream_count; s++) {
		const struct stream *stream = &recurrence->streams[s];
		struct text places = text_open(code->arena);
		for (int i = 0; i < stream->rank; i++)
			text_add(&places, "%slong", i ? ", " : "");
		if (stream->kind == STREAM_INPUT)
			code_line(code, "double %s(%s);", code->streams[s],
				places.length ? text_read(&places) : "void");
		else if (stream->kind == STREAM_OUTPUT)
			code_line(code, "void %s(%s%sdouble);", code->streams[s],
				text_read(&places), places.length ? ", " : "");
		else if (!any)
			code_line(code, "void %s_at(%s, double);", code->streams[s],
				text_read(&places));
	}
	code_line(code, "void project(void);\n");
	code_line(code,
		"static inline long floor_of(long a, long b)\n{\n\treturn a / b - (a %% b < 0);\n}");
	code_line(code,
		"static inline double least_of(double a, double b)\n{\n\treturn a < b ? a : b;\n}");
	code_line(code,
		"static inline double most_of(double a, double b)\n{\n\treturn a > b ? a : b;\n}");
	code_line(code,
		"static inline double remainder_of(double a, double b)\n{\n\treturn a - b * floor(a / "
		"b);\n}\n");
}

static void write_arrays(struct code *code)
{
	const struct recurrence *recurrence = code->recurrence;
	for (int s = 0; s < recurrence->stream_count; s++) {
		struct text pes = text_open(code->arena);
		if (recurrence->streams[s].kind != STREAM_RECURRENT)
			continue;
		for (int k = 0; k < code->projection->space_count; k++)
			text_add(&pes, "[%" PRId64 "]", code->facts->space[code->order[k]].extent);
		code_line(code, "static double %s_now%s;", code->streams[s], text_read(&pes));
		if (code->facts->registers[s])
			code_line(code, "static double %s%s[%" PRId64 "];", code->streams[s],
				text_read(&pes), code->facts->registers[s]);
	}
}

/* True if all wires lead to PEs that come later, when some rows run down; bits say which. */
static bool wires_follow(const struct code *code, uint32_t down)
{
	for (int d = 0; d < code->recurrence->dependence_count; d++) {
		const struct channel *channel = &code->facts->channels[d];
		int64_t first = 0;
		if (!channel->is_live || channel->delay)
			continue;
		for (int k = 0; !first && k < code->projection->space_count; k++) {
			int64_t move = channel->move[code->order[k]];
			first = down >> code->order[k] & 1 ? -move : move;
		}
		if (first <= 0)
			return false;
	}
	return true;
}

/* Rows that are PEs come first; a value of the same step and unit makes lanes wait. */
static void order_rows(struct code *code)
{
	const struct projection *projection = code->projection;
	int count = 0;
	for (int lanes = 0; lanes < 2; lanes++)
		for (int r = 0; r < projection->space_count; r++)
			if ((projection->lanes[r] != 0) == lanes)
				code->order[count++] = r;
	code->lanes_apart = true;
	for (int d = 0; d < code->recurrence->dependence_count; d++) {
		const struct channel *channel = &code->facts->channels[d];
		bool far = false;
		for (int r = 0; r < projection->space_count; r++)
			far |= channel->move[r] && !projection->lanes[r];
		code->lanes_apart &= !channel->is_live || channel->delay || far;
	}
}

static bool choose_directions(struct code *code)
{
	uint32_t down = 0, all = UINT32_C(1) << code->projection->space_count;
	while (down < all && !wires_follow(code, down))
		down++;
	for (int r = 0; r < code->projection->space_count; r++)
		code->down[r] = down >> r & 1;
	return down < all;
}

static void name_all(struct code *code)
{
	int spaces = code->projection->space_count;
	for (int i = 0; i < code->recurrence->loop_count; i++)
		code->loops[i] = code_name(code, code->recurrence->loops[i].name);
	for (int s = 0; s < code->recurrence->stream_count; s++)
		code->streams[s] = code_name(code, code->recurrence->streams[s].name);
	for (int r = 0; r < spaces; r++)
		code->rows[r] = code_name(code, code->projection->space_names[r]);
	for (int r = 0; r < code->projection->time_count; r++)
		code->rows[spaces + r] = code_name(code, code->projection->time_names[r]);
	code->shifted = code_name(code, "x");
}

const char *projection_code(struct arena *arena, const struct recurrence *recurrence,
	const struct projection *projection, const struct projection_facts *facts, const char **why)
{
	struct code code = {.arena = arena,
		.text = text_open(arena),
		.recurrence = recurrence,
		.projection = projection,
		.facts = facts,
		.reverse = projection_reverse(recurrence, projection)};
	*why = code.reverse.why;
	order_rows(&code);
	if (facts->fault != PROJECTION_FINE)
		*why = "the projection is not legal";
	else if (!choose_directions(&code))
		*why = "wires lead in opposite directions: no order of PEs follows all of them";
	if (*why)
		return NULL;
	name_all(&code);
	code_line(&code, "#include <math.h>\n");
	write_declarations(&code);
	code_line(&code, "void project(void)\n{");
	code.depth = 1;
	write_arrays(&code);
	for (int r = 0; r < projection->time_count; r++) {
		const struct bounds *bounds = &facts->rows[r];
		open_loop(&code, code.rows[projection->space_count + r], bounds->least,
			bounds->extent);
	}
	write_step(&code);
	close_to(&code, 0);
	return text_read(&code.text);
}
