#include "cost/nest_quick_boxes.h"

#include "cost/nest_quick_neighbours.h"

/* Level that is next inwards and keeps the dataspace; -1: the multipliers. */
NEST_PART int child_of(const struct quick_state *state, int i, int t)
{
	do
		i--;
	while (i >= 0 && !quick_keeps(state, i, t));
	return i;
}

/* Are there two dimensions of one rank in the block below level i? */
NEST_PART bool meet_in_block(const struct quick_state *state, int i, int t)
{
	const struct nest_shape_of *space = &state->model->spaces[t];
	bool meet = false;
	for (int s = 0; s < space->sum_count; s++) {
		uint32_t shared = state->spread[i] & space->sums[s];
		meet |= (shared & (shared - 1)) != 0;
	}
	return meet;
}

NEST_PART bool find_box(
	const struct quick_state *state, int i, int t, const bool exact, struct quick_box *box)
{
	const struct nest_shape_of *space = &state->model->spaces[t];
	struct quick_window window;
	bool right = true;
	window_open(state, space, i, &window);
	box->tile = window.words;
	if (exact && state->spread_anywhere & space->summed)
		right = quick_merge_groups(
			state, space, child_of(state, i, t) + 1, i, &box->served);
	if (!quick_enters(state, i, t))
		return right;
	box->filled = window.words * state->runs[i + 1][t % LANES];
	if (!exact && state->spread[i + 1])
		right = !meet_in_block(state, i + 1, t);
	if (state->slides[i + 1][t % LANES]) {
		box->filled -= window_slide(state, space, i, exact, &window);
		right &= !quick_may_hand_on(state, t, i + 1, exact, &window);
	}
	return right;
}

NEST_WIDE bool quick_box_find(
	const struct quick_state *state, int i, int t, bool exact, struct quick_box *box)
{
	return exact ? find_box(state, i, t, true, box) : find_box(state, i, t, false, box);
}

NEST_WIDE bool quick_box_passes(const struct quick_state *state, int i, int t)
{
	const struct nest_shape_of *space = &state->model->spaces[t];
	if (meet_in_block(state, i + 1, t))
		return false;
	if (!state->slides[i + 1][t % LANES])
		return true;
	struct quick_window window;
	window_open(state, space, i, &window);
	window_slide(state, space, i, false, &window);
	return !quick_may_hand_on(state, t, i + 1, false, &window);
}

/* Multipliers with a block around them keep what stays the same, and hand it on. */
NEST_WIDE bool quick_multipliers_meet(const struct quick_state *state, int t)
{
	bool links = !(state->model->hierarchy->levels[0].no_link_transfer >> t & 1);
	return meet_in_block(state, 0, t) ||
	       (links && (state->model->spaces[t].sum_count > 0 ||
				 state->groups[0][t % LANES] != state->fan[0]));
}
