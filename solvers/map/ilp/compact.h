#ifndef MAP_ILP_COMPACT_H
#define MAP_ILP_COMPACT_H

#include "base/array.h"
#include "search/engine/milp.h"
#include "solvers/map/ilp/frame.h"

/*
 * Sums of columns and a constant, and exp() of them in a linear program.  exp is convex, so
 * its tangents are below it: a column that is above some tangents is a lower estimate of
 * exp, exact where a tangent touches.
 */
struct ilp_part {
	int column;
	double coefficient;
};

struct ilp_line {
	struct arena *arena;
	struct array(struct ilp_part) parts;
	double constant;
};

void ilp_line_add(struct ilp_line *line, int column, double coefficient);
void ilp_line_add_line(struct ilp_line *line, const struct ilp_line *other, double coefficient);
double ilp_line_value(const struct ilp_line *line, const double *values);

/* least <= line <= most, as a row. */
void ilp_line_row(struct milp *milp, const struct ilp_line *line, double least, double most);

/* A column that equals the line. */
int ilp_line_column(struct milp *milp, const struct ilp_line *line);

/* Makes one column at least exp(x) + exp(x) (other - x): the tangent that touches at x. */
void ilp_tangent(struct milp *milp, int column, int other, double x);

/*
 * The compact integer program: how many copies of each prime of each dimension stand in each
 * row of loops.  Counts of accesses are products of bounds, so their logarithms are sums of
 * columns; which loops count for which dataspace is orders.h's.  The objective is a sum
 * of exponentials, made linear by tangents, and so are capacities, of which
 * dataspaces take the share they need: both are lower estimates, and the more tangents
 * the closer.
 *
 * Estimated: the words of a window; where it goes on by a part of itself it is fetched again; in
 * `edp`, and where sums may meet in space, second visits are estimated from the least
 * bound that makes one; a shared port and a level's blocks are taken to be used in full.
 * Left out: fill and drain, energy of networks, least utilization, what homes hold in loops outside.
 */
struct ilp_cuts {
	/* By number of an exponential: where tangents shall touch, besides those at the start;
	 * logarithms, of the objective's own units. */
	struct array(struct ilp_touches { struct array(double) at; }) touches;
};

struct ilp_exponential {
	struct ilp_line line;
	int column;   /* exp(line), from below */
	double shift; /* what the scale takes off the line */
};

struct ilp_compact {
	struct arena *arena;
	struct milp *milp;
	const struct ilp_frame *frame;
	struct ilp_orders orders;
	int copies[FACTORS_LOOPS_MOST][ILP_AXES][SHAPE_DIMENSIONS_MOST][ILP_PRIMES_MOST]; /* -1 */
	int *chain[SHAPE_SPACES_MOST]; /* by chain; NULL: there is one only */
	int cycles;                    /* their logarithm; -1: not asked for */
	double scale;                  /* of the objective: the value of a good mapping */
	double constant;               /* of the objective, times scale */
	struct array(struct ilp_exponential) exponentials;
	struct array(struct ilp_window) windows;
	struct ilp_moves *moves[SHAPE_SPACES_MOST][ARCH_LEVELS_MOST];
};

/* `scale` is about what the objective will be.  NULL for an objective that it cannot express. */
struct ilp_compact *ilp_compact_make(struct arena *arena, const struct ilp_frame *frame,
	const struct ilp_cuts *cuts, double scale);

/* The neighbours of a point: bounds of these rows (a mask) and dimensions, and orders, may
 * be others. */
struct ilp_near {
	const struct ilp_point *point;
	uint64_t rows;
	uint32_t dimensions;
	bool orders, chains;
};
void ilp_compact_stay(struct ilp_compact *compact, const struct ilp_near *near);

/* The objective of a value of the program's. */
double ilp_compact_value(const struct ilp_compact *compact, double value);

void ilp_compact_read(
	const struct ilp_compact *compact, const double *values, struct ilp_point *point);

/* Tangents that touch at a point, for the next program. */
void ilp_compact_learn(const struct ilp_compact *compact, const double *values, struct arena *arena,
	struct ilp_cuts *cuts);

/* The exponentials of a compact program, whose bounds and orders are there: its objective,
 * the cycles that ports take, and what levels hold. */
void ilp_costs_add(struct ilp_compact *compact, const struct ilp_cuts *cuts);

#endif
