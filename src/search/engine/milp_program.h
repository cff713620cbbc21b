#ifndef SEARCH_MILP_PROGRAM_H
#define SEARCH_MILP_PROGRAM_H

#include "base/array.h"
#include "search/engine/milp.h"

/*
 * What those who solve a program see of it.
 */
/* What a row without columns may miss its bounds by, relatively. */
#define MILP_ROW_TOLERANCE 1e-7

struct column {
	double least, most, cost;
	bool integer;
};

struct row {
	double least, most;
	size_t first; /* of its entries */
};

struct entry {
	int column;
	double coefficient;
};

struct milp {
	struct arena *arena;
	struct array(struct column) columns;
	struct array(struct row) rows;
	struct array(struct entry) entries;
};

/* Entries of one row, from 1 as GLPK wants them; those of one column added up. */
struct milp_packed {
	int *columns;
	double *coefficients;
	int *place; /* by column: where in the row; 0: not there */
};

struct milp_packed milp_packed_make(const struct milp *milp, struct arena *arena);

/* How many they are. */
int milp_pack(const struct milp *milp, size_t row, struct milp_packed *packed);

/* Whether CBC was there when this was built, and its answer; PROOF_NONE without it. */
bool milp_has_cbc(void);
struct milp_answer milp_solve_cbc(
	const struct milp *milp, const struct milp_wishes *wishes, struct arena *arena);

#endif
