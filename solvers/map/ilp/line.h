#ifndef MAP_ILP_LINE_H
#define MAP_ILP_LINE_H

#include "base/array.h"
#include "search/engine/milp.h"

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

#endif
