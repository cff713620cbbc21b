#include "base/diag.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
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
static const char *diag_clean(struct arena *arena, const char *text)
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

static bool diag_message_is_known(const struct diag *diag, struct diag_message message)
{
	for (size_t i = 0; i < diag->messages.count; i++) {
		const struct diag_message *other = &diag->messages.at[i];
		if (other->severity == message.severity && same_span(other->at, message.at) &&
			text_equal(other->text, message.text))
			return true;
	}
	return false;
}

static void message_add(
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
	struct diag_message message = {severity, at, diag_clean(diag->arena, text), diag->illegal};
	if (severity != SEVERITY_NOTE) {
		diag->dropping = diag_message_is_known(diag, message);
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
	message_add(diag, severity, source_told(at), format, list);
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
		if (diag_message_is_known(diag, message))
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

static struct shown diag_layout(struct arena *arena, const struct source *source, size_t at)
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

static int diag_digits(int n)
{
	return snprintf(NULL, 0, "%d", n);
}

/* Columns that a source line may have behind its number: less in a narrow terminal. */
static int diag_room(FILE *stream, int margin)
{
	size_t columns = fit_columns(stream);
	int taken = margin + (int)strlen(" | ") + 2 * (int)strlen("...");
	return columns && (int)columns - taken < LINE_MOST ? (int)columns - taken : LINE_MOST;
}

static void print_line(struct span at, FILE *stream)
{
	struct arena *scratch = arena_open();
	struct shown shown = diag_layout(scratch, at.source, source_offset(at.source, at.line, 1));
	int from = column_of(&shown, at.column);
	int to = at.end_line == at.line  ? column_of(&shown, at.end_column)
		 : at.end_line > at.line ? shown.width
					 : from + 1;
	if (to <= from)
		to = from + 1;

	int margin = diag_digits(at.line) > 5 ? diag_digits(at.line) : 5;
	int left = 0, right = shown.width > to ? shown.width : to, most = diag_room(stream, margin);
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

/* Over one character, or one end of a line. */
static void source_mark_advance(const struct source *source, struct source_mark *mark)
{
	uint32_t character;
	size_t left = source->length - mark->at;
	size_t size = utf8_break(source->bytes + mark->at, left);
	if (size) {
		mark->line++;
		mark->column = 1;
	} else {
		size = utf8_read(source->bytes + mark->at, left, &character);
		mark->column++;
	}
	mark->at += size ? size : 1;
}

enum { MARK_BYTES = 512 };

void source_mark(struct arena *arena, struct source *source)
{
	struct source_mark mark = {0, 1, 1};
	struct source_mark *marks =
		arena_array(arena, struct source_mark, source->length / MARK_BYTES + 1);
	source->mark_count = 0;
	while (mark.at < source->length) {
		if (mark.at >= source->mark_count * MARK_BYTES)
			marks[source->mark_count++] = mark;
		source_mark_advance(source, &mark);
	}
	source->marks = marks;
}

/* True if the mark stands at the place or before it. */
static bool is_at_most(const struct source_mark *mark, int line, int column)
{
	return mark->line < line || (mark->line == line && mark->column <= column);
}

size_t source_offset(const struct source *source, int line, int column)
{
	struct source_mark mark = {0, 1, 1};
	size_t behind;
	bisect(behind, 0, source->mark_count, is_at_most(&source->marks[behind], line, column));
	if (behind)
		mark = source->marks[behind - 1];
	while (mark.at < source->length && mark.line < line)
		source_mark_advance(source, &mark);
	while (mark.at < source->length && mark.column < column &&
		!utf8_break(source->bytes + mark.at, source->length - mark.at))
		source_mark_advance(source, &mark);
	return mark.at;
}

static void diag_locate(const struct source *source, size_t end, int *line, int *column)
{
	struct source_mark mark = {0, 1, 1};
	size_t i = end / MARK_BYTES;
	if (i >= source->mark_count)
		i = source->mark_count ? source->mark_count - 1 : 0;
	if (i && source->marks[i].at > end)
		i--;
	if (source->mark_count)
		mark = source->marks[i];
	while (mark.at < end && mark.at < source->length)
		source_mark_advance(source, &mark);
	*line = mark.line;
	*column = mark.column;
}

struct span source_span(const struct source *source, size_t from, size_t to)
{
	struct span span = {.source = source};
	diag_locate(source, from, &span.line, &span.column);
	diag_locate(source, to, &span.end_line, &span.end_column);
	return span;
}

static bool begins_at_most(const struct source_piece *piece, size_t at)
{
	return piece->at <= at;
}

struct span source_told(struct span span)
{
	const struct source *source = span.source;
	if (!source || !source->piece_count)
		return span;
	if (!span.line)
		return (struct span){.source = source->pieces[0].source};
	size_t from = source_offset(source, span.line, span.column), behind;
	size_t to = source_offset(source, span.end_line, span.end_column);
	bisect(behind, 0, source->piece_count, begins_at_most(&source->pieces[behind], from));
	const struct source_piece *piece = &source->pieces[behind ? behind - 1 : 0];
	size_t end = behind < source->piece_count ? source->pieces[behind].at : source->length;
	to = to > end ? end : to;
	struct span told = source_span(piece->source, piece->from + (from - piece->at),
		piece->from + ((to > from ? to : from) - piece->at));
	return source_told(told);
}

enum { LONGEST = 64 }; /* bytes; longer words get no suggestion */

static char letter_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static int diag_least(int a, int b)
{
	return a < b ? a : b;
}

/* Insertions, deletions, substitutions and swaps of neighbours; case is free. */
static int diag_distance(const char *a, size_t n, const char *b, size_t m)
{
	int rows[3][LONGEST + 1];
	int *before = rows[0], *last = rows[1], *now = rows[2];
	for (size_t j = 0; j <= m; j++)
		last[j] = (int)j;
	for (size_t i = 1; i <= n; i++) {
		now[0] = (int)i;
		for (size_t j = 1; j <= m; j++) {
			char x = letter_lower(a[i - 1]), y = letter_lower(b[j - 1]);
			now[j] = diag_least(
				last[j - 1] + (x != y), 1 + diag_least(last[j], now[j - 1]));
			if (i > 1 && j > 1 && x == letter_lower(b[j - 2]) &&
				letter_lower(a[i - 2]) == y)
				now[j] = diag_least(now[j], before[j - 2] + 1);
		}
		int *row = before;
		before = last;
		last = now;
		now = row;
	}
	return last[m];
}

/* The nearest of the words at most `limit` away; `longer`: or one that `word` begins. */
static const char *nearest_word(
	const char *word, size_t length, const char *const *known, int limit, bool longer)
{
	const char *nearest = NULL;
	int best = 2 * limit + 2;
	for (; *known; known++) {
		size_t size = strlen(*known);
		if (size > LONGEST)
			continue;
		bool begins = longer && length >= 3 && strncasecmp(word, *known, length) == 0;
		int d = diag_distance(word, length, *known, size);
		if (!begins && (d > limit || d >= (int)length))
			continue;
		int rank = 2 * diag_least(d, limit) + !begins;
		if (rank < best) {
			best = rank;
			nearest = *known;
		}
	}
	return nearest;
}

const char *suggest(const char *word, const char *const *known)
{
	size_t length = strlen(word);
	if (length == 0 || length > LONGEST)
		return NULL;
	return nearest_word(word, length, known, 1 + (int)length / 4, true);
}

const char *suggestion(struct arena *arena, const char *near, const char *otherwise)
{
	return near ? arena_format(arena, "; did you mean '%s'?", near) : otherwise;
}

const char *suggest_misspelt(const char *word, const char *const *known)
{
	size_t length = strlen(word);
	if (length == 0 || length > LONGEST)
		return NULL;
	return nearest_word(word, length, known, 1 + (int)length / 8, false);
}
