#ifndef MODEL_PLAN_MOVE_H
#define MODEL_PLAN_MOVE_H

#include "model/graph/plan.h"

/*
 * Puts evictions and reloads (point 10 of plan.h) into a plan in which every
 * tensor has one stay for all of its life; it still has afterwards, with new
 * tensors for the later stays.  A move takes the bundle of the step before
 * which it is put, or of the last one, and is divided as the slices lie.
 *
 * Adding needs room: plan_with_room answers a copy that can take so many moves.
 */
struct arena;
struct plan *plan_with_room(struct arena *arena, const struct plan *plan, int moves);

/*
 * Right before step `before` a tensor leaves LX; all who use it from there on
 * use its copy in HBM, whose number is the answer.
 */
int plan_add_evict(struct arena *arena, struct plan *plan, int tensor, int before);

/* Right before step `before` a tensor in HBM comes into LX, where the stay says;
 * all who use it from there on use the new tensor, whose number is the answer. */
int plan_add_reload(struct arena *arena, struct plan *plan, int tensor, int before,
	const struct residency *stay);

#endif
