#include "report/run/listing.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { INDENT = 6, COLUMNS_MOST = 16 };

struct listing {
	struct arena *arena;
	const char *const *titles;
	size_t columns;
	struct array(const char *) cells;
};

struct listing *listing_open(struct arena *arena, const char *const *titles)
{
	struct listing *listing = arena_new(arena, struct listing);
	*listing = (struct listing){.arena = arena, .titles = titles};
	while (titles[listing->columns])
		listing->columns++;
	return listing;
}

void listing_cell(struct listing *listing, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	const char *text = arena_format_list(listing->arena, format, list);
	va_end(list);
	*array_add(listing->arena, &listing->cells) = text;
}

static bool is_left(const struct listing *listing, size_t column)
{
	return listing->titles[column][0] == '<';
}

/* Columns of a terminal. */
static int width_of(const char *text)
{
	int width = 0;
	size_t length = strlen(text);
	for (size_t i = 0; i < length;) {
		uint32_t c = 0;
		size_t size = utf8_read(text + i, length - i, &c);
		width += size ? utf8_width(c) : 1;
		i += size ? size : 1;
	}
	return width;
}

/* The width of each column, 0 where it is left out; answers that of a line without what is between cells, and
 * how many cells it has. */
static int measure(const struct listing *listing, int *widths, int *count)
{
	int sum = *count = 0;
	for (size_t c = 0; c < listing->columns; c++) {
		widths[c] = 0;
		for (size_t i = c; i < listing->cells.count; i += listing->columns) {
			int width = width_of(listing->cells.at[i]);
			widths[c] = width > widths[c] ? width : widths[c];
		}
		int title = width_of(listing->titles[c] + is_left(listing, c));
		if (widths[c] && title > widths[c])
			widths[c] = title;
		sum += widths[c];
		*count += widths[c] > 0;
	}
	return sum;
}

void listing_wrap(struct text *text, const char *words, size_t indent)
{
	for (bool first = true; *words || first; first = false) {
		size_t length = strlen(words), most = LISTING_WIDTH - indent;
		if (length > most) {
			size_t cut = most;
			while (cut > 0 && words[cut] != ' ')
				cut--;
			length = cut ? cut : strcspn(words, " ");
		}
		text_add(text, "%*s%.*s\n", first ? 0 : (int)indent, "", (int)length, words);
		words += length + strspn(words + length, " ");
	}
}

static void add_below(struct text *text, const char *cell)
{
	if (!*cell)
		return;
	text_add(text, "%*s", INDENT, "");
	listing_wrap(text, cell, INDENT);
}

static void add_line(struct text *text, const struct listing *listing, const char *const *cells,
	const int *widths, size_t columns, int between)
{
	int blanks = 0;
	for (size_t c = 0; c < columns; c++) {
		const char *cell = cells[c];
		if (!widths[c])
			continue;
		bool left = is_left(listing, c);
		if (cell == listing->titles[c])
			cell += left;
		int room = widths[c] - width_of(cell);
		if (*cell)
			text_add(text, "%*s%s", blanks + (left ? 0 : room), "", cell);
		blanks = (*cell ? (left ? room : 0) : blanks + widths[c]) + between;
	}
	text_add(text, "\n");
}

/* The cells of a row from `first` on, in one text. */
static const char *join_cells(const struct listing *listing, size_t row, size_t first)
{
	struct text text = text_open(listing->arena);
	for (size_t c = first; c < listing->columns; c++) {
		const char *cell = listing->cells.at[row + c];
		text_add(&text, "%s%s", *cell && text.length ? "  " : "", cell);
	}
	return text_read(&text);
}

const char *listing_text(const struct listing *listing)
{
	int widths[COLUMNS_MOST], count;
	struct text text = text_open(listing->arena);
	size_t columns = listing->columns;
	int width = measure(listing, widths, &count);
	for (; columns > 1 && width + count - 1 > LISTING_WIDTH; columns--) {
		width -= widths[columns - 1];
		count -= widths[columns - 1] > 0;
	}
	int between = width + 2 * (count - 1) <= LISTING_WIDTH ? 2 : 1;
	add_line(&text, listing, listing->titles, widths, columns, between);
	for (size_t i = 0; i + listing->columns <= listing->cells.count; i += listing->columns) {
		add_line(&text, listing, &listing->cells.at[i], widths, columns, between);
		add_below(&text, join_cells(listing, i, columns));
	}
	return text_read(&text);
}
