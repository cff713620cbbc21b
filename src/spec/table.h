#ifndef SPEC_TABLE_H
#define SPEC_TABLE_H

#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * A CSV (RFC 4180), row by row: the first row names the columns, every other has as many cells.
 * Lines end in LF, CR LF or CR; empty lines are ignored; blanks around a cell do not belong to
 * it; a quoted cell ends on its line.
 *
 *	struct table table;
 *	if (!table_open(&table, arena, source, diag))    // complains if the header is missing
 *		return;
 *	.. table.cells are the names of the columns ..
 *	while (table_next(&table))
 *		.. table.cells are those of a row ..
 *
 * Memory does not grow with the number of rows.
 */
struct arena;

struct table_cell {
	const char *text; /* without quotes; lives until the next row */
	size_t from, to;  /* its bytes in the source, quotes too */
};

struct table {
	struct arena *arena;
	const struct source *source;
	struct diag *diag;
	size_t column_count;
	struct table_cell *cells;
	int line, inner;         /* inner: line ends of YAML within the row */
	size_t row_from, row_to; /* the row's bytes in the source, without the line's end */
	size_t at;               /* bytes read */
	size_t room;             /* cells that there is memory for */
	char *texts;             /* of all cells of the row */
	size_t texts_room;
	bool skips; /* set by callers: table_next returns rows that are wrong as well, with .. */
	const char *wrong; /* .. the reason and its place, and no cells; NULL: the row is right */
	struct span wrong_at;
};

/* Reads the header; false after complaining. */
bool table_open(
	struct table *table, struct arena *arena, const struct source *source, struct diag *diag);

/* The next row that is one; complains about others, or returns them (`skips`).  False at the end. */
bool table_next(struct table *table);

/* Spans of a cell of the current row, and of the row. */
struct span table_span(const struct table *table, size_t column);
struct span table_row_span(const struct table *table);

#endif
