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

#endif
