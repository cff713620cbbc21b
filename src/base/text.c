#include "base/text.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

size_t utf8_read(const char *at, size_t left, uint32_t *character)
{
	const unsigned char *bytes = (const unsigned char *)at;
	unsigned char first = bytes[0];
	if (first < 0x80) {
		*character = first;
		return 1;
	}
	size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
	if (first < 0xc2 || first > 0xf4 || length > left)
		return 0;
	uint32_t c = first & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (bytes[i] & 0x3fu);
	}
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	if (c < least[length] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*character = c;
	return length;
}

size_t utf8_count(const char *bytes, size_t length)
{
	size_t count = 0;
	for (size_t i = 0; i < length; count++) {
		uint32_t c;
		size_t size = utf8_read(bytes + i, length - i, &c);
		i += size ? size : 1;
	}
	return count;
}

int utf8_width(uint32_t c)
{
	static const struct {
		uint32_t first, last;
		int width;
	} table[] = {
		{0x0300, 0x036f, 0},   /* combining marks */
		{0x1100, 0x115f, 2},   /* Hangul */
		{0x200b, 0x200f, 0},   /* zero-width characters */
		{0x2e80, 0xa4cf, 2},   /* CJK */
		{0xac00, 0xd7a3, 2},   /* Hangul syllables */
		{0xf900, 0xfaff, 2},   /* CJK compatibility */
		{0xfe00, 0xfe0f, 0},   /* variation selectors */
		{0xfe30, 0xfe6f, 2},   /* CJK compatibility forms */
		{0xfeff, 0xfeff, 0},   /* byte order mark */
		{0xff00, 0xff60, 2},   /* full width */
		{0xffe0, 0xffe6, 2},   /* full width */
		{0x1f300, 0x1faff, 2}, /* pictures */
		{0x20000, 0x3fffd, 2}, /* CJK */
	};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (c >= table[i].first && c <= table[i].last)
			return table[i].width;
	return 1;
}

size_t utf8_break(const char *at, size_t left)
{
	if (at[0] == '\n')
		return 1;
	if (at[0] == '\r')
		return left > 1 && at[1] == '\n' ? 2 : 1;
	uint32_t c;
	size_t size = (unsigned char)at[0] < 0x80 ? 0 : utf8_read(at, left, &c);
	return size && (c == 0x85 || c == 0x2028 || c == 0x2029) ? size : 0;
}

size_t utf8_special(const char *from, unsigned *number)
{
	const unsigned char *at = (const unsigned char *)from;
	if (at[0] < 0x20 || at[0] == 0x7f)
		*number = at[0];
	else if (at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0)
		*number = at[1];
	else if (at[0] == 0xe2 && at[1] == 0x80 && (at[2] == 0xa8 || at[2] == 0xa9))
		*number = 0x2000u + (at[2] & 0x3f);
	else if (at[0] == 0xef && at[1] == 0xbb && at[2] == 0xbf)
		*number = 0xfeff;
	else
		return 0;
	return *number < 0x80 ? 1 : *number < 0x800 ? 2 : 3;
}

void utf8_escape(struct text *text, const char *line)
{
	while (*line) {
		unsigned number;
		size_t length = utf8_special(line, &number);
		if (length > 1 || *line == 0x7f)
			text_add(text, "\\u%04x", number);
		else
			text_bytes(text, line, length = 1);
		line += length;
	}
}

bool utf8_is_obeyed(uint32_t c)
{
	return (c < ' ' && c != '\n' && c != '\t') || (c >= 0x7f && c < 0xa0) || c == 0x61c ||
	       c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069);
}

const char *utf8_shown(struct arena *arena, const char *text)
{
	size_t length = strlen(text), from = 0;
	struct text out = text_open(arena);
	for (size_t i = 0; i < length;) {
		uint32_t c = 0;
		size_t size = utf8_read(text + i, length - i, &c);
		if (size && !utf8_is_obeyed(c)) {
			i += size;
			continue;
		}
		text_bytes(&out, text + from, i - from);
		text_add(&out, size ? "\\u%04x" : "\\x%02x",
			size ? (unsigned)c : (unsigned)(unsigned char)text[i]);
		i += size ? size : 1;
		from = i;
	}
	if (!from)
		return text;
	text_bytes(&out, text + from, length - from);
	return text_read(&out);
}

void utf8_put(FILE *file, const char *text)
{
	size_t length = strlen(text);
	for (size_t i = 0, size; i < length; i += size ? size : 1) {
		uint32_t c = 0;
		size = utf8_read(text + i, length - i, &c);
		if (size && !utf8_is_obeyed(c))
			fwrite(text + i, 1, size, file);
		else
			fprintf(file, size ? "\\u%04x" : "\\x%02x",
				size ? (unsigned)c : (unsigned)(unsigned char)text[i]);
	}
}

void utf8_print(FILE *file, const char *format, ...)
{
	struct arena *arena = arena_open();
	va_list list;
	va_start(list, format);
	utf8_put(file, fit_stream(arena, file, arena_format_list(arena, format, list)));
	va_end(list);
	arena_close(arena);
}

struct text text_open(struct arena *arena)
{
	return (struct text){.arena = arena};
}

static void text_reserve(struct text *text, size_t more)
{
	size_t need = text->length + more + 1;
	if (need <= text->capacity)
		return;
	size_t capacity = text->capacity ? text->capacity * 2 : 64;
	while (capacity < need)
		capacity *= 2;
	char *at = arena_alloc(text->arena, capacity);
	if (text->length)
		memcpy(at, text->at, text->length);
	text->at = at;
	text->capacity = capacity;
}

void text_bytes(struct text *text, const char *bytes, size_t count)
{
	text_reserve(text, count);
	if (count)
		memcpy(text->at + text->length, bytes, count);
	text->length += count;
	text->at[text->length] = '\0';
}

void text_add(struct text *text, const char *format, ...)
{
	va_list list, again;
	va_start(list, format);
	va_copy(again, list);
	int length = vsnprintf(NULL, 0, format, list);
	va_end(list);
	text_reserve(text, (size_t)length);
	vsnprintf(text->at + text->length, (size_t)length + 1, format, again);
	va_end(again);
	text->length += (size_t)length;
}

void text_fold(struct text *text, size_t width, const char *indent, const char *sentence)
{
	size_t column = 0;
	while (*(sentence += strspn(sentence, " "))) {
		size_t length = strcspn(sentence, " ");
		bool begins = column == 0 || column + 1 + length > width;
		if (begins)
			text_add(text, "%s%s", column ? "\n" : "", indent);
		column = begins ? strlen(indent) : column + 1;
		text_add(text, "%s%.*s", begins ? "" : " ", (int)length, sentence);
		column += length;
		sentence += length;
	}
	text_add(text, "\n");
}

const char *text_read(const struct text *text)
{
	return text->at ? text->at : "";
}

const char *text_of_file(struct arena *arena, const char *path)
{
	FILE *file = fopen(path, "rb");
	if (!file)
		return NULL;
	struct text text = text_open(arena);
	char bytes[4096];
	size_t count;
	while ((count = fread(bytes, 1, sizeof bytes, file)) > 0)
		text_bytes(&text, bytes, count);
	int error = ferror(file) ? errno : 0;
	fclose(file);
	errno = error;
	return error ? NULL : text_read(&text);
}

bool text_equal(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " \t");
}

bool scan_text(const char **at, const char *text)
{
	const char *from = skip_blanks(*at);
	size_t length = strlen(text);
	if (strncmp(from, text, length))
		return false;
	*at = from + length;
	return true;
}

bool scan_integer(const char **at, int64_t *out)
{
	const char *from = skip_blanks(*at);
	size_t length = strspn(from, "0123456789");
	int64_t value = 0;
	for (size_t i = 0; i < length; i++) {
		if (!number_mul(value, 10, &value) || !number_add(value, from[i] - '0', &value))
			return false;
	}
	if (!length)
		return false;
	*at = from + length;
	*out = value;
	return true;
}

bool scan_end(const char **at)
{
	const char *from = skip_blanks(*at);
	if (*from)
		return false;
	*at = from;
	return true;
}

char scan_next(struct scan *scan)
{
	scan->at += strspn(scan->text + scan->at, scan->blanks);
	return scan->text[scan->at];
}

bool scan_take(struct scan *scan, char wanted)
{
	bool found = scan_next(scan) == wanted;
	scan->at += found;
	return found;
}

const char *scan_word(struct scan *scan, const char *also)
{
	const char *text = scan->text;
	if (!scan_is_letter(scan_next(scan)))
		return NULL;
	size_t from = scan->at;
	while (scan_is_letter(text[scan->at]) || scan_is_digit(text[scan->at]) ||
		(text[scan->at] && strchr(also, text[scan->at])))
		scan->at++;
	return arena_format(scan->arena, "%.*s", (int)(scan->at - from), text + from);
}

bool scan_fail(struct scan *scan, size_t from, size_t to, const char *text)
{
	*scan->fault = (struct scan_fault){from, to, text};
	return false;
}

bool scan_fail_next(struct scan *scan, const char *wanted)
{
	char c = scan_next(scan);
	size_t end = scan->at + 1;
	while (c & 0x80 && (scan->text[end] & 0xc0) == 0x80) /* the rest of a UTF-8 character */
		end++;
	if (!c || c == '\n')
		return scan_fail(scan, scan->at, scan->at,
			arena_format(scan->arena, "the %s ends where %s is expected", scan->what,
				wanted));
	return scan_fail(scan, scan->at, end,
		arena_format(scan->arena, "'%.*s' stands where %s is expected",
			(int)(end - scan->at), scan->text + scan->at, wanted));
}

enum {
	GUTTER = 2, /* blanks between columns */
	INDENT = 2, /* more of a line that goes on */
};

/* A line by positions on the screen: `offsets` has the byte where each begins, and one more for the end. */
struct edit_line {
	const char *at;
	size_t *offsets, width;
};

struct lines {
	struct arena *arena;
	struct edit_line *at;
	size_t count;
	size_t limit; /* columns of the window */
};

struct edit_column {
	size_t from, end; /* positions */
	bool right;       /* cells end at `end` */
};

struct columns {
	struct edit_column *at;
	size_t count;
};

static struct edit_line edit_line_measure(struct arena *arena, const char *at, size_t length)
{
	struct edit_line line = {.at = at, .offsets = arena_array(arena, size_t, 2 * length + 1)};
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

static bool edit_line_is_blank(const struct edit_line *line, size_t position)
{
	return position >= line->width || line->at[line->offsets[position]] == ' ';
}

static bool is_blank_in_all(const struct lines *lines, size_t position)
{
	for (size_t i = 0; i < lines->count; i++)
		if (!edit_line_is_blank(&lines->at[i], position))
			return false;
	return true;
}

static size_t lines_widest(const struct lines *lines)
{
	size_t most = 0;
	for (size_t i = 0; i < lines->count; i++)
		if (lines->at[i].width > most)
			most = lines->at[i].width;
	return most;
}

/* The part of a line between two positions, without blanks at its ends. */
static struct edit_line edit_line_cell(
	const struct edit_line *line, const struct edit_column *column)
{
	size_t end = column->end < line->width ? column->end : line->width;
	size_t from = column->from < end ? column->from : end; /* the line may end before it */
	while (from < end && edit_line_is_blank(line, from))
		from++;
	while (end > from && edit_line_is_blank(line, end - 1))
		end--;
	return (struct edit_line){line->at, line->offsets + from, end - from};
}

static bool ends_right(const struct lines *lines, const struct edit_column *column)
{
	size_t left = 0, right = 0;
	for (size_t i = 0; i < lines->count; i++) {
		left += !edit_line_is_blank(&lines->at[i], column->from);
		right += !edit_line_is_blank(&lines->at[i], column->end - 1);
	}
	return right > left;
}

/* Returns the columns between gutters; at most one if the lines are not a table.  Blanks before the first belong to
 * it. */
static struct columns find_columns(const struct lines *lines)
{
	struct array(struct edit_column) found = {0};
	size_t width = lines_widest(lines), from = 0;
	while (from < width) {
		size_t end = from, blanks = 0, at = from;
		for (; at < width && blanks < GUTTER; at++) {
			blanks = is_blank_in_all(lines, at) && end > from ? blanks + 1 : 0;
			if (!is_blank_in_all(lines, at))
				end = at + 1;
		}
		struct edit_column *column = array_add(lines->arena, &found);
		*column = (struct edit_column){from, end, false};
		for (from = at; from < width && is_blank_in_all(lines, from);)
			from++;
	}
	for (size_t c = 0; c < found.count; c++)
		found.at[c].right = ends_right(lines, &found.at[c]);
	return (struct columns){found.at, found.count};
}

/* Returns the number of positions of a part that fit: up to the last blank before the limit, or the first word. */
static size_t edit_line_take(const struct edit_line *part, size_t room)
{
	size_t end = part->width;
	if (end <= room)
		return end;
	for (end = room; end > 0 && !edit_line_is_blank(part, end); end--)
		;
	while (end > 0 && edit_line_is_blank(part, end - 1))
		end--;
	if (end == 0)
		while (end < part->width && !edit_line_is_blank(part, end))
			end++;
	return end;
}

static struct edit_line edit_line_rest(const struct edit_line *part, size_t taken)
{
	while (taken < part->width && edit_line_is_blank(part, taken))
		taken++;
	return (struct edit_line){part->at, part->offsets + taken, part->width - taken};
}

static void add_blanks(struct text *text, size_t count)
{
	text_add(text, "%*s", (int)count, "");
}

static void edit_line_add_part(struct text *text, const struct edit_line *part, size_t count)
{
	if (count)
		text_bytes(
			text, part->at + part->offsets[0], part->offsets[count] - part->offsets[0]);
}

/* Adds a line that does not belong to a table. */
static void add_broken(struct text *text, const struct edit_line *line, size_t limit)
{
	size_t indent = 0, taken;
	while (indent < line->width && edit_line_is_blank(line, indent))
		indent++;
	indent = indent < limit / 2 ? indent : 0;
	struct edit_line left = edit_line_rest(line, 0);
	for (bool first = true; first || left.width; first = false) {
		size_t before = first ? indent : indent + INDENT;
		taken = edit_line_take(&left, limit - before);
		add_blanks(text, left.width ? before : 0);
		edit_line_add_part(text, &left, taken);
		text_add(text, "\n");
		left = edit_line_rest(&left, taken);
	}
}

/* Columns `from` to `end` and the first, and how wide each may be. */
struct group {
	const struct columns *columns;
	size_t from, end;
	size_t *widths; /* of all columns */
};

/* One row: as many lines as the cell that is broken most often. */
static void edit_add_row(struct text *text, const struct edit_line *line, const struct group *group)
{
	size_t count = group->columns->count;
	struct edit_line *left = arena_array(text->arena, struct edit_line, count);
	for (size_t c = 0; c < count; c++)
		left[c] = edit_line_cell(line, &group->columns->at[c]);
	size_t margin = 0;
	while (margin < line->width && margin < group->columns->at[0].end &&
		edit_line_is_blank(line, margin))
		margin++;
	bool again = true;
	for (bool first = true; again; first = false) {
		size_t owed = 0;
		again = false;
		for (size_t c = 0; c < group->end; c = c ? c + 1 : group->from) {
			const struct edit_column *column = &group->columns->at[c];
			size_t width = group->widths[c], taken = edit_line_take(&left[c], width);
			size_t unused = width > taken ? width - taken : 0;
			size_t before = column->right ? unused : 0;
			if (c == 0 && !column->right)
				before = first && margin < unused ? margin : first ? unused : 0;
			owed += before;
			if (taken) {
				add_blanks(text, owed);
				owed = 0;
			}
			edit_line_add_part(text, &left[c], taken);
			owed += unused - before + GUTTER;
			left[c] = edit_line_rest(&left[c], taken);
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
			edit_add_row(
				text, &lines->at[i], &(struct group){columns, from, end, widths});
		from = end;
	}
}

static void add_block(struct text *text, const struct lines *lines)
{
	struct columns columns = {0};
	if (lines_widest(lines) > lines->limit && lines->count > 1)
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
		struct array(struct edit_line) found = {0};
		for (size_t length; *all && *all != '\n'; all += length + (all[length] == '\n')) {
			length = strcspn(all, "\n");
			*array_add(arena, &found) = edit_line_measure(arena, all, length);
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
