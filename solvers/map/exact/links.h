#ifndef MAP_EXACT_LINKS_H
#define MAP_EXACT_LINKS_H

#include "solvers/map/exact/label.h"

/*
 * Whether the arrangement of spatial loops can make a difference for a window, when all temporal
 * loops outside the label's boundary are in the mapping: whether children there may take words
 * from neighbours.
 *
 * In Timeloop's counting only those of the block next to the child do, and only where one of the
 * moves tau (cost/nest/nest_timeloop_moves.h has them) leads from one child's place to another's
 * and brings as many words as the move before it, which the innermost loop made, or came after.
 * Exactly, or where a dimension is in two ranks, it is enough that the innermost loop slides the
 * window.
 */
bool nest_links_possible(const struct nest_view *view, const struct mapping *mapping,
	const struct nest_label *label, const int64_t *left, int space);

/* The same where the children are multipliers, which hand on every operand in Timeloop's counting:
 * whether blocks further outwards than the one next to them matter, for all loops. */
bool nest_links_around_multipliers(const struct nest_view *view, int space);

#endif
