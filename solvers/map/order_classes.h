#ifndef MAP_ORDER_CLASSES_H
#define MAP_ORDER_CLASSES_H

#include "solvers/map/nest_view.h"

/*
 * Orders of one level's temporal loops that can make a difference.  A dataspace of
 * ranks of one dimension each only feels which loops are inside its innermost relevant
 * one, and more of them are never worse, unless sums are written and counted in `exact`.  For any other the order
 * counts as such, but for neighbours that are both irrelevant, or both move tiles to
 * disjoint places.  Under flags every order is a class.
 */
struct order_class {
	uint64_t index;                     /* of the space's arrangements of that level */
	uint32_t within[SHAPE_SPACES_MOST]; /* loops inside the innermost disjoint move */
};

struct order_classes {
	size_t count;
	struct order_class *at;
};

/* For loops of level j with bounds above 1 as in the mapping; none of this depends on the
 * bounds otherwise. */
struct order_classes order_classes_find(
	struct arena *arena, const struct nest_frame *frame, int j, const struct mapping *mapping);

#endif
