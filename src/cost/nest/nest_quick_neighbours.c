#include "cost/nest/nest_quick_neighbours.h"

#include "base/number.h"

/* How the neighbours lie that one loop of a block makes. */
struct beside {
	lanes by; /* offset, in the ranks that add dimensions */
	/* A loop before it on its axis is of no dimension of the dataspace: of the children that
	 * take the same words only some have such a neighbour. */
	bool some;
};

struct quick_block {
	int count;
	struct beside beside[SHAPE_DIMENSIONS_MOST];
};

/* Adds the neighbours of one axis: where a loop goes on, those before it fall back.  With a rank of
 * one dimension between them neighbours have nothing in common. */
NEST_PART void find_neighbours(const struct quick_state *state, const struct nest_shape_of *space,
	int i, uint32_t axis, struct quick_block *block)
{
	const struct mapping_row *row = &state->mapping->rows[state->model->prices[i].block_row];
	lanes back = all_lanes(0);
	bool some = false;
	for (int k = 0; axis && k < state->model->shape->dimension_count; k++) {
		int d = row->spatial_order[k];
		bool in_rank = space->summed >> d & 1;
		if (!(axis >> d & 1))
			continue;
		if (!in_rank && space->relevant >> d & 1)
			return;
		lanes step = lanes_at(space->step[d]) * quick_indices(state, i - 1, d);
		block->beside[block->count++] = (struct beside){step - back, some};
		back += step * (state->spatial[i][d] - 1);
		some |= !in_rank;
	}
}

/* Neighbours that are `by` apart, in either direction, but not in the same place: all children
 * that take the same words have one, or some of them. */
struct quick_found {
	int all, some;
};

NEST_PART struct quick_found find_apart(const struct quick_block *block, const lanes *by)
{
	struct quick_found found = {0};
	if (no_lane(*by != 0))
		return found;
	for (int i = 0; i < block->count; i++) {
		const struct beside *beside = &block->beside[i];
		bool is = no_lane(beside->by != *by) || no_lane(beside->by != -*by);
		found.all += is && !beside->some;
		found.some += is && beside->some;
	}
	return found;
}

/*
 * Words are handed on only if a level then serves fewer groups of children that take the same.  Where
 * one loop makes the neighbours, and only some children of each group have one, none is saved.
 * Behind a level that is passed by Timeloop does not count who hands on, only how many
 * children a word goes to: as many as before where all of a group have a neighbour.
 */
NEST_PART bool matters(struct quick_found found, bool passed)
{
	if (passed)
		return found.some > 1 || (found.some && found.all);
	return found.all || found.some > 1;
}

/*
 * A child can have what its neighbour entered a move step before only if that lay as far away as
 * the neighbour does.  The pace brings either the whole tile or, at the side where it moves to, an
 * edge as wide as its shift; any other loop goes on after the pace did and before it does again.
 * Two whole tiles, and edges at the same side, are a shift apart.  Edges at opposite sides are
 * alike where a loop shifts back as far as the pace shifts on, and they are the tile's width apart
 * (which Timeloop, that looks for tiles alone, does not see).
 */
NEST_PART bool block_hands_on(
	const struct quick_block *block, bool exact, bool passed, const struct quick_window *window)
{
	for (int j = 0; j < window->shift_count; j++)
		if (matters(find_apart(block, &window->shifts[j]), passed))
			return true;
	lanes pace = window->shifts[0];
	lanes width = where((pace > 0) & (pace < window->width), window->width);
	return exact && matters(find_apart(block, &width), passed);
}

/* Are two children of the block apart by a shift, neighbours or not? */
NEST_PART bool block_spans_shift(const struct quick_state *state, const struct nest_shape_of *space,
	int i, const struct quick_window *window)
{
	lanes reach = all_lanes(0);
	for (uint32_t left = state->spread[i] & space->summed; left; left &= left - 1) {
		int d = __builtin_ctz(left);
		reach += lanes_at(space->step[d]) * quick_indices(state, i - 1, d) *
			 (state->spatial[i][d] - 1);
	}
	for (int j = 0; j < window->shift_count; j++)
		if (no_lane((window->shifts[j] > reach) | (-window->shifts[j] > reach)))
			return true;
	return false;
}

NEST_WIDE bool quick_may_hand_on(const struct quick_state *state, int t, int i, bool exact,
	const struct quick_window *window)
{
	const struct nest_model *model = state->model;
	const struct nest_shape_of *space = &model->spaces[t];
	uint32_t spread = state->spread[i];
	if (model->hierarchy->levels[i].no_link_transfer >> t & 1)
		return false;
	const struct level_price *price = &model->prices[i];
	uint32_t y = spread & state->mapping->rows[price->block_row].spatial_y;
	/* Timeloop numbers the children without gaps, and lays them out in rows as long as the
	 * fan-out. */
	double fan_x = 1;
	for (uint32_t left = spread & ~y; left; left &= left - 1)
		fan_x *= state->spatial[i][__builtin_ctz(left)];
	if (!exact && y && fan_x != price->fanout_x)
		return block_spans_shift(state, space, i, window);
	struct quick_block block;
	block.count = 0;
	find_neighbours(state, space, i, spread & ~y, &block);
	find_neighbours(state, space, i, y, &block);
	return block_hands_on(&block, exact, !quick_keeps(state, i - 1, t), window);
}

/* The loops of one dimension in some blocks, as one: how many, how far apart; false if it leaves
 * gaps. */
NEST_PART bool join_blocks(const struct quick_state *state, const struct nest_shape_of *space,
	int from, int to, int s, int d, double *count, double *step)
{
	*count = *step = 1;
	for (int l = from; l <= to; l++) {
		if (!(state->spread[l] >> d & 1))
			continue;
		double next = space->step[d][s] * quick_indices(state, l - 1, d);
		if (*count > 1 && next != *step * *count)
			return false;
		*step = *count > 1 ? *step : next;
		*count *= state->spatial[l][d];
	}
	return true;
}

/* Different sums of a x step and b x step, from 0: see nest_offsets.c. */
NEST_PART double count_sums(double a, double a_step, double b, double b_step)
{
	double common = (double)number_gcd((int64_t)a_step, (int64_t)b_step);
	double a_more = a - b_step / common, b_more = b - a_step / common;
	return a * b - (a_more > 0 && b_more > 0 ? a_more * b_more : 0);
}

/* The groups of all blocks become those of the outermost: `merged` for every `plain` ones. */
NEST_PART void put_groups(
	struct quick_state *state, int t, int from, int to, double plain, double merged)
{
	int outermost = from;
	double all = 1;
	for (int l = from; l <= to; l++)
		if (state->spread[l]) {
			all *= state->groups[l][t % LANES];
			state->groups[l][t % LANES] = 1;
			outermost = l;
		}
	state->groups[outermost][t % LANES] = all / plain * merged;
}

NEST_WIDE bool quick_merge_groups(struct quick_state *state, int t, int from, int to)
{
	const struct nest_shape_of *space = &state->model->spaces[t];
	for (int s = 0; s < space->sum_count; s++) {
		uint32_t spread = state->spread_anywhere & space->sums[s];
		if (!(spread & (spread - 1)))
			continue;
		double count[2], step[2];
		for (int k = 0; k < 2; k++, spread &= spread - 1)
			if (!join_blocks(state, space, from, to, s, __builtin_ctz(spread),
				    &count[k], &step[k]))
				return false;
		if (count[0] > 1 && count[1] > 1)
			put_groups(state, t, from, to, count[0] * count[1],
				count_sums(count[0], step[0], count[1], step[1]));
	}
	return true;
}
