#ifndef REPORT_CSV_ROWS_H
#define REPORT_CSV_ROWS_H

#include "base/array.h"

#include <jansson.h>

/* The cells of a line, without quotes; *line becomes the next one, "" at the end.  RFC 4180 but for line ends in
 * quotes, which our tables have not. */
struct csv_cells array(const char *);
struct csv_cells csv_cells(struct arena *arena, const char **line);

/*
 * The rows of a table that lxplore wrote (pareto.csv), as a list of objects by column: numbers where
 * cells are numbers, null where they are empty, else texts.
 */
json_t *csv_rows(struct arena *arena, const char *csv);

#endif
