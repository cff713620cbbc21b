#include "solvers/map/uneven/array.h"

#include "solvers/map/exact/skew.h"

#include <math.h>

/* The outermost level in the PEs that keeps a dataspace; -1 if none does, or if it is never anywhere
 * else. */
static int find_held(const struct uneven_view *view, int t)
{
	const struct nest_frame *frame = view->frame;
	int inner = frame->search->hierarchy->array_inner;
	if (!view->chain_count[t] || frame->level[view->chain[t][0]] < inner)
		return -1;
	for (int k = 1; k < view->chain_count[t]; k++)
		if (frame->level[view->chain[t][k]] < inner)
			return frame->level[view->chain[t][k]];
	return -1;
}

/* Words of a dataspace for each tile that instances of a level may have at a time. */
static double words_each(const struct uneven_view *view, int t, int level)
{
	const struct hierarchy *hierarchy = view->frame->search->hierarchy;
	const struct shape *shape = view->frame->search->shape;
	double words = 1;
	for (int d = 0; d < shape->dimension_count; d++) {
		if (!(shape->spaces[t].relevant >> d & 1))
			continue;
		words *= (double)shape->dimensions[d].extent;
		for (int i = level + 1; i < hierarchy->level_count; i++)
			words /= view->mapping.rows[hierarchy->levels[i].block_row].spatial[d];
	}
	return words;
}

double uneven_array(const struct uneven_view *view)
{
	const struct nest_frame *frame = view->frame;
	const struct hierarchy *hierarchy = frame->search->hierarchy;
	double skew = nest_skew_least(frame, &view->mapping), passes = 1, load = 0;
	double rate = 1;
	if (!hierarchy->array_end)
		return 0;
	for (int t = 0; t < frame->search->shape->space_count; t++) {
		int level = find_held(view, t);
		if (frame->flagged || !frame->spaces[t].plain)
			continue;
		if (level < 0) {
			bool outside = view->chain_count[t] &&
				       frame->level[view->chain[t][0]] >= hierarchy->array_inner;
			if (outside)
				rate = fmax(rate,
					fmin(nest_skew_tiles(frame, &view->mapping, t, false),
						nest_skew_tiles(frame, &view->mapping, t, true)));
			continue;
		}
		double words = words_each(view, t, level);
		if (hierarchy->levels[level].size)
			passes = fmax(passes, words / (double)hierarchy->levels[level].size);
		if (!frame->search->shape->spaces[t].written)
			load += words * nest_skew_tiles(frame, &view->mapping, t, true);
	}
	if (hierarchy->array_overlaps)
		return skew + view->cycles * (rate - 1);
	return floor((passes * skew + load) * (1 - 1e-9)) + view->cycles * (rate - 1);
}
