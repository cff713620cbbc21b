#ifndef MODEL_RECURRENCE_SPACE_TIME_READ_H
#define MODEL_RECURRENCE_SPACE_TIME_READ_H

#include "model/recurrence/recurrence_einsum.h"

/*
 * The parts of a `space_time:` key (space_time_read in recurrence.h), each read by a file of its own.
 * Functions that answer a bool answer false after complaining.
 */

/*
 * What a `space_time:` map computes: `loops` and `domain` with `equations` or `dependences`, `loops`
 * with an `einsum`, or the problem or the op that stands beside.
 */
bool space_time_body(
	struct reader *map, const struct space_time_beside *beside, struct space_time *out);

/* A list of `count` whole numbers. */
bool space_time_vector(const struct reading *reading, const struct node *node, const char *what,
	int count, int64_t least, int64_t most, int64_t *out);
bool space_time_is_vector(const struct node *node);

/*
 * `einsum: "C[m,n] = sum(k) A[m,k] * B[k,n]"` over loops that are known, in the notation of ops
 * (einsum.h).
 */
bool space_time_einsum(const struct reading *reading, const struct node *text,
	const struct recurrence *recurrence, struct recurrence_einsum *einsum);

/* How it is to be derived: `split: {m: 4}`, `sum: [k_tile, k]`, `reread: [m_tile]`,
 * `load: {B: [k, m]}`. */
bool space_time_tiles(
	struct reader *map, struct recurrence_einsum *einsum, struct recurrence *recurrence);

/* The op of a graph that `op:` names; without one the only op.  NULL after complaining. */
const struct op *space_time_op(
	struct reader *map, const struct node *name, const struct workload *workload);

/*
 * A projection as T2S writes it:
 *
 *	Z.space_time_transform({c, q}, {k, t}, {1, 1, 0, 1}, {q, t, c, k - q},
 *		SpaceTimeTransform::NoCheckTime)
 *
 * source loops, destination loops of which the last is time, the matrix by rows, and, where the
 * matrix has no inverse of its own, the source loops from the destination loops.  Loops that are
 * not named stay outside as loops of time.
 */
bool space_time_call(const struct reading *reading, const struct node *text,
	const struct recurrence *recurrence, struct projection *out);

/* Loops, or names of rows, from a term's names; see struct projection's `reverse`. */
bool space_time_reverse(const struct reading *reading, const struct node *text, size_t *at,
	const struct recurrence *recurrence, int loop, struct projection *projection);

/*
 * What the array is and has: `reach`, `array`, `lanes`, and which streams may do what: `stays`,
 * `shuffle`, `no_link_transfer`, `no_reuse`; the last two also as constraints whose targets are rows
 * of space.  The rows have their names by then.
 */
void space_time_limits(
	struct reader *map, const struct node *const *targets, struct space_time *out);

/* The keys alone, where rows are not known after an error. */
void space_time_skip_limits(struct reader *map);

/* Streams by name under a key, as bits. */
bool space_time_streams(
	struct reader *map, const char *key, const struct recurrence *recurrence, uint32_t *out);

#endif
