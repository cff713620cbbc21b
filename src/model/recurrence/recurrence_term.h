#ifndef MODEL_RECURRENCE_TERM_H
#define MODEL_RECURRENCE_TERM_H

#include "model/recurrence/recurrence.h"

/* Terms of recurrences that no text gave. */

/* A recurrent stream, read at the point that lies `vector` before. */
const struct term *recurrence_read(struct arena *arena, const struct recurrence *recurrence,
	int stream, const int64_t *vector);

/* Whether the point that lies `vector` before is in the domain, as a condition on the point that
 * asks; NULL: it always is. */
const struct term *recurrence_inside(
	struct arena *arena, const struct recurrence *recurrence, const int64_t *vector);

/*
 * Bodies for a recurrence of which only the dependences are known, so that it can be executed: a
 * value is a sum over the loops that differs from point to point, and a part of every value that it
 * depends on, no two parts alike.  Values stay small; a value from a wrong place is noticed.
 */
void recurrence_invent(struct arena *arena, struct recurrence *recurrence);

#endif
