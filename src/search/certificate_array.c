#include "search/certificate_array.h"

#include <math.h>

/* Spatial loops of the array along one axis whose dimensions are in a mask; blocks with both
 * axes are left out. */
static double along(const struct floor_cell *cell, bool y, uint32_t dimensions)
{
	const struct hierarchy *hierarchy = cell->frame->search->hierarchy;
	double product = 1;
	for (int i = hierarchy->array_inner; i < hierarchy->array_end; i++) {
		const struct nest_level *block = &hierarchy->levels[i];
		if ((y ? block->fanout_x : block->fanout_y) > 1)
			continue;
		for (int d = 0; d < cell->frame->search->shape->dimension_count; d++)
			if (dimensions >> d & 1)
				product *= cell->spatial[i][d];
	}
	return product;
}

/* A loop that some dataspace does not have makes PEs hand on. */
static double skew_of(const struct floor_cell *cell)
{
	const struct shape *shape = cell->frame->search->shape;
	double skew = 0;
	for (int y = 0; y < 2; y++) {
		bool hands_on = false;
		for (int t = 0; t < shape->space_count; t++)
			hands_on |= along(cell, y, ~shape->spaces[t].relevant) > 1;
		skew += hands_on ? along(cell, y, UINT32_MAX) - 1 : 0;
	}
	return skew;
}

/* Temporal iterations of what moves a dataspace: so many tiles of one iteration there are. */
static double tiles_of(const struct floor_cell *cell, uint32_t relevant)
{
	double tiles = 1;
	for (int d = 0; d < cell->frame->search->shape->dimension_count; d++)
		if (relevant >> d & 1)
			tiles *= (double)cell->temporal[d];
	return tiles;
}

double floor_array(const struct floor_cell *cell, const struct floor_loops *loops, int j)
{
	const struct floor_frame *frame = cell->frame;
	const struct hierarchy *hierarchy = frame->search->hierarchy;
	double passes = 1, load = 0, rate = 1;
	if (!hierarchy->array_end || frame->flagged)
		return 0;
	for (int t = 0; t < frame->search->shape->space_count; t++) {
		const struct dataspace *space = &frame->search->shape->spaces[t];
		int k = 0;
		if (!frame->plain[t] || !cell->kept_count[t])
			continue;
		while (k < cell->kept_count[t] &&
			frame->completions->level[cell->kept[t][k]] >= hierarchy->array_inner)
			k++;
		if (k == cell->kept_count[t]) {
			rate = fmax(rate, fmin(along(cell, false, space->relevant),
						  along(cell, true, space->relevant)));
			continue;
		}
		if (k == 0)
			continue; /* it never comes from outside */
		int at = cell->kept[t][k];
		double moves = loops[at > j ? at : j].times[t], words = 1;
		passes = fmax(passes, moves);
		for (int d = 0; d < frame->search->shape->dimension_count; d++)
			words *= space->relevant >> d & 1 ? cell->inside[at][d] : 1;
		if (!space->written)
			load += fmax(moves, tiles_of(cell, space->relevant)) * words *
				along(cell, true, space->relevant);
	}
	return passes * skew_of(cell) + load + cell->steps * (rate - 1);
}
