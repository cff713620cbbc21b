#ifndef REPORT_LISTING_H
#define REPORT_LISTING_H

#include <stddef.h>

/*
 * A table for people, at most LISTING_WIDTH columns wide as far as its cells allow.
 *
 *	static const char *const titles[] = {"point", "<name", "<mapping", NULL};
 *	struct listing *listing = listing_open(arena, titles);
 *	listing_cell(listing, "%zu", i); listing_cell(listing, "%s", name); ..
 *	text = listing_text(listing);
 *
 * A column is as wide as its longest cell, and left out where all its cells are empty.  Cells stand
 * at the right, those of a title with `<` at the left.  The last columns that have no room beside
 * the others stand below their row, in lines of their own and without titles.
 */
enum { LISTING_WIDTH = 80 };

struct arena;
struct listing;

struct listing *listing_open(struct arena *arena, const char *const *titles);

/* The next cell, row by row. */
void listing_cell(struct listing *listing, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

const char *listing_text(const struct listing *listing);

/* Adds words behind a line that is `indent` columns long, in lines of their own under it where they have no room:
 * cut at blanks where that can be. */
struct text;
void listing_wrap(struct text *text, const char *words, size_t indent);

#endif
