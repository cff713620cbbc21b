#include "cost/nest/nest_quick_state.h"

#include "cost/nest/nest_quick_neighbours.h"

/* Are there two dimensions of one rank among those that are spread? */
NEST_PART bool two_of_a_rank(const struct nest_shape_of *space, uint32_t spread)
{
	bool two = false;
	spread &= space->summed;
	for (int s = 0; spread & (spread - 1) && s < space->sum_count; s++) {
		uint32_t shared = spread & space->sums[s];
		two |= (shared & (shared - 1)) != 0;
	}
	return two;
}

/* As Timeloop counts, multipliers with a block around them keep what stays the same, and hand it
 * on. */
NEST_PART bool multipliers_meet(const struct quick_state *state, int t)
{
	const struct nest_shape_of *space = &state->model->spaces[t];
	bool links = !(state->model->hierarchy->levels[0].no_link_transfer >> t & 1);
	return two_of_a_rank(space, state->spread[0]) || (links && space->sum_count > 0);
}

NEST_PART bool find_boxes(struct quick_state *state, int t, const bool exact)
{
	const struct nest_shape_of *space = &state->model->spaces[t];
	int level_count = state->model->hierarchy->level_count, child = -1;
	bool right = exact || !state->spread[0] || !multipliers_meet(state, t);
	bool merge = exact && two_of_a_rank(space, state->spread_anywhere);
	struct quick_window window;
	for (int i = 0; i < level_count; i++) {
		bool kept = quick_keeps(state, i, t), home = !quick_enters(state, i, t);
		/* As Timeloop counts, the block around a level that is passed by is one by itself, and who
		 * hands on matters if some of its children take the same words. */
		if (!kept && exact)
			continue;
		uint32_t around = home ? 0 : state->spread[i + 1] & space->summed;
		bool links = around && (kept || state->spread[i + 1] & ~space->relevant) &&
			     window_is_paced(state, space, i);
		if (!exact && two_of_a_rank(space, around))
			right = false;
		if (!kept && !links)
			continue;
		window_open(state, space, i, &window);
		if (kept) {
			state->tiles[i][t % LANES] = window.words;
			if (merge)
				right &= quick_merge_groups(state, t, child + 1, i);
			child = i;
		}
		if (home)
			break;
		double steps = state->runs[i + 1][t % LANES];
		double held = window_slide(state, space, i, steps, exact, &window);
		if (links)
			right &= !quick_may_hand_on(state, t, i + 1, exact, &window);
		if (kept)
			state->filled[i][t % LANES] = window.words * steps - held;
	}
	return right;
}

NEST_WIDE bool quick_boxes(struct quick_state *state, int t, bool exact)
{
	return exact ? find_boxes(state, t, true) : find_boxes(state, t, false);
}
