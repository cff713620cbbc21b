#include "solvers/map/ilp/line.h"

#include <math.h>

void ilp_line_add(struct ilp_line *line, int column, double coefficient)
{
	*array_add(line->arena, &line->parts) = (struct ilp_part){column, coefficient};
}

void ilp_line_add_line(struct ilp_line *line, const struct ilp_line *other, double coefficient)
{
	for (size_t i = 0; i < other->parts.count; i++)
		ilp_line_add(line, other->parts.at[i].column,
			other->parts.at[i].coefficient * coefficient);
	line->constant += other->constant * coefficient;
}

double ilp_line_value(const struct ilp_line *line, const double *values)
{
	double value = line->constant;
	for (size_t i = 0; i < line->parts.count; i++)
		value += line->parts.at[i].coefficient * values[line->parts.at[i].column];
	return value;
}

void ilp_line_row(struct milp *milp, const struct ilp_line *line, double least, double most)
{
	milp_row(milp, least - line->constant, most - line->constant);
	for (size_t i = 0; i < line->parts.count; i++)
		milp_entry(milp, line->parts.at[i].column, line->parts.at[i].coefficient);
}

int ilp_line_column(struct milp *milp, const struct ilp_line *line)
{
	int column = milp_column(milp, -INFINITY, INFINITY, false, 0);
	ilp_line_row(milp, line, 0, 0);
	milp_entry(milp, column, -1);
	return column;
}

/* Divided by exp(x), so that coefficients stay near 1. */
void ilp_tangent(struct milp *milp, int column, int other, double x)
{
	milp_row(milp, 1 - x, INFINITY);
	milp_entry(milp, column, exp(-x));
	milp_entry(milp, other, -1);
}
