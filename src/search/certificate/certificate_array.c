#include "search/certificate/certificate_floor.h"

#include <math.h>

/* Spatial loops of the array over a dimension along one axis; blocks with both axes are left out. */
static double bound_along(const struct floor_cell *cell, bool y, int d)
{
	const struct hierarchy *hierarchy = cell->frame->search->hierarchy;
	double product = 1;
	for (int i = hierarchy->array_inner; i < hierarchy->array_end; i++) {
		const struct nest_level *block = &hierarchy->levels[i];
		if ((y ? block->fanout_x : block->fanout_y) == 1)
			product *= cell->spatial[i][d];
	}
	return product;
}

static double along(const struct floor_cell *cell, bool y, uint32_t dimensions)
{
	double product = 1;
	for (int d = 0; d < cell->frame->search->shape->dimension_count; d++)
		product *= dimensions >> d & 1 ? bound_along(cell, y, d) : 1;
	return product;
}

/* Different tiles of a dataspace there at least.  Indices of a rank that adds dimensions make sums,
 * of which there are no fewer than from 0 on one dimension after the other. */
static double tiles_along(const struct floor_cell *cell, bool y, int t)
{
	double tiles = 1;
	for (int r = 0; r < cell->frame->search->shape->spaces[t].rank_count; r++) {
		double steps = 0;
		for (int d = 0; d < cell->frame->search->shape->dimension_count; d++)
			if (cell->frame->own[t][r] >> d & 1)
				steps += bound_along(cell, y, d) - 1;
		tiles *= 1 + steps;
	}
	return tiles;
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

/* Words that a PE loads.  Those of a plain dataspace are each loaded once, or this many tiles of at
 * least one iteration; so are windows. */
static double loads_of(const struct floor_cell *cell, int t, int at, double moves)
{
	const struct shape *shape = cell->frame->search->shape;
	double tiles = 1, words = 1;
	if (!cell->frame->plain[t])
		return moves;
	for (int d = 0; d < shape->dimension_count; d++)
		if (shape->spaces[t].relevant >> d & 1) {
			tiles *= (double)cell->temporal[d];
			words *= cell->inside[at][d];
		}
	return fmax(moves, tiles) * words;
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
		if (!cell->kept_count[t])
			continue;
		while (k < cell->kept_count[t] &&
			frame->completions->level[cell->kept[t][k]] >= hierarchy->array_inner)
			k++;
		if (k == cell->kept_count[t]) {
			rate = fmax(rate,
				fmin(tiles_along(cell, false, t), tiles_along(cell, true, t)));
			continue;
		}
		if (k == 0)
			continue; /* it never comes from outside */
		int at = cell->kept[t][k];
		double moves = loops[at > j ? at : j].times[t];
		passes = fmax(passes, moves);
		if (!space->written)
			load += loads_of(cell, t, at, moves) * tiles_along(cell, true, t);
	}
	if (hierarchy->array_overlaps) /* loads hide behind steps, but only behind these */
		return skew_of(cell) + fmax(cell->steps * rate, load) - cell->steps;
	return passes * skew_of(cell) + load + cell->steps * (rate - 1);
}
