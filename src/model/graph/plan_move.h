#ifndef MODEL_PLAN_MOVE_H
#define MODEL_PLAN_MOVE_H

#include "model/graph/plan.h"

/*
 * Puts evictions and reloads (point 10 of plan.h) into a plan in which every
 * tensor has one stay for all of its life; it still has afterwards, with new
 * tensors for the later stays.  A move takes the bundle of the step before
 * which it is put, or of the last one, and is divided as the slices lie.
 */
struct plan_wish {
	enum move_kind kind;   /* MOVE_EVICT or MOVE_RELOAD */
	int tensor;            /* of the given plan: what it is by then is moved */
	int before;            /* right before this step of the given plan */
	struct residency stay; /* of a reload: view, address and size in LX */
};

/*
 * The plan with its moves.  Wish i makes tensor i behind those of the given plan, which all who
 * use the tensor from there on use.  Of those before one step, evictions come first, the last
 * wish first, then reloads in order.
 */
struct arena;
struct plan *plan_with_moves(
	struct arena *arena, const struct plan *plan, const struct plan_wish *wishes, size_t count);

#endif
