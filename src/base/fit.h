#ifndef BASE_FIT_H
#define BASE_FIT_H

#include <stddef.h>

/*
 * Text for people in a window of so many columns.
 *
 * Lines that fit stay as they are.  Lines without an empty one between them are a block.  If a line of the block is
 * too wide and at least two positions in all of its lines are blank side by side, the block is a table: its columns
 * lie between such gutters.  A last column that has room for a third of the window is wrapped; else the columns that
 * do not fit follow below, behind the first one, which is repeated.  A cell that is wider than what is left beside
 * the first column is wrapped.  Other lines are broken at blanks and go on behind an indent.  A word is broken
 * nowhere, so a word wider than the window stays as it is.
 */
struct arena;

const char *fit_text(struct arena *arena, const char *text, size_t columns);

#endif
