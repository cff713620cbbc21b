#ifndef ENGINE_MILP_H
#define ENGINE_MILP_H

#include "base/array.h"
#include "model/machine/score.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Columns, rows and entries of a program, as GLPK and the LP format read them. */
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

/*
 * Mixed-integer linear programs, minimised by GLPK:
 *
 *	struct milp *milp = milp_make(arena);
 *	int x = milp_column(milp, 0, 4, true, -1);
 *	int y = milp_column(milp, 0, INFINITY, false, -2);
 *	milp_row(milp, -INFINITY, 7);
 *	milp_entry(milp, x, 2);
 *	milp_entry(milp, y, 1);
 *	struct milp_answer answer = milp_solve(milp, &(struct milp_wishes){0}, arena);
 *
 * Programs live in the arena; GLPK holds one only while it solves it, in the thread that asks, so that several
 * threads may solve at once.  Nothing is printed, and an error of GLPK's, lack of memory included, is an answer.
 * Equal programs have equal answers: work is limited by counting, never by a clock.
 *
 * The answer is GLPK's, in doubles: it may break a row by 1e-7 of its size, and a bound may
 * be off by as much for each unit that columns hold.  See milp_margin.
 */
struct arena;
struct milp;

struct milp *milp_make(struct arena *arena);

/* Columns and rows are numbered from 0.  Bounds may be infinite.  Columns of one value, and
 * rows that are left without another, cost nothing. */
int milp_column(struct milp *milp, double least, double most, bool integer, double cost);
int milp_row(struct milp *milp, double least, double most);

/* Adds to the row made last; the coefficients of a column add up. */
void milp_entry(struct milp *milp, int column, double coefficient);

/* Adds to the cost of a column. */
void milp_cost(struct milp *milp, int column, double cost);

/* Narrows a column to one value. */
void milp_fix(struct milp *milp, int column, double value);

/* Names a column in the LP format; the name must live as long as the program. */
void milp_name(struct milp *milp, int column, const char *name);

/* The program in the LP format, as CBC, GLPK, SCIP and others read it, behind a comment of lines. */
const char *milp_text(const struct milp *milp, const char *comment, struct arena *arena);

struct milp_size {
	int rows, columns, integers;
	size_t entries; /* nonzeros, those of one row and column as one */
};
struct milp_size milp_size(const struct milp *milp);

struct milp_wishes {
	double gap;    /* relative; 0: to the end */
	int megabytes; /* that GLPK may take; 0: 1024 */
	/* Rows of room for 0-1 columns: tightened by covers, and branches chosen by what those
	 * before them cost. */
	bool covers;
	/* Any point will do, of 0-1 columns and whole numbers: rows become clauses, which MiniSat meets
	 * (N. Een, N. Sorensson, An Extensible SAT-solver, 2003).  Its conflicts count as iterations; it
	 * asks to go on whenever it restarts, after half as many again as before. */
	bool clauses;
	void *user;
	/* After some more simplex iterations over this many rows; false ends the search.  NULL: to
	 * the end. */
	bool (*go_on)(void *user, uint64_t iterations, int rows);
	/* Called with every better point, by column; NULL: not called. */
	void (*found)(void *user, const double *values);
};

struct milp_answer {
	/* PROOF_OPTIMAL: within the gap; PROOF_BOUND, PROOF_BUDGET: ended by go_on, with a point or
	 * without; PROOF_INFEASIBLE: no point exists; PROOF_NONE: it failed, see `fault` */
	enum proof_status status;
	double value;         /* of the point, if there is one */
	const double *values; /* by column; NULL */
	double bound;         /* no point is below but for milp_margin; -INFINITY: none known */
	uint64_t iterations, nodes;
	const char *fault; /* in GLPK's words */
};

/* The program must have a column.  The answer lives in the arena. */
struct milp_answer milp_solve(
	const struct milp *milp, const struct milp_wishes *wishes, struct arena *arena);

/*
 * Returns the error of a bound, upwards.  A reduced cost may be wrong by 1e-7, relative to the cost of its column:
 * over a point whose columns add up to `mass`, that is 1e-7 * (mass + value).  A node is given up when it is within
 * 1e-7 * (1 + value) of the best point.  Twice that.
 */
double milp_margin(double mass, double value);

#endif
