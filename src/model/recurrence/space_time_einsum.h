#ifndef MODEL_SPACE_TIME_EINSUM_H
#define MODEL_SPACE_TIME_EINSUM_H

#include "model/recurrence/recurrence_einsum.h"

/*
 * `einsum: "C[m,n] = sum(k) A[m,k] * B[k,n]"` over loops that are known, in the notation of ops
 * (einsum.h).  False after complaining.
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

#endif
