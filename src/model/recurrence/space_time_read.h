#ifndef MODEL_RECURRENCE_SPACE_TIME_READ_H
#define MODEL_RECURRENCE_SPACE_TIME_READ_H

#include "model/recurrence/recurrence_einsum.h"

/*
 * The parts of a `space_time:` key (space_time_read in recurrence.h), each read by a file of its own.
 * Functions that answer a bool answer false after complaining.
 */

/*
 * Reads the body of a `space_time:` map: `loops` and `domain` with `equations` or `dependences`, `loops`
 * with an `einsum`, or the problem or the op that stands beside.
 */
bool space_time_body(
	struct reader *map, const struct space_time_beside *beside, struct space_time *out);

/* A list of `count` whole numbers. */
bool space_time_vector(const struct reading *reading, const struct node *node, const char *what,
	int count, int64_t least, int64_t most, int64_t *out);
bool space_time_is_vector(const struct node *node);

/*
 * Reads the limits of the array: `reach`, `array`, `lanes`; and of streams: `stays`,
 * `shuffle`, `no_link_transfer`, `no_reuse`; the last two also as constraints whose targets are rows
 * of space.  The rows have their names by then.
 */
void space_time_limits(
	struct reader *map, const struct node *const *targets, struct space_time *out);

/* Streams by name under a key, as bits. */
bool space_time_streams(
	struct reader *map, const char *key, const struct recurrence *recurrence, uint32_t *out);

#endif
