#ifndef MODEL_SPACE_TIME_CALL_H
#define MODEL_SPACE_TIME_CALL_H

#include "model/recurrence/recurrence.h"

/*
 * A projection as T2S writes it:
 *
 *	Z.space_time_transform({c, q}, {k, t}, {1, 1, 0, 1}, {q, t, c, k - q},
 *		SpaceTimeTransform::NoCheckTime)
 *
 * source loops, destination loops of which the last is time, the matrix by rows, and, where the
 * matrix has no inverse of its own, the source loops from the destination loops.  Loops that are
 * not named stay outside as loops of time.  False after complaining.
 */
bool space_time_call(const struct reading *reading, const struct node *text,
	const struct recurrence *recurrence, struct projection *out);

/* Loops, or names of rows, from a term's names; see struct projection's `reverse`. */
bool space_time_reverse(const struct reading *reading, const struct node *text, size_t *at,
	const struct recurrence *recurrence, int loop, struct projection *projection);

#endif
