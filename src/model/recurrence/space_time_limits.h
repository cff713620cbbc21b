#ifndef MODEL_SPACE_TIME_LIMITS_H
#define MODEL_SPACE_TIME_LIMITS_H

#include "model/recurrence/recurrence.h"

/*
 * What the array is and has: `reach`, `array`, `lanes`, and which streams may do what: `stays`,
 * `shuffle`, `no_link_transfer`, `no_reuse`; the last two also as constraints whose targets are rows
 * of space.  The rows have their names by then.
 */
void space_time_limits(
	struct reader *map, const struct node *const *targets, struct space_time *out);

/* The keys alone, where rows are not known after an error. */
void space_time_skip_limits(struct reader *map);

/* Streams by name under a key, as bits; false after complaining. */
bool space_time_streams(
	struct reader *map, const char *key, const struct recurrence *recurrence, uint32_t *out);

#endif
