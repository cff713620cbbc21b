#include "cost/nest/nest_count.h"

#include "base/number.h"
#include "cost/nest/nest.h"

/*
 * Facts of one mapping that the parts of the quick count share.  Numbers are
 * whole, below 2^51 where the bounds make the extents (nest.c sees to that); no product of
 * other bounds comes back to an extent by rounding.
 */
struct quick_state {
	const struct nest_model *model;
	const struct mapping *mapping;

	/* Found by quick_rows.  By level and dimension: bounds of the temporal loops, of the block
	 * below where it has any, and the indices that one iteration of the temporal loops covers. */
	double temporal[ARCH_LEVELS_MOST][SHAPE_DIMENSIONS_MOST];
	double spatial[ARCH_LEVELS_MOST][SHAPE_DIMENSIONS_MOST];
	double inside[ARCH_LEVELS_MOST][SHAPE_DIMENSIONS_MOST];
	/* Dimensions whose bound is not 1: in the temporal loops, in the block, in any block. */
	uint32_t looped[ARCH_LEVELS_MOST], spread[ARCH_LEVELS_MOST], spread_anywhere;
	double instances[ARCH_LEVELS_MOST], fan[ARCH_LEVELS_MOST], multipliers;

	/* Found on the way inwards. */
	double steps;
	/* For the four dataspaces at hand: */
	masks residency;
	lanes tiles[ARCH_LEVELS_MOST];  /* W(i) */
	lanes filled[ARCH_LEVELS_MOST]; /* words that an instance takes from its parent */
	/* Words that come without a sum: timeloop: all of it / G of the blocks outside, in each
	 * instance; exact: E(i), in all. */
	lanes parts[ARCH_LEVELS_MOST];
	lanes runs[ARCH_LEVELS_MOST];   /* m(i) */
	lanes groups[ARCH_LEVELS_MOST]; /* G(i), where the block has loops */

	/* Found on the way outwards, of all dataspaces so far: words of the tiles, words that pass
	 * the ports. */
	double held[ARCH_LEVELS_MOST], read[ARCH_LEVELS_MOST], written[ARCH_LEVELS_MOST];
};

/* Indices of a dimension in a tile of level i; -1: the multipliers. */
static inline double quick_indices(const struct quick_state *state, int i, int d)
{
	return i < 0 ? 1 : state->inside[i][d] * state->temporal[i][d];
}

/* Is dataspace t kept at level i? */
static inline bool quick_keeps(const struct quick_state *state, int i, int t)
{
	const struct level_price *price = &state->model->prices[i];
	return price->storage && state->mapping->residency[t] >> price->row & 1;
}

/* Has dataspace t a parent outside level i? */
static inline bool quick_enters(const struct quick_state *state, int i, int t)
{
	uint32_t outer = ((uint32_t)1 << state->model->prices[i].row) - 1;
	return state->mapping->residency[t] & state->model->storage_rows & outer;
}

/*
 * The rows of a mapping as the quick count works with them.  A mapping is long, and only this
 * reads its bounds.  False for bounds that do not make the extents, and for a fan-out that is too
 * small.
 */
static bool quick_rows(struct quick_state *state);

/*
 * Corrects the facts that the way inwards has found of a dataspace as if each of its ranks were one
 * plain dimension: its tiles, the words that fill them, the groups of blocks.  False if the exact
 * count must take it: neighbours may hand words on, or the groups of children that take the same
 * words are not a product.  Its tiles are right in any case.
 */
static bool quick_boxes(struct quick_state *state, int t, bool exact);

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

/* The steps by which the loops inside fall back, the iterations of those from here outwards, and the
 * words held so far. */
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
 * Its shifts, and the words that it does not take again at them; `steps`: iterations of its pace and
 * the loops around it.  Exactly, when a loop goes on those inside fall back from their last
 * iterations, and what the tile shares with the one before is held.  As Timeloop counts they fall
 * back from their second, and a tile that turns round shares nothing: only
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

/*
 * Children that take the same words: at the same time, as groups, or one after another, over
 * links between neighbours.  One dataspace at a time, some of whose ranks add dimensions.
 */

/* True if children of block i may hand words on to their neighbours in a way that counts: the long
 * way finds out.  `window`: of level i - 1, moved by the innermost temporal loop around it; else
 * neighbours hand on nothing. */
static bool quick_may_hand_on(const struct quick_state *state, int t, int i, bool exact,
	const struct quick_window *window);

/*
 * Exactly, puts the groups that the children of blocks `from` to `to` make together in the place
 * of those of each block: where two dimensions of a rank are spread, children take the same words
 * where their offsets add up to the same.  False where the loops of one dimension in several
 * blocks leave gaps.
 */
static bool quick_merge_groups(struct quick_state *state, int t, int from, int to);

/* From the innermost level outwards, dimensions in lanes. */
NEST_PART bool read_rows(struct quick_state *state, const int vectors)
{
	const struct nest_model *model = state->model;
	int level_count = model->hierarchy->level_count;
	lanes inside[SHAPE_DIMENSIONS_MOST / LANES];
	uint32_t spread_anywhere = 0, all = model->all_dimensions;
#pragma GCC unroll 4
	for (int v = 0; v < vectors; v++)
		inside[v] = all_lanes(1);
	for (int i = 0; i < level_count; i++) {
		const struct level_price *price = &model->prices[i];
		const struct mapping_row *row = &state->mapping->rows[price->row];
		const struct mapping_row *block = &state->mapping->rows[price->block_row];
		uint32_t spread = nest_busy(block->spatial, vectors, all);
		state->looped[i] = nest_busy(row->temporal, vectors, all);
		state->spread[i] = spread;
		spread_anywhere |= spread;
		if (spread)
#pragma GCC unroll 4
			for (int v = 0; v < vectors; v++) {
				lanes bounds = lanes_of_bounds(&block->spatial[v * LANES]);
				put_lanes(&state->spatial[i][v * LANES], bounds);
				inside[v] *= bounds;
			}
#pragma GCC unroll 4
		for (int v = 0; v < vectors; v++) {
			lanes bounds = lanes_of_bounds(&row->temporal[v * LANES]);
			put_lanes(&state->inside[i][v * LANES], inside[v]);
			put_lanes(&state->temporal[i][v * LANES], bounds);
			inside[v] *= bounds;
		}
	}
	state->spread_anywhere = spread_anywhere;
	masks wrong = {0};
	for (int v = 0; v < vectors; v++)
		wrong |= (masks)(inside[v] != lanes_at(&model->extents[v * LANES])) &
			 masks_at(&model->used[v * LANES]);
	return !(wrong[0] | wrong[1] | wrong[2] | wrong[3]);
}

/* Instances of a block, along X and Y; false if the fan-out is too small. */
NEST_PART bool fan_out(struct quick_state *state, int i, const int vectors)
{
	const struct nest_model *model = state->model;
	const struct level_price *price = &model->prices[i];
	uint32_t along_y = state->spread[i] & state->mapping->rows[price->block_row].spatial_y;
	lanes bounds = all_lanes(1);
	for (int v = 0; v < vectors; v++)
		bounds *= 1 + where(masks_at(&model->used[v * LANES]),
				      lanes_at(&state->spatial[i][v * LANES]) - 1);
	double fan = lanes_product(bounds), fan_y = 1;
	if (along_y == state->spread[i])
		fan_y = fan;
	else
		for (uint32_t left = along_y; left; left &= left - 1)
			fan_y *= state->spatial[i][__builtin_ctz(left)];
	state->fan[i] = fan;
	return fan <= price->fanout_x * fan_y && fan_y <= price->fanout_y;
}

/* From the outermost level inwards. */
NEST_PART bool fan_out_all(struct quick_state *state, const int vectors)
{
	double instances = 1;
	for (int i = state->model->hierarchy->level_count - 1; i >= 0; i--) {
		state->instances[i] = instances;
		if (!state->spread[i])
			continue;
		if (!fan_out(state, i, vectors))
			return false;
		instances *= state->fan[i];
	}
	state->multipliers = instances;
	return true;
}

static NEST_WIDE bool quick_rows(struct quick_state *state)
{
	int dimension_count = state->model->shape->dimension_count;
	if (dimension_count <= LANES)
		return read_rows(state, 1) && fan_out_all(state, 1);
	if (dimension_count <= 2 * LANES)
		return read_rows(state, 2) && fan_out_all(state, 2);
	return read_rows(state, 4) && fan_out_all(state, 4);
}

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

static NEST_WIDE bool quick_boxes(struct quick_state *state, int t, bool exact)
{
	return exact ? find_boxes(state, t, true) : find_boxes(state, t, false);
}

/* The places of the neighbours that one loop of a block makes. */
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

static NEST_WIDE bool quick_may_hand_on(const struct quick_state *state, int t, int i, bool exact,
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

/* Different sums of a x step and b x step, from 0: see nest_exact.c. */
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

static NEST_WIDE bool quick_merge_groups(struct quick_state *state, int t, int from, int to)
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

/* Dataspaces at hand that a level keeps; that some level outside it keeps. */
NEST_PART masks kept_at(const struct quick_state *state, const struct level_price *price)
{
	return (state->residency & price->row_bit) == price->row_bit;
}

NEST_PART masks kept_outside(const struct quick_state *state, const struct level_price *price)
{
	return (state->residency & (price->row_bit - 1)) > 0;
}

/* A bound of dimension d for the dataspaces that it is relevant to, 1 for the others. */
NEST_PART lanes factor_of(const struct nest_model *model, int d, const int first, lanes bound)
{
	return (lanes)((masks_at(&model->relevant[d][first]) & (masks)bound) |
		       (masks)lanes_at(&model->irrelevant[d][first]));
}

/* From the outermost loop inwards. */
NEST_PART void go_inwards(
	struct quick_state *state, const int first, const bool odd, const bool exact)
{
	const struct nest_model *model = state->model;
	int dimension_count = model->shape->dimension_count;
	lanes all = lanes_at(&model->words[first]), part = all;
	lanes steps = all_lanes(1), run = steps, around = steps;
	lanes below = steps; /* groups below all instances of the parent */
	lanes alike = steps; /* instances that have the same indices of a dataspace */
	lanes unsummed = model->hierarchy->resumes ? all_lanes(0) : all; /* at the home */
	masks homeless = ~(masks){0};
	for (int i = model->hierarchy->level_count - 1; i >= 0; i--) {
		const struct level_price *price = &model->prices[i];
		if (price->storage) {
			lanes tile = all / around, filled = tile * run;
			if (exact) {
				masks kept = kept_at(state, price);
				lanes instances = all_lanes(state->instances[i]);
				lanes empty = part + filled * (instances - below);
				part = chosen(
					kept, chosen(homeless, unsummed * alike, empty), part);
				below = chosen(kept, instances, below);
				homeless &= ~kept;
			}
			state->tiles[i] = tile;
			state->filled[i] = filled;
			state->parts[i] = part;
		}
		if (state->looped[i]) {
			const uint8_t *order = state->mapping->rows[price->row].temporal_order;
			for (int k = dimension_count; k-- > 0;) {
				int d = order[k];
				lanes bound = all_lanes(state->temporal[i][d]);
				lanes factor = factor_of(model, d, first, bound);
				masks moves = factor != 1;
				steps *= bound;
				around *= factor;
				run = chosen(moves, steps, run);
			}
		}
		if (odd)
			state->runs[i] = run;
		if (state->spread[i]) {
			lanes groups = all_lanes(1);
			for (int d = 0; d < dimension_count; d++)
				groups *=
					factor_of(model, d, first, all_lanes(state->spatial[i][d]));
			state->groups[i] = groups;
			around *= groups;
			below *= groups;
			if (exact)
				alike *= state->fan[i] / groups;
			else
				part = part / groups;
		}
	}
	state->steps = steps[0];
}

/* Counts of dataspaces, a field in each of the vectors. */
NEST_PART void put_counts(struct nest_count *at, const int count, masks capacity, masks reads,
	masks fills, masks updates, masks drains)
{
	masks even = __builtin_shufflevector(capacity, reads, 0, 4, 2, 6);
	masks odd = __builtin_shufflevector(capacity, reads, 1, 5, 3, 7);
	masks more_even = __builtin_shufflevector(fills, updates, 0, 4, 2, 6);
	masks more_odd = __builtin_shufflevector(fills, updates, 1, 5, 3, 7);
	masks rows[] = {__builtin_shufflevector(even, more_even, 0, 1, 4, 5),
		__builtin_shufflevector(odd, more_odd, 0, 1, 4, 5),
		__builtin_shufflevector(even, more_even, 2, 3, 6, 7),
		__builtin_shufflevector(odd, more_odd, 2, 3, 6, 7)};
#pragma GCC unroll 4
	for (int k = 0; k < count && k < LANES; k++) {
		memcpy(&at[k].capacity, &rows[k], sizeof rows[k]);
		at[k].links = 0;
		at[k].drains = drains[k];
	}
}

/* Adds up all dataspaces at a level. */
NEST_PART void settle(const struct quick_state *state, int i, double held, double read,
	double written, struct nest_score *score, struct nest_quick *out)
{
	const struct level_price *price = &state->model->prices[i];
	if ((held > price->size || held < price->least_size) && out->verdict == NEST_FITS) {
		out->verdict = held > price->size ? NEST_CAPACITY : NEST_UTILIZATION;
		score->level = i;
		score->asked = (int64_t)held;
		score->given = state->model->hierarchy->levels[i].size;
	}
	if (price->limited)
		out->waits |= (uint32_t)nest_may_wait(
				      price, read, written, state->steps * state->instances[i])
			      << i;
}

/* From the innermost level outwards; `count` dataspaces, of which up to four are at hand.  Long, as
 * the innermost loop of every search is compiled as one piece, its values in registers. */
NEST_PART void go_outwards(struct quick_state *state, const int first, const int count,
	const bool exact, struct nest_counts *counts, struct nest_score *score,
	struct nest_quick *out)
{
	const struct nest_model *model = state->model;
	const bool last = count <= LANES;
	lanes served = all_lanes(state->steps), none = all_lanes(0);
	for (int i = 0; i < model->hierarchy->level_count; i++) {
		const struct level_price *price = &model->prices[i];
		double instances = state->instances[i], held = 0, read = 0, written = 0;
		counts->utilized[i] = (int64_t)instances;
		if (state->spread[i])
			served *= state->groups[i];
		if (!price->storage) {
			put_counts(&counts->at[i][first], count, (masks)none, (masks)none,
				(masks)none, (masks)none, (masks)none);
			put_lanes(&score->space_pj[i][first], none);
			score->level_pj[i] = 0;
		} else {
			/* Exactly, instances need not be alike, and only all together are whole. */
			double times = exact ? instances : 1, left = exact ? 1 : instances;
			masks kept = kept_at(state, price),
			      away = kept & kept_outside(state, price);
			masks sums = kept & masks_at(&model->written[first]);
			lanes tile = where(kept, state->tiles[i]);
			lanes filled = where(away, state->filled[i]);
			/* The first word of a sum comes from nowhere. */
			lanes part = where(sums, state->parts[i]);
			lanes updates = where(sums, served) * times;
			/* All words that entered, with a sum or without, drain. */
			lanes drains = exact ? where(sums, filled) * times : none;
			lanes reads = where(kept, served) * times - part + drains;
			lanes fills = filled * times - where(away, part);
			lanes pj =
				lanes_pj(price, reads, fills, updates, times * price->block_size) *
				clusters_of(price, instances);
			put_lanes(&score->space_pj[i][first], pj);
			score->level_pj[i] = (first ? score->level_pj[i] : 0) + lanes_sum(pj);
			reads *= left;
			fills *= left;
			updates *= left;
			put_counts(&counts->at[i][first], count, whole(tile), whole(reads),
				whole(fills), whole(updates), whole(drains));
			served = chosen(kept, filled, served);
			held = lanes_sum(tile);
			if (price->limited) {
				lanes scale = lanes_at(&model->rate_scale[i][first]);
				read = lanes_sum(reads * scale);
				written = lanes_sum((fills + updates) * scale);
			}
		}
		if (first) {
			held += state->held[i];
			read += state->read[i];
			written += state->written[i];
		}
		if (last) {
			settle(state, i, held, read, written, score, out);
		} else {
			state->held[i] = held;
			state->read[i] = read;
			state->written[i] = written;
		}
	}
}

/* As Timeloop counts, multipliers with a block around them keep what stays the same, and hand it on:
 * the long way finds out. */
NEST_PART uint32_t shared_by_multipliers(const struct quick_state *state, int first, int count)
{
	uint32_t shared = 0;
	for (int k = 0; k < count && k < LANES; k++)
		shared |= (uint32_t)(state->groups[0][k] != state->fan[0]) << k;
	return (shared << first) & ~(uint32_t)state->model->hierarchy->levels[0].no_link_transfer;
}

/* Up to four of `count` dataspaces. */
NEST_PART void count_some(struct quick_state *state, const int first, const int count,
	const bool odd, const bool exact, struct nest_counts *counts, struct nest_score *score,
	struct nest_quick *out)
{
	state->residency = (masks){0};
	for (int k = 0; k < count && k < LANES; k++)
		state->residency[k] = state->mapping->residency[first + k];
	state->residency &= (int64_t)state->model->storage_rows;
	go_inwards(state, first, odd, exact);
	if (!exact && state->spread[0])
		out->left |= shared_by_multipliers(state, first, count);
	if (odd)
		for (uint32_t left = state->model->odd_spaces >> first & ((1 << LANES) - 1); left;
			left &= left - 1) {
			int t = first + __builtin_ctz(left);
			out->left |= (uint32_t)!quick_boxes(state, t, exact) << t;
		}
	go_outwards(state, first, count, exact, counts, score, out);
}

NEST_PART bool all_have_homes(const struct nest_model *model, const struct mapping *mapping)
{
	bool homes = true;
	for (int t = 0; t < model->shape->space_count; t++)
		homes &= (mapping->residency[t] & model->storage_rows) != 0;
	return homes;
}

/* Once with the wide registers of newer machines; the results are the same bits. */
NEST_WIDE bool nest_quick_counts(const struct nest_model *model, const struct mapping *mapping,
	struct nest_counts *counts, struct nest_score *score, struct nest_quick *out)
{
	struct quick_state state;
	int count = model->shape->space_count;
	bool exact = model->counting == COUNTING_EXACT, odd = model->odd_spaces != 0;
	state.model = model;
	state.mapping = mapping;
	out->verdict = NEST_FITS;
	out->left = model->slow_spaces;
	out->waits = 0;
	if (!model->quick || !all_have_homes(model, mapping) || !quick_rows(&state))
		return false;
	if (count != 3)
		for (int first = 0; first < count; first += LANES)
			count_some(&state, first, count - first, true, exact, counts, score, out);
	else if (exact && odd)
		count_some(&state, 0, 3, true, true, counts, score, out);
	else if (exact)
		count_some(&state, 0, 3, false, true, counts, score, out);
	else if (odd)
		count_some(&state, 0, 3, true, false, counts, score, out);
	else
		count_some(&state, 0, 3, false, false, counts, score, out);
	counts->compute_cycles = (int64_t)state.steps;
	counts->utilized_computes = (int64_t)state.multipliers;
	return true;
}
