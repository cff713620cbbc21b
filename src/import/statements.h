#ifndef IMPORT_STATEMENTS_H
#define IMPORT_STATEMENTS_H

#include "import/build.h"

/* Steps of a builder: open a statement with a new output, give it reads, close it. */

/* Operands whole: axis h of the view by loop loop_of[h], -1 where it has one element. */
struct view_read statement_read_whole(const struct build *b, int v, const int *loop_of);
/* A statement that writes a new tensor of that shape; NULL: it cannot. */
struct statement *statement_open(struct build *b, enum form form, const char *function,
	const char *dtype, const struct model_shape *shape);
/* Joins classes of loops and axes; the view of the output. */
int statement_close(struct build *b, struct statement *statement);
/* A copy of a view whose axes are the view's own, after these are settled. */
int statement_store(struct build *b, int v);
/* Loop h for axis h. */
void statement_identity_loops(int *loop_of);
/* The view; of one number, a table in memory. */
int statement_data(struct build *b, int v);

/* The map of one number or two; NAN: it is not known here. */
double statement_number(const char *function, double x);
double statement_numbers(const char *function, double a, double c);

/* True if it is a product of the model: an image that is resized by a table is not. */
bool statement_multiplies(const struct statement *statement);

#endif
