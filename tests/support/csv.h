#ifndef SUPPORT_CSV_H
#define SUPPORT_CSV_H

/* Row `row` (0: the header) of a table's column, a copy without quotes; NULL if the row is missing.
 * The test fails if the column is missing. */
struct arena;
const char *csv_cell(struct arena *arena, const char *table, int row, const char *column);

#endif
