#ifndef SIM_TOUCH_H
#define SIM_TOUCH_H

#include "lower/graph/program.h"

/*
 * What the elements of a tile touch of an operand, from the loops alone: a box
 * of the host array, [low, high] in each of its dimensions, and the box of sticks
 * around it.  Indices go from `from` to `to`: of a padded operand beyond the array, else low and high.
 */
struct touch {
	const struct layout *layout;
	int64_t low[LAYOUT_HOST_RANK_MOST], high[LAYOUT_HOST_RANK_MOST];
	int64_t from[LAYOUT_HOST_RANK_MOST], to[LAYOUT_HOST_RANK_MOST];
	int64_t first[REGION_RANK_MOST], count[REGION_RANK_MOST];
};

/* Do the tile's loops stay inside the op's? */
bool touch_loops(const struct op *op, const struct compute *compute);

/* False when the tile, whose loops are right, leaves the host array. */
bool touch_make(const struct workload *workload, const struct op *op, const struct compute *compute,
	int operand, struct touch *out);

bool touch_within(const struct touch *touch, const struct region *region);
bool touch_equals(const struct touch *touch, const struct region *region);

/* Elements of the tensor, padding apart, in the sticks; and in the host box. */
int64_t touch_stick_elements(const struct touch *touch);
int64_t touch_elements(const struct touch *touch);

#endif
