#ifndef MODEL_MOVE_H
#define MODEL_MOVE_H

#include "model/graph/plan.h"

/*
 * Where a move (points 7 and 10 of plan.h) leaves what it brings, or finds what
 * it takes.  Its mapping cuts the tensor into slices; the view of what lies in
 * LX says which cores hold which.  A view that cuts as the mapping does, but hands the slices out in another order
 * or to several cores each, is a multicast: loop l's slot on core c is
 * floor(c / divisor[l]) mod split of l, on cores 0 .. cores-1, and every slice
 * lies on `copies` cores.  With any other view the mapping decides alone, and with one that leaves cores out
 * where something comes in.
 */
struct move {
	int64_t cores, copies;
	int64_t divisor[OP_LOOPS_MOST];
};

struct move move_find(const struct plan *plan, int step);

/* Divides a copy of whole sticks as near to the view as its own loops can say. */
struct mapping move_mapping(const struct arch *arch, const struct workload *workload,
	const struct op *copy, const struct view *view);

#endif
