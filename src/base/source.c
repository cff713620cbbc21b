#include "base/diag.h"
#include "base/utf8.h"

size_t source_offset(const struct source *source, int line, int column)
{
	size_t at = 0;
	for (int l = 1; l < line && at < source->length;) {
		size_t size = utf8_break(source->bytes + at, source->length - at);
		l += size > 0;
		at += size ? size : 1;
	}
	for (int c = 1; c < column && at < source->length; c++) {
		uint32_t character;
		size_t left = source->length - at;
		if (utf8_break(source->bytes + at, left))
			break;
		size_t size = utf8_read(source->bytes + at, left, &character);
		at += size ? size : 1;
	}
	return at;
}

static void locate(const struct source *source, size_t end, int *line, int *column)
{
	*line = *column = 1;
	for (size_t at = 0; at < end && at < source->length;) {
		uint32_t character;
		size_t left = source->length - at;
		size_t size = utf8_break(source->bytes + at, left);
		if (size) {
			++*line;
			*column = 1;
		} else {
			size = utf8_read(source->bytes + at, left, &character);
			++*column;
		}
		at += size ? size : 1;
	}
}

struct span source_span(const struct source *source, size_t from, size_t to)
{
	struct span span = {.source = source};
	locate(source, from, &span.line, &span.column);
	locate(source, to, &span.end_line, &span.end_column);
	return span;
}
