#include "base/arena.h"
#include "base/bisect.h"
#include "base/diag.h"
#include "base/text.h"

/* Over one character, or one end of a line. */
static void advance(const struct source *source, struct source_mark *mark)
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
		advance(source, &mark);
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
		advance(source, &mark);
	while (mark.at < source->length && mark.column < column &&
		!utf8_break(source->bytes + mark.at, source->length - mark.at))
		advance(source, &mark);
	return mark.at;
}

static void locate(const struct source *source, size_t end, int *line, int *column)
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
		advance(source, &mark);
	*line = mark.line;
	*column = mark.column;
}

struct span source_span(const struct source *source, size_t from, size_t to)
{
	struct span span = {.source = source};
	locate(source, from, &span.line, &span.column);
	locate(source, to, &span.end_line, &span.end_column);
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
