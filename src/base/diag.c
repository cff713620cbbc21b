#include "base/diag.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/fit.h"
#include "base/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	TEXT_MOST = 400, /* bytes of a message; the middle of longer ones is cut */
	LINE_MOST = 96,  /* columns of a source line; longer ones are cut around the caret */
	LEAD = 32,       /* columns kept before the caret of a cut line */
	TAB = 8,
};

struct diag {
	struct arena *arena;
	struct array(struct diag_message) messages;
	size_t errors, warnings;
	bool illegal;  /* the errors that come are */
	bool folds;    /* remarks are counted */
	bool dropping; /* the last error or warning was not kept: nor are its notes */
};

struct diag *diag_open(struct arena *arena)
{
	struct diag *diag = arena_new(arena, struct diag);
	diag->arena = arena;
	return diag;
}

/* Names from the user's file stand in messages: no control characters, no megabytes. */
static const char *clean(struct arena *arena, const char *text)
{
	size_t length = strlen(text);
	struct text out = text_open(arena);
	for (size_t i = 0; i < length;) {
		if (length > TEXT_MOST && i >= TEXT_MOST / 2 && i < length - TEXT_MOST / 2) {
			text_add(&out, "...");
			i = length - TEXT_MOST / 2;
			while (((unsigned char)text[i] & 0xc0) == 0x80)
				i++;
			continue;
		}
		uint32_t c = 0;
		size_t size = utf8_read(text + i, length - i, &c);
		if (!size || c == '\n' || c == '\t' || utf8_is_obeyed(c))
			text_add(&out, c == '\n' || c == '\t' ? " " : "?");
		else
			text_bytes(&out, text + i, size);
		i += size ? size : 1;
	}
	return text_read(&out);
}

/* A file that was read twice is the same source. */
static bool same_source(const struct source *a, const struct source *b)
{
	return a == b || (a && b && text_equal(a->name, b->name));
}

static bool same_span(struct span a, struct span b)
{
	return same_source(a.source, b.source) && a.line == b.line && a.column == b.column;
}

static bool is_known(const struct diag *diag, struct diag_message message)
{
	for (size_t i = 0; i < diag->messages.count; i++) {
		const struct diag_message *other = &diag->messages.at[i];
		if (other->severity == message.severity && same_span(other->at, message.at) &&
			text_equal(other->text, message.text))
			return true;
	}
	return false;
}

static void add(
	struct diag *diag, enum severity severity, struct span at, const char *format, va_list list)
{
	if (severity == SEVERITY_NOTE ? diag->dropping
		: severity == SEVERITY_REMARK
			? false
			: (severity == SEVERITY_ERROR ? diag->errors : diag->warnings) >=
				  DIAG_MOST) {
		diag->errors += severity == SEVERITY_ERROR;
		diag->warnings += severity == SEVERITY_WARNING;
		diag->dropping = true;
		return;
	}
	const char *text = arena_format_list(diag->arena, format, list);
	struct diag_message message = {severity, at, clean(diag->arena, text), diag->illegal};
	if (severity != SEVERITY_NOTE) {
		diag->dropping = is_known(diag, message);
		if (diag->dropping)
			return;
		diag->errors += severity == SEVERITY_ERROR;
		diag->warnings += severity == SEVERITY_WARNING;
	}
	*array_add(diag->arena, &diag->messages) = message;
}

void diag_add(struct diag *diag, enum severity severity, struct span at, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	add(diag, severity, source_told(at), format, list);
	va_end(list);
}

void diag_judge(struct diag *diag, bool illegal)
{
	diag->illegal = illegal;
}

bool diag_only_illegal(const struct diag *diag)
{
	for (size_t i = 0; i < diag->messages.count; i++)
		if (diag->messages.at[i].severity == SEVERITY_ERROR &&
			!diag->messages.at[i].illegal)
			return false;
	return diag->errors > 0;
}

void diag_fold_remarks(struct diag *diag)
{
	diag->folds = true;
}

void diag_take(struct diag *diag, const struct diag *other)
{
	for (size_t i = 0; i < other->messages.count; i++) {
		struct diag_message message = other->messages.at[i];
		if (is_known(diag, message))
			continue;
		diag->errors += message.severity == SEVERITY_ERROR;
		diag->warnings += message.severity == SEVERITY_WARNING;
		*array_add(diag->arena, &diag->messages) = message;
	}
}

size_t diag_count(const struct diag *diag)
{
	return diag->messages.count;
}

struct diag_message diag_message(const struct diag *diag, size_t i)
{
	return diag->messages.at[i];
}

bool diag_failed(const struct diag *diag)
{
	return diag->errors > 0;
}

size_t diag_errors(const struct diag *diag)
{
	return diag->errors;
}

bool diag_full(const struct diag *diag)
{
	return diag->errors >= DIAG_MOST;
}

/* A line as it is shown: every character beside the column where it begins. */
struct shown {
	struct array(struct cell {
		const char *bytes;
		size_t size;
		int column;
	}) cells;
	int width;
};

static struct shown layout(struct arena *arena, const struct source *source, size_t at)
{
	struct shown shown = {0};
	while (at < source->length && !utf8_break(source->bytes + at, source->length - at)) {
		uint32_t c = 0;
		const char *bytes = source->bytes + at;
		size_t size = utf8_read(bytes, source->length - at, &c);
		struct cell cell = {bytes, size, shown.width};
		at += size ? size : 1;
		if (size && c == '\t') {
			cell.bytes = "        ";
			cell.size = TAB - (size_t)(shown.width % TAB);
			shown.width += (int)cell.size;
		} else if (!size || utf8_is_obeyed(c)) {
			cell.bytes = "?";
			cell.size = 1;
			shown.width++;
		} else {
			shown.width += utf8_width(c);
		}
		*array_add(arena, &shown.cells) = cell;
	}
	return shown;
}

static int column_of(const struct shown *shown, int character)
{
	size_t i = character > 0 ? (size_t)character - 1 : 0;
	if (i < shown->cells.count)
		return shown->cells.at[i].column;
	return shown->width + (int)(i - shown->cells.count);
}

static int digits(int n)
{
	return snprintf(NULL, 0, "%d", n);
}

/* Columns that a source line may have behind its number: less in a narrow terminal. */
static int room(FILE *stream, int margin)
{
	size_t columns = fit_columns(stream);
	int taken = margin + (int)strlen(" | ") + 2 * (int)strlen("...");
	return columns && (int)columns - taken < LINE_MOST ? (int)columns - taken : LINE_MOST;
}

static void print_line(struct span at, FILE *stream)
{
	struct arena *scratch = arena_open();
	struct shown shown = layout(scratch, at.source, source_offset(at.source, at.line, 1));
	int from = column_of(&shown, at.column);
	int to = at.end_line == at.line  ? column_of(&shown, at.end_column)
		 : at.end_line > at.line ? shown.width
					 : from + 1;
	if (to <= from)
		to = from + 1;

	int margin = digits(at.line) > 5 ? digits(at.line) : 5;
	int left = 0, right = shown.width > to ? shown.width : to, most = room(stream, margin);
	if (right > most) {
		left = from > most - LEAD ? from - LEAD : 0;
		if (right > left + most)
			right = left + most;
		if (to > right)
			to = right;
	}
	fprintf(stream, "%*d | %s", margin, at.line, left ? "..." : "");
	for (size_t i = 0; i < shown.cells.count; i++) {
		const struct cell *cell = &shown.cells.at[i];
		if (cell->column >= left && cell->column < right)
			fwrite(cell->bytes, 1, cell->size, stream);
	}
	fprintf(stream, "%s\n%*s | %*s^", shown.width > right ? "..." : "", margin, "",
		from - left + (left ? 3 : 0), "");
	for (int i = from + 1; i < to; i++)
		fputc('~', stream);
	fputc('\n', stream);
	arena_close(scratch);
}

/* A terminal that shows colours, in front of someone who wants them (no-color.org). */
static bool is_coloured(FILE *stream)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
	return !(no && *no) && term && strcmp(term, "dumb") != 0 && isatty(fileno(stream));
}

static void print_message(const struct diag_message *message, FILE *stream)
{
	static const char *const colours[] = {
		"\033[1;31m", "\033[1;35m", "\033[1;36m", "\033[1;36m"};
	static const char *const names[] = {"error", "warning", "note", "note"};
	struct span at = message->at;
	fprintf(stream, "%s:", at.source ? at.source->name : "lxplore");
	if (at.source && at.line > 0)
		fprintf(stream, "%d:%d:", at.line, at.column);
	bool coloured = is_coloured(stream);
	fprintf(stream, " %s%s:%s %s\n", coloured ? colours[message->severity] : "",
		names[message->severity], coloured ? "\033[0m" : "", message->text);
	if (at.source && at.line > 0)
		print_line(at, stream);
}

static void print_rest(size_t count, const char *what, FILE *stream)
{
	if (count > DIAG_MOST)
		fprintf(stream, "and %zu more %s%s\n", count - DIAG_MOST, what,
			count == DIAG_MOST + 1 ? "" : "s");
}

void diag_print(const struct diag *diag, FILE *stream)
{
	size_t folded = 0;
	for (size_t i = 0; i < diag->messages.count; i++) {
		bool fold = diag->folds && diag->messages.at[i].severity == SEVERITY_REMARK;
		folded += fold;
		if (!fold)
			print_message(&diag->messages.at[i], stream);
	}
	if (folded)
		fprintf(stream, "lxplore: %zu note%s on what was read; '-v' shows %s\n", folded,
			folded == 1 ? "" : "s", folded == 1 ? "it" : "them");
	print_rest(diag->errors, "error", stream);
	print_rest(diag->warnings, "warning", stream);
}
