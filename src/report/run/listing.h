#ifndef RUN_LISTING_H
#define RUN_LISTING_H

#include <jansson.h>
#include <stddef.h>

/*
 * Text for people: tables, and trees of results as lines and tables.  Rows and columns are tables of a label and a
 * pattern, so that a label, a key and its unit are written once.
 *
 * A pattern is text with values of a tree in braces: "{latency_ns} ({cycles#} cycles)".
 *
 *	{key}            the value: a number of a key that ends in _ns, _pj or _bytes with its unit (base/amount.h), a
 *	                 list or an object with commas between.  Keys and numbers with dots between lead further down: "{pes.0}"
 *	{key#}           the number without a unit, in all digits.
 *	{key+}           the number if it is above zero, else a missing value.
 *	{key%}           the share as a percentage
 *	{.}              the key or the number of the tree in the tree around it
 *	{key?yes|no}     one of two patterns: `no`, which may be left out, of null, false, an empty list or no value
 *
 * A value that is missing, or null, makes a line or a cell empty.
 */
struct arena;
struct text;

struct result_row {
	const char *label, *pattern;
	const char *
		each; /* key of a list or an object: a line for each value in it; NULL: one line of the tree */
};

/* A pattern filled from a tree; "" if a value is missing. */
const char *result_line(struct arena *arena, const json_t *tree, const char *pattern);

/* Adds a line for each row, `label` first, then the pattern, all of them aligned; a row without a label ends them.
 * Empty lines are left out.  If all labels are "", lines begin with the pattern. */
void result_rows(struct text *text, const json_t *tree, const struct result_row *rows);

struct result_column {
	const char *title, *pattern;
	const char *part; /* pattern in the rows of parts; NULL: empty */
};

/*
 * Adds a table of the values of a list or an object, a row each; a column without a title ends them.  `parts`: key
 * of a list or an object in each value, whose values are rows below it; NULL: none.  The amounts of a
 * column whose patterns are one value have one prefix.  An empty list adds nothing.
 */
void result_table(struct text *text, const json_t *list, const struct result_column *columns,
	const char *parts);

/*
 * A table for people, at most LISTING_WIDTH columns wide as far as its cells allow.
 *
 *	static const char *const titles[] = {"point", "<name", "<mapping", NULL};
 *	struct listing *listing = listing_open(arena, titles);
 *	listing_cell(listing, "%zu", i); listing_cell(listing, "%s", name); ..
 *	text = listing_text(listing);
 *
 * A column is as wide as its longest cell, and left out where all its cells are empty.  Cells stand
 * at the right, those of a title with `<` or `=` at the left.  If the last title has `=`, long cells of its column are
 * wrapped in the room beside the others, if that is wide enough.  The last columns that have no room beside
 * the others stand below their row, in lines of their own and without titles.
 */
enum { LISTING_WIDTH = 80 };

struct listing;

struct listing *listing_open(struct arena *arena, const char *const *titles);

/* The next cell, row by row. */
void listing_cell(struct listing *listing, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

const char *listing_text(const struct listing *listing);

/* Adds words behind a line that is `indent` columns long, in lines of their own under it where they have no room:
 * cut at blanks where that can be. */
void listing_wrap(struct text *text, const char *words, size_t indent);

#endif
