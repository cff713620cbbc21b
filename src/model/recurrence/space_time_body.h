#ifndef MODEL_SPACE_TIME_BODY_H
#define MODEL_SPACE_TIME_BODY_H

#include "model/recurrence/recurrence.h"

/*
 * What a `space_time:` map computes: `loops` and `domain` with `equations` or `dependences`, `loops`
 * with an `einsum`, or the problem or the op that stands beside.  False after complaining.
 */
bool space_time_body(
	struct reader *map, const struct space_time_beside *beside, struct space_time *out);

/* A list of so many whole numbers. */
bool space_time_vector(const struct reading *reading, const struct node *node, const char *what,
	int count, int64_t least, int64_t most, int64_t *out);
bool space_time_is_vector(const struct node *node);

#endif
