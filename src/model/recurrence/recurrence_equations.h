#ifndef MODEL_RECURRENCE_EQUATIONS_H
#define MODEL_RECURRENCE_EQUATIONS_H

#include "model/recurrence/recurrence.h"

/*
 * Equations, one a line:
 *
 *	Z(q, c) = select(q == 0, 0, Z(q - 1, c)) + x(c + q) * w(q);
 *	out(c) = select(q == Q - 1, Z(q, c));
 *
 * A stream with all loops on the left is recurrent, one with fewer is an output, one that is only
 * read is an input.  What follows a semicolon, or a # at the beginning of a line, is a remark.
 *
 * Adds the streams and their dependences to a recurrence whose loops and domain are known.  False
 * after complaining.
 */
bool recurrence_equations(
	const struct reading *reading, const struct node *text, struct recurrence *recurrence);

/* The dependence for a stream's vector; made when it is new.  Both conditions count when there is
 * one already.  NULL when there are too many. */
struct dependence *recurrence_depend(struct arena *arena, struct recurrence *recurrence, int stream,
	const int64_t *vector, const struct term *when, struct span span);

#endif
