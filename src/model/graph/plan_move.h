#ifndef MODEL_PLAN_MOVE_H
#define MODEL_PLAN_MOVE_H

#include "model/graph/plan.h"

/*
 * Puts evictions, reloads and relayouts (points 10 and 13 of plan.h) into a plan in which every
 * tensor has one stay for all of its life; it still has afterwards, with new
 * tensors for the later stays.  A move takes the bundle of the step before
 * which it is put, or of the last one, and is divided as the slices lie.
 */
struct plan_wish {
	enum move_kind kind;   /* MOVE_EVICT, MOVE_RELOAD or MOVE_RELAYOUT */
	int tensor;            /* of the given plan: what it is by then is moved */
	int before;            /* right before this step of the given plan */
	struct residency stay; /* of a reload or relayout: view, address and size in LX */
	const int *
		readers; /* ops of the given plan that use what it makes, while all others go on with */
	size_t reader_count; /* what there was; NULL: all do from there on */
};

/*
 * The plan with its moves.  Wish i makes tensor i behind those of the given plan.  Before a
 * step, evictions come first, the last wish first, then the others in order.
 */
struct arena;
struct plan *plan_with_moves(
	struct arena *arena, const struct plan *plan, const struct plan_wish *wishes, size_t count);

#endif
