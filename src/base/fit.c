#include "base/fit.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
	GUTTER = 2, /* blanks between columns */
	INDENT = 2, /* more of a line that goes on */
};

/* A line by positions on the screen: `offsets` has the byte where each begins, and one more for the end. */
struct line {
	const char *at;
	size_t *offsets, width;
};

struct lines {
	struct arena *arena;
	struct line *at;
	size_t count;
	size_t limit; /* columns of the window */
};

struct column {
	size_t from, end; /* positions */
	bool right;       /* cells end at `end` */
};

struct columns {
	struct column *at;
	size_t count;
};

static struct line measure(struct arena *arena, const char *at, size_t length)
{
	struct line line = {.at = at, .offsets = arena_array(arena, size_t, 2 * length + 1)};
	for (size_t i = 0; i < length;) {
		uint32_t c = '?';
		size_t size = utf8_read(at + i, length - i, &c);
		for (int w = size ? utf8_width(c) : 1; w > 0; w--)
			line.offsets[line.width++] = i;
		i += size ? size : 1;
		line.offsets[line.width] = i;
	}
	while (line.width && at[line.offsets[line.width - 1]] == ' ')
		line.width--;
	return line;
}

static bool is_blank(const struct line *line, size_t position)
{
	return position >= line->width || line->at[line->offsets[position]] == ' ';
}

static bool is_blank_in_all(const struct lines *lines, size_t position)
{
	for (size_t i = 0; i < lines->count; i++)
		if (!is_blank(&lines->at[i], position))
			return false;
	return true;
}

static size_t widest(const struct lines *lines)
{
	size_t most = 0;
	for (size_t i = 0; i < lines->count; i++)
		if (lines->at[i].width > most)
			most = lines->at[i].width;
	return most;
}

/* The part of a line between two positions, without blanks at its ends. */
static struct line cell(const struct line *line, const struct column *column)
{
	size_t from = column->from, end = column->end < line->width ? column->end : line->width;
	while (from < end && is_blank(line, from))
		from++;
	while (end > from && is_blank(line, end - 1))
		end--;
	return (struct line){line->at, line->offsets + from, end - from};
}

static bool ends_right(const struct lines *lines, const struct column *column)
{
	size_t left = 0, right = 0;
	for (size_t i = 0; i < lines->count; i++) {
		left += !is_blank(&lines->at[i], column->from);
		right += !is_blank(&lines->at[i], column->end - 1);
	}
	return right > left;
}

/* Returns the columns between gutters; at most one if the lines are not a table.  Blanks before the first belong to
 * it. */
static struct columns find_columns(const struct lines *lines)
{
	struct array(struct column) found = {0};
	size_t width = widest(lines), from = 0;
	while (from < width) {
		size_t end = from, blanks = 0, at = from;
		for (; at < width && blanks < GUTTER; at++) {
			blanks = is_blank_in_all(lines, at) && end > from ? blanks + 1 : 0;
			if (!is_blank_in_all(lines, at))
				end = at + 1;
		}
		struct column *column = array_add(lines->arena, &found);
		*column = (struct column){from, end, false};
		for (from = at; from < width && is_blank_in_all(lines, from);)
			from++;
	}
	for (size_t c = 0; c < found.count; c++)
		found.at[c].right = ends_right(lines, &found.at[c]);
	return (struct columns){found.at, found.count};
}

/* Returns the number of positions of a part that fit: up to the last blank before the limit, or the first word. */
static size_t take(const struct line *part, size_t room)
{
	size_t end = part->width;
	if (end <= room)
		return end;
	for (end = room; end > 0 && !is_blank(part, end); end--)
		;
	while (end > 0 && is_blank(part, end - 1))
		end--;
	if (end == 0)
		while (end < part->width && !is_blank(part, end))
			end++;
	return end;
}

static struct line rest_of(const struct line *part, size_t taken)
{
	while (taken < part->width && is_blank(part, taken))
		taken++;
	return (struct line){part->at, part->offsets + taken, part->width - taken};
}

static void add_blanks(struct text *text, size_t count)
{
	text_add(text, "%*s", (int)count, "");
}

static void add_part(struct text *text, const struct line *part, size_t count)
{
	if (count)
		text_bytes(
			text, part->at + part->offsets[0], part->offsets[count] - part->offsets[0]);
}

/* Adds a line that does not belong to a table. */
static void add_broken(struct text *text, const struct line *line, size_t limit)
{
	size_t indent = 0, taken;
	while (indent < line->width && is_blank(line, indent))
		indent++;
	indent = indent < limit / 2 ? indent : 0;
	struct line left = rest_of(line, 0);
	for (bool first = true; first || left.width; first = false) {
		size_t before = first ? indent : indent + INDENT;
		taken = take(&left, limit - before);
		add_blanks(text, left.width ? before : 0);
		add_part(text, &left, taken);
		text_add(text, "\n");
		left = rest_of(&left, taken);
	}
}

/* Columns `from` to `end` and the first, and how wide each may be. */
struct group {
	const struct columns *columns;
	size_t from, end;
	size_t *widths; /* of all columns */
};

/* One row: as many lines as the cell that is broken most often. */
static void add_row(struct text *text, const struct line *line, const struct group *group)
{
	size_t count = group->columns->count;
	struct line *left = arena_array(text->arena, struct line, count);
	for (size_t c = 0; c < count; c++)
		left[c] = cell(line, &group->columns->at[c]);
	size_t margin = 0;
	while (margin < line->width && margin < group->columns->at[0].end && is_blank(line, margin))
		margin++;
	bool again = true;
	for (bool first = true; again; first = false) {
		size_t owed = 0;
		again = false;
		for (size_t c = 0; c < group->end; c = c ? c + 1 : group->from) {
			const struct column *column = &group->columns->at[c];
			size_t width = group->widths[c], taken = take(&left[c], width);
			size_t unused = width > taken ? width - taken : 0;
			size_t before = column->right ? unused : 0;
			if (c == 0 && !column->right)
				before = first && margin < unused ? margin : first ? unused : 0;
			owed += before;
			if (taken) {
				add_blanks(text, owed);
				owed = 0;
			}
			add_part(text, &left[c], taken);
			owed += unused - before + GUTTER;
			left[c] = rest_of(&left[c], taken);
			again |= left[c].width > 0;
		}
		text_add(text, "\n");
	}
}

/* Groups of columns, one below the other. */
static void add_table(struct text *text, const struct lines *lines, const struct columns *columns)
{
	size_t *widths = arena_array(lines->arena, size_t, columns->count), all = 0;
	size_t first = columns->at[0].end, last = columns->count - 1;
	for (size_t c = 0; c < columns->count; c++) {
		widths[c] = columns->at[c].end - columns->at[c].from;
		all += c < last ? widths[c] + GUTTER : 0;
	}
	if (first > lines->limit / 2)
		first = widths[0] = lines->limit / 2;
	if (all + lines->limit / 3 <= lines->limit)
		widths[last] = lines->limit - all;
	for (size_t from = 1; from < columns->count;) {
		size_t end = from, width = first;
		for (; end < columns->count && width + GUTTER + widths[end] <= lines->limit; end++)
			width += GUTTER + widths[end];
		if (end == from)
			widths[end++] = lines->limit - first - GUTTER;
		if (from > 1)
			text_add(text, "\n");
		for (size_t i = 0; i < lines->count; i++)
			add_row(text, &lines->at[i], &(struct group){columns, from, end, widths});
		from = end;
	}
}

static void add_block(struct text *text, const struct lines *lines)
{
	struct columns columns = {0};
	if (widest(lines) > lines->limit && lines->count > 1)
		columns = find_columns(lines);
	if (columns.count > 1) {
		add_table(text, lines, &columns);
		return;
	}
	for (size_t i = 0; i < lines->count; i++) {
		if (lines->at[i].width > lines->limit)
			add_broken(text, &lines->at[i], lines->limit);
		else
			text_add(text, "%.*s\n", (int)strcspn(lines->at[i].at, "\n"),
				lines->at[i].at);
	}
}

const char *fit_text(struct arena *arena, const char *all, size_t limit)
{
	struct text text = text_open(arena);
	size_t length_of_all = strlen(all);
	bool is_ended = length_of_all && all[length_of_all - 1] == '\n';
	while (*all) {
		struct array(struct line) found = {0};
		for (size_t length; *all && *all != '\n'; all += length + (all[length] == '\n')) {
			length = strcspn(all, "\n");
			*array_add(arena, &found) = measure(arena, all, length);
		}
		add_block(&text, &(struct lines){arena, found.at, found.count, limit});
		for (; *all == '\n'; all++)
			text_add(&text, "\n");
	}
	if (!is_ended && text.length)
		text.at[--text.length] = '\0';
	return text_read(&text);
}

size_t fit_columns(FILE *stream)
{
	enum { USUAL = 80, LEAST = 40 };
	struct winsize size;
	int file = fileno(stream);
	if (file < 0 || !isatty(file))
		return 0;
	size_t columns = ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : USUAL;
	return columns < LEAST ? LEAST : columns;
}

const char *fit_stream(struct arena *arena, FILE *stream, const char *text)
{
	size_t columns = fit_columns(stream);
	return columns ? fit_text(arena, text, columns) : text;
}
