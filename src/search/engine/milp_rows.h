#ifndef SEARCH_MILP_ROWS_H
#define SEARCH_MILP_ROWS_H

#include "base/array.h"
#include "search/engine/milp.h"

/* What a program consists of, for those that read it: GLPK and the LP format (milp.c). */
struct milp_column {
	double least, most, cost;
	bool integer;
	const char *name; /* NULL: it has a number alone */
};

struct milp_row {
	double least, most;
	size_t first; /* of its entries */
};

struct milp_entry {
	int column;
	double coefficient;
};

struct milp {
	struct arena *arena;
	struct array(struct milp_column) columns;
	struct array(struct milp_row) rows;
	struct array(struct milp_entry) entries;
};

/* Entries of one row, from 1 as GLPK wants them; those of one column added up. */
struct milp_packed {
	int *columns;
	double *coefficients;
	int *place; /* by column: where in the row; 0: not there */
};

struct milp_packed milp_open_packed(const struct milp *milp, struct arena *arena);
int milp_pack(const struct milp *milp, size_t row, struct milp_packed *packed); /* how many */

#endif
