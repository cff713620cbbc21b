#ifndef COST_NEST_QUICK_WINDOWS_H
#define COST_NEST_QUICK_WINDOWS_H

#include "cost/nest/nest_quick_state.h"

/*
 * The tile of a level in the ranks that add dimensions, a lane each: a window, which slides.  It is
 * followed from its innermost relevant loop outwards, if that is one of such a rank, up to the first
 * relevant loop of another rank: once one of those goes on or falls back nothing of the tile stays.
 */
enum { QUICK_SHIFTS_MOST = ARCH_LEVELS_MOST * SHAPE_DIMENSIONS_MOST };

struct quick_window {
	lanes width;
	double rest;  /* product of the extents in the other ranks */
	double words; /* of the tile */
	int shift_count;
	lanes shifts[QUICK_SHIFTS_MOST]; /* by the advance of each loop, innermost first */
};

NEST_PART bool no_lane(masks mask)
{
	return !(mask[0] | mask[1] | mask[2] | mask[3]);
}

/* The tile of a dataspace at level i: width, rest, words. */
NEST_PART void window_open(const struct quick_state *state, const struct nest_shape_of *space,
	int i, struct quick_window *window)
{
	lanes width = all_lanes(1);
	double rest = 1;
	for (uint32_t left = space->summed; left; left &= left - 1) {
		int d = __builtin_ctz(left);
		width += lanes_at(space->step[d]) * (quick_indices(state, i, d) - 1);
	}
	for (int k = 0; k < space->single_count; k++)
		rest *= 1 + space->coefficient[k] * (quick_indices(state, i, space->single[k]) - 1);
	window->width = width;
	window->rest = rest;
	window->words = rest * lanes_product(width);
}

/* Places of a row's temporal loops in its order, innermost first; how many. */
NEST_PART int find_places(
	const uint8_t *order, int dimension_count, uint32_t looped, uint8_t *places)
{
	int count = 0;
	for (int k = 0; k < dimension_count; k++) {
		places[count] = (uint8_t)k;
		count += looped >> order[k] & 1;
	}
	return count;
}

/* Does the innermost temporal loop around level i move the window? */
NEST_PART bool window_is_paced(
	const struct quick_state *state, const struct nest_shape_of *space, int i)
{
	const struct nest_model *model = state->model;
	for (int l = i + 1; l < model->hierarchy->level_count; l++) {
		if (!state->looped[l])
			continue;
		const uint8_t *order = state->mapping->rows[model->prices[l].row].temporal_order;
		while (!(state->looped[l] >> *order & 1))
			order++;
		return space->summed >> *order & 1;
	}
	return false;
}

/* How far the loops inside fall back, the iterations of those from here outwards, and the words held
 * so far. */
struct quick_slide {
	lanes back;
	double steps, held;
};

/* Past the loops of one row; false at the first of another rank. */
NEST_PART bool slide_past(const struct quick_state *state, const struct nest_shape_of *space, int i,
	const bool exact, struct quick_slide *slide, struct quick_window *window)
{
	const struct nest_model *model = state->model;
	const uint8_t *order = state->mapping->rows[model->prices[i].row].temporal_order;
	uint8_t places[SHAPE_DIMENSIONS_MOST + 1];
	int count = find_places(order, model->shape->dimension_count, state->looped[i], places);
	for (int p = 0; p < count; p++) {
		int d = order[places[p]];
		bool in_rank = space->summed >> d & 1;
		if (!in_rank && space->relevant >> d & 1)
			return false;
		if (!in_rank && window->shift_count == 0)
			continue;
		double bound = state->temporal[i][d];
		slide->steps /= bound;
		lanes step = lanes_at(space->step[d]) * state->inside[i][d];
		lanes shift = step - slide->back;
		lanes shared = window->width - chosen(shift < 0, -shift, shift);
		slide->back += exact ? step * (bound - 1) : step;
		window->shifts[window->shift_count++] = shift;
		if (exact || no_lane(shift != 0) || no_lane(shift != window->shifts[0]))
			slide->held += (bound - 1) * slide->steps *
				       lanes_product(where(shared > 0, shared));
	}
	return true;
}

/*
 * Its shifts, and the words that it does not take anew at them; `steps`: iterations of its pace and
 * the loops around it.  Exactly, when a loop goes on those inside fall back from their last
 * iterations, and what the tile shares with the one before is held.  As Timeloop counts they fall
 * back from their second (nest_timeloop_moves.h), and a tile that turns round shares nothing: only
 * one that goes on as at first, or not at all.
 */
NEST_PART double window_slide(const struct quick_state *state, const struct nest_shape_of *space,
	int i, double steps, const bool exact, struct quick_window *window)
{
	struct quick_slide slide = {all_lanes(0), steps, 0};
	window->shift_count = 0;
	for (int l = i + 1; l < state->model->hierarchy->level_count; l++)
		if (state->looped[l] && !slide_past(state, space, l, exact, &slide, window))
			break;
	return slide.held * window->rest;
}

#endif
