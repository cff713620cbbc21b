#include "spec/table.h"

#include "base/array.h"
#include "base/text.h"
#include "spec/file.h"

#include <stdint.h>
#include <string.h>

static struct span table_part(const struct table *table, size_t from, size_t to)
{
	/* An error that is only counted needs no column; a row may be long. */
	if (diag_full(table->diag))
		return (struct span){table->source, table->line, 1, table->line, 2};
	const char *bytes = table->source->bytes;
	size_t start = table->row_from; /* of the line as YAML counts them */
	int line = table->line;
	for (size_t at = start; at < from; at++) {
		size_t end = utf8_break(bytes + at, from - at);
		line += end > 0;
		start = end ? at + end : start;
	}
	int column = 1 + (int)utf8_count(bytes + start, from - start);
	return (struct span){table->source, line, column, line,
		column + (int)utf8_count(bytes + from, to - from)};
}

struct span table_span(const struct table *table, size_t column)
{
	return table_part(table, table->cells[column].from, table->cells[column].to);
}

struct span table_row_span(const struct table *table)
{
	return table_part(table, table->row_from, table->row_to);
}

static bool table_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Finds the next line that is not empty.  Rows end at CR and LF; U+0085, U+2028 and U+2029 are
 * characters of a cell, though lines are counted with them. */
static bool table_find_row(struct table *table)
{
	const struct source *source = table->source;
	while (table->at < source->length) {
		bool content = false;
		size_t end = 0;
		table->line += 1 + table->inner;
		table->inner = 0;
		table->row_from = table->at;
		for (; table->at < source->length; table->at++) {
			const char *at = source->bytes + table->at;
			end = utf8_break(at, source->length - table->at);
			if (end && (*at == '\r' || *at == '\n'))
				break;
			table->inner += end > 0;
			end = 0;
			content |= !table_is_blank(*at);
		}
		table->row_to = table->at;
		table->at += end;
		if (content)
			return true;
	}
	return false;
}

static struct table_cell *add_cell(struct table *table, size_t count)
{
	if (count == table->room)
		table->cells = array_grown(
			table->arena, table->cells, count, &table->room, sizeof *table->cells);
	return &table->cells[count];
}

/* Complains about a row; of a table with `skips`, notes the complaint for the caller. */
static void table_refuse(struct table *table, struct span at, const char *why)
{
	if (table->skips) {
		table->wrong = why;
		table->wrong_at = at;
	} else {
		diag_error(table->diag, at, "%s", why);
	}
}

/* The cell at byte `at`, in quotes; its text goes to *text.  SIZE_MAX after complaining. */
static size_t read_quoted(struct table *table, size_t at, struct table_cell *cell, char **text)
{
	const char *bytes = table->source->bytes;
	for (at++; at < table->row_to; at++) {
		if (bytes[at] == '"' && at + 1 < table->row_to && bytes[at + 1] == '"')
			at++;
		else if (bytes[at] == '"')
			break;
		*(*text)++ = bytes[at];
	}
	if (at >= table->row_to) {
		table_refuse(table, table_part(table, cell->from, cell->from + 1),
			"the quote that begins here does not end on its line");
		return SIZE_MAX;
	}
	cell->to = ++at;
	while (at < table->row_to && table_is_blank(bytes[at]))
		at++;
	if (at < table->row_to && bytes[at] != ',') {
		table_refuse(table, table_part(table, at, at + 1),
			"a comma is expected after the closing quote");
		return SIZE_MAX;
	}
	return at;
}

static size_t read_bare(struct table *table, size_t at, struct table_cell *cell, char **text)
{
	const char *bytes = table->source->bytes;
	const char *comma = memchr(bytes + at, ',', table->row_to - at);
	size_t end = comma ? (size_t)(comma - bytes) : table->row_to;
	cell->to = end;
	while (cell->to > cell->from && table_is_blank(bytes[cell->to - 1]))
		cell->to--;
	memcpy(*text, bytes + at, cell->to - at);
	*text += cell->to - at;
	return end;
}

/* Takes the row apart; the number of its cells, 0 after complaining. */
static size_t read_cells(struct table *table)
{
	const char *bytes = table->source->bytes;
	size_t count = 0, at = table->row_from, need = 2 * (table->row_to - table->row_from + 1);
	if (need > table->texts_room) {
		table->texts_room = 2 * need;
		table->texts = arena_alloc(table->arena, table->texts_room);
	}
	char *text = table->texts;
	for (;; at++) {
		struct table_cell *cell = add_cell(table, count++);
		while (at < table->row_to && table_is_blank(bytes[at]))
			at++;
		*cell = (struct table_cell){text, at, at};
		at = at < table->row_to && bytes[at] == '"' ? read_quoted(table, at, cell, &text)
							    : read_bare(table, at, cell, &text);
		*text++ = '\0';
		if (at == SIZE_MAX)
			return 0;
		if (at >= table->row_to)
			return count;
	}
}

bool table_open(
	struct table *table, struct arena *arena, const struct source *source, struct diag *diag)
{
	*table = (struct table){.arena = arena, .source = source, .diag = diag};
	if (!file_check_characters(source, diag))
		return false;
	if (!table_find_row(table)) {
		diag_error(diag, (struct span){.source = source},
			"is empty; a row with the names of the columns is expected");
		return false;
	}
	table->column_count = read_cells(table);
	return table->column_count > 0;
}

bool table_next(struct table *table)
{
	while (table_find_row(table)) {
		table->wrong = NULL;
		size_t count = read_cells(table);
		if (count == table->column_count)
			return true;
		if (count)
			table_refuse(table, table_row_span(table),
				arena_format(table->arena,
					"this row has %zu cell%s; the header names %zu columns",
					count, count == 1 ? "" : "s", table->column_count));
		if (table->skips)
			return true;
	}
	return false;
}
