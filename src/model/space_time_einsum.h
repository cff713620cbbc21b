#ifndef MODEL_SPACE_TIME_EINSUM_H
#define MODEL_SPACE_TIME_EINSUM_H

#include "model/recurrence.h"

/*
 * `einsum: "C[m,n] = sum(k) A[m,k] * B[k,n]"` over loops that are known, in the notation of ops
 * (einsum.h).  False after complaining.
 */
bool space_time_einsum(
	const struct reading *reading, const struct node *text, struct recurrence *recurrence);

/* The op of a graph that `op:` names; without one the only op.  NULL after complaining. */
const struct op *space_time_op(
	struct reader *map, const struct node *name, const struct workload *workload);

#endif
