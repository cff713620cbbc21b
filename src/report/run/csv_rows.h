#ifndef REPORT_CSV_ROWS_H
#define REPORT_CSV_ROWS_H

#include <jansson.h>

/*
 * The rows of a table that lxplore wrote (pareto.csv), as a list of objects by column: numbers where
 * cells are numbers, null where they are empty, else texts.
 */
struct arena;
json_t *csv_rows(struct arena *arena, const char *csv);

#endif
