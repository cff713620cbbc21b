#ifndef MODEL_RECURRENCE_SPACE_TIME_READ_H
#define MODEL_RECURRENCE_SPACE_TIME_READ_H

#include "model/recurrence/recurrence_einsum.h"
#include "spec/field.h"

/*
 * The parts of a `space_time:` key (space_time_read in recurrence.h), each read by a file of its own.
 * Functions that answer a bool answer false after complaining.
 */

/* Streams that rows of the array do not hand on in one way; NULL if they are missing. */
struct ban_form {
	const struct node *links, *wires, *older_wires;
};
extern const struct noun bans_noun;

/* The dependences of streams by name. */
extern const struct noun dependences_noun;

/* The values of a `space_time:` map, or of the `projection:` of a plan; NULL if they are missing. */
struct space_time_form {
	const struct node *equations, *dependences, *einsum;
	const struct node *loops, *domain, *op;
	const struct node *allocation, *schedule, *call, *reverse;
	const struct node *split, *sum, *reread, *load; /* of tiles */
	const struct node *wires, *shuffle, *stays, *lanes, *array, *fold, *search;
	struct ban_form bans;
	struct texts space, time;
	int64_t reach;
	bool checked; /* whatever it says: the guard is always there */
};

/* A map may have these rows of space_time_noun: those of every one, of one with loops of its own, of one beside a
 * problem or a workload, of an einsum in tiles, of a plan. */
enum {
	SPACE_TIME_EVERY = 1 << 0,
	SPACE_TIME_LOOPS = 1 << 1,
	SPACE_TIME_BESIDE = 1 << 2,
	SPACE_TIME_TILES = 1 << 3,
	SPACE_TIME_PLAN = 1 << 4,
};

/*
 * Reads the body of a `space_time:` map: `loops` and `domain` with `equations` or `dependences`, `loops`
 * with an `einsum`, or the problem or the op that stands beside.
 */
bool space_time_body(struct reader *map, struct space_time_form *form,
	const struct space_time_beside *beside, struct space_time *out);

/* A list of `count` whole numbers. */
bool space_time_vector(const struct reading *reading, const struct node *node, const char *what,
	int count, int64_t least, int64_t most, int64_t *out);
bool space_time_is_vector(const struct node *node);

/*
 * Reads the limits of the array: `reach`, `array`, `lanes`; and of streams: `stays`,
 * `shuffle`, `no_link_transfer`, `no_reuse`; the last two also as constraints whose targets are rows
 * of space.  The rows have their names by then.
 */
void space_time_limits(struct reader *map, const struct space_time_form *form,
	const struct node *const *targets, struct space_time *out);

/* Streams by name, one or a list (NULL: none), as bits; `key` stands in messages. */
bool space_time_streams(const struct reading *reading, const struct node *list, const char *key,
	const struct recurrence *recurrence, uint32_t *out);

#endif
