#ifndef MAP_EXACT_SKEW_H
#define MAP_EXACT_SKEW_H

#include "solvers/map/exact/label.h"

/*
 * What a systolic array adds to the cycles at least (cost/nest/nest_home.h): the least skew of all
 * arrangements of its spatial loops for every pass, the rate at which dataspaces come that PEs do not
 * hold, and the loads of those that they do.  There are as many passes as any of their tiles
 * moves; X as in label.h counts the words, and only grows inwards.
 */

/* The least skew of a mapping's spatial bounds; and different tiles of a dataspace along an axis at
 * least: in blocks with that axis alone, rank by rank as many as a sum of sets has,
 * |A + B| >= |A| + |B| - 1. */
double nest_skew_least(const struct nest_frame *frame, const struct mapping *mapping);
double nest_skew_tiles(
	const struct nest_frame *frame, const struct mapping *mapping, int space, bool y);

/* For what keeps one dataspace in a view. */
void nest_skew_keep(struct nest_view *view, int space);

/* True if a larger tile at a storage level may take longer, though it moves less often. */
bool nest_skew_minds(const struct nest_frame *frame, int j);

/* True if the axes along which a block's loops run can change the cycles. */
bool nest_skew_turns(const struct nest_frame *frame, const struct tiling_level *level);

/* With the loops outside the label's boundary, and those of one more level; NULL: of none. */
double nest_skew_bound(const struct nest_view *view, const struct nest_label *from,
	const struct nest_order *order, const int64_t *bounds);

/* Takes what crosses the label's boundary into passes and load_cycles, which are those outside. */
void nest_skew_enter(const struct nest_view *view, struct nest_label *label);

#endif
