#include "report/run/listing.h"

#include "base/amount.h"
#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "base/text.h"
#include "report/run/json.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { INDENT = 6, COLUMNS_MOST = 16, WRAPPED_LEAST = 20 };

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
	return strchr("<=", listing->titles[column][0]) && listing->titles[column][0];
}

/* Columns of a terminal. */
static int listing_width(const char *text)
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
static int listing_measure(const struct listing *listing, int *widths, int *count)
{
	int sum = *count = 0;
	for (size_t c = 0; c < listing->columns; c++) {
		widths[c] = 0;
		for (size_t i = c; i < listing->cells.count; i += listing->columns) {
			int width = listing_width(listing->cells.at[i]);
			widths[c] = width > widths[c] ? width : widths[c];
		}
		int title = listing_width(listing->titles[c] + is_left(listing, c));
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

static void listing_add_line(struct text *text, const struct listing *listing,
	const char *const *cells, const int *widths, size_t columns, int between)
{
	int blanks = 0;
	size_t indent = 0;
	for (size_t c = 0; c < columns; c++) {
		const char *cell = cells[c];
		if (!widths[c])
			continue;
		bool left = is_left(listing, c);
		if (cell == listing->titles[c])
			cell += left;
		if (listing_width(cell) > widths[c]) {
			text_add(text, "%*s", blanks, "");
			listing_wrap(text, cell, indent);
			return;
		}
		indent += (size_t)(widths[c] + between);
		int room = widths[c] - listing_width(cell);
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
	int width = listing_measure(listing, widths, &count);
	int last = widths[columns - 1], room = LISTING_WIDTH - (width - last) - 2 * (count - 1);
	int least = last / 3 < WRAPPED_LEAST ? last / 3 : WRAPPED_LEAST;
	if (room < WRAPPED_LEAST)
		room += count - 1; /* with one blank between columns */
	if (listing->titles[columns - 1][0] == '=' && room >= least && room < last) {
		width += room - last;
		widths[columns - 1] = room;
	}
	for (; columns > 1 && width + count - 1 > LISTING_WIDTH; columns--) {
		width -= widths[columns - 1];
		count -= widths[columns - 1] > 0;
	}
	int between = width + 2 * (count - 1) <= LISTING_WIDTH ? 2 : 1;
	listing_add_line(&text, listing, listing->titles, widths, columns, between);
	for (size_t i = 0; i + listing->columns <= listing->cells.count; i += listing->columns) {
		listing_add_line(&text, listing, &listing->cells.at[i], widths, columns, between);
		add_below(&text, join_cells(listing, i, columns));
	}
	return text_read(&text);
}

/* --- trees */

/* A tree that patterns are filled from, and its key in the tree around it. */
struct result_place {
	const json_t *tree;
	const char *key;
	const struct amount_unit *unit; /* of the column; NULL: that of the value */
};

static const json_t *value_at(struct arena *arena, const json_t *tree, const char *path)
{
	while (tree && *path) {
		size_t length = strcspn(path, ".");
		const char *key = arena_format(arena, "%.*s", (int)length, path);
		tree = json_is_array(tree) ? json_array_get(tree, strtoul(key, NULL, 10))
					   : json_object_get(tree, key);
		path += length + (path[length] == '.');
	}
	return json_is_null(tree) ? NULL : tree;
}

static const char *listing_value_text(struct arena *arena, const json_t *value, const char *key,
	char form, const struct amount_unit *unit)
{
	struct text text = text_open(arena);
	const char *name;
	json_t *child;
	size_t i;
	json_array_foreach(value, i, child)
		text_add(&text, "%s%s", i ? ", " : "",
			listing_value_text(arena, child, key, form, unit));
	json_object_foreach((json_t *)value, name, child)
		text_add(&text, "%s%s %s", text.length ? ", " : "", name,
			listing_value_text(arena, child, name, form, unit));
	if (json_is_array(value) || json_is_object(value))
		return text_read(&text);
	enum amount kind = amount_of_column(key);
	double number = json_number_value(value);
	if (!json_is_number(value))
		return json_leaf_text(arena, value);
	if (form == '%')
		return amount_share(arena, number);
	if (form != '#' && kind != AMOUNT_NUMBER)
		return amount_in(arena, number, unit ? unit : amount_unit(kind, number));
	if (form == '#' && json_is_real(value))
		return arena_format(arena, "%.17g", number);
	return json_is_real(value) ? amount_number(arena, number) : json_leaf_text(arena, value);
}

/* The first of `ends` between two places of a pattern that is in no braces; `end` if there is none. */
static const char *pattern_find(const char *at, const char *end, const char *ends)
{
	for (int depth = 0; at < end; at++) {
		if (depth == 0 && strchr(ends, *at))
			break;
		depth += (*at == '{') - (*at == '}');
	}
	return at;
}

static bool pattern_add(
	struct text *text, const struct result_place *place, const char *at, const char *end);

/* Adds what stands for the text between braces; false if a value is missing. */
static bool pattern_value(
	struct text *text, const struct result_place *place, const char *at, const char *end)
{
	const char *choice = pattern_find(at, end, "?");
	char form = choice > at && strchr("#%+", choice[-1]) ? choice[-1] : '\0';
	const char *key = arena_format(text->arena, "%.*s", (int)(choice - at) - (form != 0), at);
	if (text_equal(key, "."))
		text_add(text, "%s", place->key);
	if (text_equal(key, "."))
		return true;
	const json_t *value = value_at(text->arena, place->tree, key);
	if (form == '+' && json_number_value(value) <= 0)
		value = NULL;
	if (choice < end) {
		const char *other = pattern_find(choice + 1, end, "|");
		bool is_empty = json_is_array(value) && !json_array_size(value);
		if (value && !json_is_false(value) && !is_empty)
			return pattern_add(text, place, choice + 1, other);
		return other == end || pattern_add(text, place, other + 1, end);
	}
	if (value)
		text_add(
			text, "%s", listing_value_text(text->arena, value, key, form, place->unit));
	return value != NULL;
}

static bool pattern_add(
	struct text *text, const struct result_place *place, const char *at, const char *end)
{
	bool whole = true;
	while (at < end) {
		const char *open = memchr(at, '{', (size_t)(end - at));
		text_bytes(text, at, (size_t)((open ? open : end) - at));
		if (!open)
			break;
		const char *close = pattern_find(open + 1, end, "}");
		whole &= pattern_value(text, place, open + 1, close);
		at = close + 1;
	}
	return whole;
}

/* The pattern with its values; "" if one is missing. */
static const char *pattern_text(
	struct arena *arena, const struct result_place *place, const char *pattern)
{
	struct text text = text_open(arena);
	bool whole = pattern_add(&text, place, pattern, pattern + strlen(pattern));
	return whole ? text_read(&text) : "";
}

const char *result_line(struct arena *arena, const json_t *tree, const char *pattern)
{
	return pattern_text(arena, &(struct result_place){tree, "", NULL}, pattern);
}

/* The values of a list or an object, with their keys or numbers. */
struct result_places array(struct result_place);
static struct result_places places_in(struct arena *arena, const json_t *of)
{
	struct result_places places = {0};
	const char *key;
	json_t *value;
	size_t i;
	json_object_foreach((json_t *)of, key, value)
		*array_add(arena, &places) = (struct result_place){value, key, NULL};
	json_array_foreach(of, i, value)
		*array_add(arena, &places) =
			(struct result_place){value, arena_format(arena, "%zu", i), NULL};
	return places;
}

static void add_result_line(struct text *text, const struct result_place *place, int width,
	const struct result_row *row)
{
	const char *words = pattern_text(text->arena, place, row->pattern);
	if (*words)
		text_add(text, "%-*s%s\n", width, row->label, words);
}

void result_rows(struct text *text, const json_t *tree, const struct result_row *rows)
{
	int width = 0;
	for (const struct result_row *row = rows; row->label; row++)
		if (*row->label)
			width = (int)number_max(width, listing_width(row->label) + 2);
	for (; rows->label; rows++) {
		struct result_place place = {tree, "", NULL};
		if (!rows->each) {
			add_result_line(text, &place, width, rows);
			continue;
		}
		struct result_places all =
			places_in(text->arena, value_at(text->arena, tree, rows->each));
		for (size_t i = 0; i < all.count; i++)
			add_result_line(text, &all.at[i], width, rows);
	}
}

/* One row of a table; rows of parts have patterns of their own. */
struct result_line {
	struct result_place place;
	bool is_part;
};
struct result_lines array(struct result_line);

static const char *pattern_of(const struct result_column *column, bool is_part)
{
	return is_part ? column->part ? column->part : "" : column->pattern;
}

/* The unit of the amounts of a column, that of the largest; NULL if a pattern of it is more than one amount. */
static const struct amount_unit *listing_unit(
	struct arena *arena, const struct result_lines *lines, const struct result_column *column)
{
	double most = 0;
	enum amount kind = AMOUNT_NUMBER;
	for (size_t i = 0; i < lines->count; i++) {
		const char *pattern = pattern_of(column, lines->at[i].is_part);
		size_t length = strlen(pattern);
		if (!length)
			continue;
		const char *key = arena_format(arena, "%.*s", (int)length - 2, pattern + 1);
		if (pattern[0] != '{' || pattern[length - 1] != '}' || strpbrk(key, "{}?#%"))
			return NULL;
		kind = amount_of_column(key);
		most = fmax(most,
			fabs(json_number_value(value_at(arena, lines->at[i].place.tree, key))));
	}
	return kind == AMOUNT_NUMBER ? NULL : amount_unit(kind, most);
}

void result_table(struct text *text, const json_t *list, const struct result_column *columns,
	const char *parts)
{
	const char *titles[COLUMNS_MOST + 1] = {NULL};
	const struct amount_unit *units[COLUMNS_MOST];
	struct arena *arena = text->arena;
	struct result_lines lines = {0};
	struct result_places all = places_in(arena, list);
	for (size_t i = 0; i < all.count; i++) {
		struct result_places inside =
			places_in(arena, parts ? value_at(arena, all.at[i].tree, parts) : NULL);
		*array_add(arena, &lines) = (struct result_line){all.at[i], false};
		for (size_t k = 0; k < inside.count; k++)
			*array_add(arena, &lines) = (struct result_line){inside.at[k], true};
	}
	for (size_t c = 0; columns[c].title; c++) {
		titles[c] = columns[c].title;
		units[c] = listing_unit(arena, &lines, &columns[c]);
	}
	struct listing *listing = listing_open(arena, titles);
	for (size_t i = 0; i < lines.count; i++)
		for (size_t c = 0; columns[c].title; c++) {
			struct result_place place = lines.at[i].place;
			place.unit = units[c];
			listing_cell(listing, "%s",
				pattern_text(arena, &place,
					pattern_of(&columns[c], lines.at[i].is_part)));
		}
	text_add(text, "%s", lines.count ? listing_text(listing) : "");
}
