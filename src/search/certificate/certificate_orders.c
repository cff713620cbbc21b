#include "search/certificate/certificate_orders.h"

#include "base/array.h"

#include <string.h>

/* What the dataspaces see of an order, innermost loop first: 1 + dimension, 0 where loops do not
 * matter any more. */
struct seen {
	uint8_t loops[SHAPE_SPACES_MOST][SHAPE_DIMENSIONS_MOST];
};

static void see(const struct floor_frame *frame, int t, const struct mapping_row *row,
	uint8_t loops[SHAPE_DIMENSIONS_MOST])
{
	const struct shape *shape = frame->search->shape;
	uint32_t relevant = shape->spaces[t].relevant;
	int count = 0, run = 0; /* of neighbours that the dataspace does not have */
	for (int n = 0; n < shape->dimension_count; n++) {
		uint8_t d = row->temporal_order[n];
		if (row->temporal[d] <= 1)
			continue;
		if (!frame->flagged && frame->alone[t] >> d & 1)
			return;
		int at = count++;
		run = relevant >> d & 1 || frame->flagged ? 0 : run + 1;
		for (; at > count - run && loops[at - 1] > d + 1; at--)
			loops[at] = loops[at - 1];
		loops[at] = (uint8_t)(d + 1);
	}
}

static uint8_t first_busy(const struct mapping_row *row, int dimension_count)
{
	for (int n = 0; n < dimension_count; n++)
		if (row->temporal[row->temporal_order[n]] > 1)
			return row->temporal_order[n];
	return 0;
}

struct orders orders_find(
	struct arena *arena, const struct floor_frame *frame, int j, const struct mapping *mapping)
{
	const struct space *space = frame->search->space;
	const struct tiling_level *level = &space->levels[frame->completions->tiling[j]];
	struct mapping tried = *mapping;
	struct array(struct seen) all = {0};
	struct array(uint64_t) kept = {0};
	struct array(uint8_t) innermost = {0};
	for (uint64_t i = 0, count = space_level_count(space, level, mapping); i < count; i++) {
		struct seen seen = {.loops = {{0}}};
		bool known = false;
		space_level_arrange(space, level, i, &tried);
		for (int t = 0; t < frame->search->shape->space_count; t++)
			see(frame, t, &tried.rows[level->row], seen.loops[t]);
		for (size_t k = 0; k < all.count && !known; k++)
			known = memcmp(&all.at[k], &seen, sizeof seen) == 0;
		if (known)
			continue;
		*array_add(arena, &all) = seen;
		*array_add(arena, &kept) = i;
		*array_add(arena, &innermost) =
			first_busy(&tried.rows[level->row], frame->search->shape->dimension_count);
	}
	return (struct orders){kept.count, kept.at, innermost.at};
}
