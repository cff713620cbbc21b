#include "cost/nest_quick.h"

#include "cost/nest_lanes.h"
#include "cost/nest_loops.h"

#include <string.h>

enum { LOOPS_MOST = 2 * ARCH_LEVELS_MOST * SHAPE_DIMENSIONS_MOST };

/* All loops, outermost first; those of one level and the block below it stand together.  Only
 * dataspaces whose ranks add dimensions ask for them. */
struct quick_loops {
	int count;
	int first[ARCH_LEVELS_MOST]; /* first[i]: of level i; its inner end is first[i - 1] */
	double bound[LOOPS_MOST];
	double outside[LOOPS_MOST]; /* product of the temporal bounds outside */
	uint8_t dimension[LOOPS_MOST];
	bool spatial[LOOPS_MOST];
};

/* Whole numbers, below 2^51 where the bounds make the extents (nest_model.c sees to that); no
 * product of other bounds comes back to an extent by rounding. */
struct quick_state {
	struct quick_loops loops;
	double inside[SHAPE_DIMENSIONS_MOST];  /* indices of a tile, while going outwards */
	double outside[SHAPE_DIMENSIONS_MOST]; /* product of all bounds, while going inwards */
	double steps;
	double instances[ARCH_LEVELS_MOST], multipliers;
	uint32_t block[ARCH_LEVELS_MOST]; /* dimensions of the block below */
	double fan[ARCH_LEVELS_MOST];
	lanes tiles[ARCH_LEVELS_MOST][LANE_GROUPS_MOST]; /* W(i), of plain dataspaces */
	/* Words that come without a sum: timeloop: all of it / G of the blocks outside, in each
	 * instance; exact: E(i), in all. */
	lanes parts[ARCH_LEVELS_MOST][LANE_GROUPS_MOST];
	lanes runs[ARCH_LEVELS_MOST][LANE_GROUPS_MOST];   /* m(i) */
	lanes groups[ARCH_LEVELS_MOST][LANE_GROUPS_MOST]; /* G(i) */
	uint32_t residency[SHAPE_SPACES_MOST];
};

static inline void add_loop(
	struct quick_loops *loops, double bound, double outside, int dimension, bool spatial)
{
	loops->bound[loops->count] = bound;
	loops->outside[loops->count] = outside;
	loops->dimension[loops->count] = (uint8_t)dimension;
	loops->spatial[loops->count++] = spatial;
}

/* The dimensions of a mask in the order of a row's temporal loops, innermost first; how many. */
static inline int in_order(
	const struct mapping_row *row, int dimension_count, uint32_t mask, int *order)
{
	if (!(mask & (mask - 1))) {
		order[0] = mask ? __builtin_ctz(mask) : 0;
		return mask != 0;
	}
	int count = 0;
	for (int k = 0; k < dimension_count; k++) {
		int d = row->temporal_order[k];
		order[count] = d;
		count += mask >> d & 1;
	}
	return count;
}

static inline __attribute__((always_inline)) masks relevant_to(
	const struct nest_model *model, int dimension, int group)
{
	masks mask;
	memcpy(&mask, &model->relevant[dimension][group * LANES], sizeof mask);
	return mask;
}

static inline __attribute__((always_inline)) lanes chosen(masks mask, lanes a, lanes b)
{
	return (lanes)((mask & (masks)a) | (~mask & (masks)b));
}

/* A bound where a mask says so, 1 elsewhere. */
static inline __attribute__((always_inline)) lanes factor(masks mask, double bound)
{
	return 1 + where(mask, all_lanes(bound - 1));
}

/* Dataspaces of a group whose residency has one of the rows. */
static inline __attribute__((always_inline)) masks kept_in(
	const struct quick_state *state, int group, uint32_t rows)
{
	const uint32_t *residency = &state->residency[group * LANES];
	masks kept = {
		residency[0] & rows, residency[1] & rows, residency[2] & rows, residency[3] & rows};
	return kept != 0;
}

/* From the outermost loop inwards; false for a fan-out that is too small and for bounds that do
 * not make the extents. */
static inline __attribute__((always_inline)) bool go_inwards(const struct nest_model *model,
	const struct mapping *mapping, struct quick_state *state, const int group_count,
	const bool boxed, const bool exact)
{
	struct quick_loops *loops = &state->loops;
	int dimension_count = model->shape->dimension_count;
	double steps = 1, instances = 1;
	lanes run[LANE_GROUPS_MOST] = {0}, around[LANE_GROUPS_MOST] = {0};
	lanes part[LANE_GROUPS_MOST] = {0};
	lanes below[LANE_GROUPS_MOST] = {0}; /* groups below all instances of the parent */
	masks homeless[LANE_GROUPS_MOST] = {0};
#pragma GCC unroll 4
	for (int g = 0; g < group_count; g++) {
		run[g] = around[g] = all_lanes(1);
		memcpy(&part[g], &model->words[g * LANES], sizeof part[g]);
		below[g] = all_lanes(1);
		homeless[g] = ~(masks){0};
	}
	for (int d = 0; d < dimension_count; d++)
		state->outside[d] = 1;
	loops->count = 0;
	for (int i = model->hierarchy->level_count - 1; i >= 0; i--) {
		const struct nest_price *price = &model->prices[i];
		const struct mapping_row *row = &mapping->rows[price->row];
		const struct mapping_row *block = &mapping->rows[price->block_row];
		loops->first[i] = loops->count;
		state->instances[i] = instances;
#pragma GCC unroll 4
		for (int g = 0; g < group_count; g++) {
			if (price->storage) {
				lanes all;
				memcpy(&all, &model->words[g * LANES], sizeof all);
				state->tiles[i][g] = all / around[g];
				if (exact) {
					masks kept = kept_in(state, g, 1u << price->row);
					lanes home = all * (instances / below[g]);
					lanes empty = part[g] + state->tiles[i][g] * run[g] *
									(instances - below[g]);
					part[g] = chosen(
						kept, chosen(homeless[g], home, empty), part[g]);
					below[g] = chosen(kept, all_lanes(instances), below[g]);
					homeless[g] &= ~kept;
				}
			}
			state->parts[i][g] = part[g];
		}
		int order[SHAPE_DIMENSIONS_MOST];
		int k = in_order(row, dimension_count,
			nest_busy(row->temporal, model->all_dimensions), order);
		while (k-- > 0) {
			int d = order[k];
			double bound = row->temporal[d];
			if (boxed)
				add_loop(loops, bound, steps, d, false);
			steps *= bound;
			state->outside[d] *= bound;
#pragma GCC unroll 4
			for (int g = 0; g < group_count; g++) {
				masks moves = relevant_to(model, d, g);
				around[g] *= factor(moves, bound);
				run[g] = chosen(moves, all_lanes(steps), run[g]);
			}
		}
		double fan_x = 1, fan_y = 1;
#pragma GCC unroll 4
		for (int g = 0; g < group_count; g++) {
			state->runs[i][g] = run[g];
			state->groups[i][g] = all_lanes(1);
		}
		state->block[i] = nest_busy(block->spatial, model->all_dimensions);
		if (state->block[i]) {
			for (uint32_t left = state->block[i]; left; left &= left - 1) {
				int d = __builtin_ctz(left);
				double bound = block->spatial[d];
				if (boxed)
					add_loop(loops, bound, steps, d, true);
				state->outside[d] *= bound;
				if (block->spatial_y >> d & 1)
					fan_y *= bound;
				else
					fan_x *= bound;
#pragma GCC unroll 4
				for (int g = 0; g < group_count; g++)
					state->groups[i][g] *=
						factor(relevant_to(model, d, g), bound);
			}
			if (fan_x > price->fanout_x || fan_y > price->fanout_y)
				return false;
#pragma GCC unroll 4
			for (int g = 0; g < group_count; g++) {
				around[g] *= state->groups[i][g];
				below[g] *= state->groups[i][g];
				if (!exact)
					part[g] = part[g] / state->groups[i][g];
			}
		}
		state->fan[i] = fan_x * fan_y;
		instances *= state->fan[i];
	}
	state->steps = steps;
	state->multipliers = instances;
	bool right = true;
	for (int d = 0; d < dimension_count; d++)
		right &= state->outside[d] == model->extents[d];
	return right;
}

/* The extents of a box by rank; their product. */
static double box_words(const struct nest_shape_of *space, const double *inside, double *extents)
{
	double words = 1;
	for (int r = 0; r < space->rank_count; r++) {
		const struct nest_rank *rank = &space->ranks[r];
		extents[r] = 1 + rank->coefficient[0] * (inside[rank->dimension[0]] - 1) +
			     rank->coefficient[1] * (inside[rank->dimension[1]] - 1);
		words *= extents[r];
	}
	return words;
}

/*
 * The loops around a child of block i, seen by a rank that adds dimensions: the
 * innermost relevant one is in this rank, and on the way out nothing outside
 * the rank has moved yet.
 */
struct slide {
	const struct nest_shape_of *space;
	const struct quick_loops *loops;
	int next; /* loop to look at */
	double stride[SHAPE_DIMENSIONS_MOST];
};

static void slide_open(struct slide *slide, const struct nest_shape_of *space,
	const struct quick_state *state, int next)
{
	slide->space = space;
	slide->loops = &state->loops;
	slide->next = next;
	memcpy(slide->stride, state->inside, sizeof slide->stride);
}

/* The next relevant temporal loop outwards and its step; -1 when there is none. */
static int slide_next(struct slide *slide, double *step)
{
	const struct quick_loops *loops = slide->loops;
	while (slide->next >= 0) {
		int l = slide->next--, d = loops->dimension[l];
		double stride = slide->stride[d];
		slide->stride[d] = stride * loops->bound[l];
		if (loops->spatial[l] || !(slide->space->relevant >> d & 1))
			continue;
		*step = slide->space->coefficient[d] * stride;
		return l;
	}
	return -1;
}

static bool in_rank(const struct slide *slide, int l, uint32_t rank)
{
	return rank >> slide->loops->dimension[l] & 1;
}

/* Words that a child of a level's parent takes, given the level's tile. */
static double words_taken(const struct nest_shape_of *space, const struct quick_state *state, int i,
	double words, const double *extents, double run)
{
	struct slide slide;
	double first_step, step;
	slide_open(&slide, space, state, state->loops.first[i] - 1);
	int first = slide_next(&slide, &first_step);
	if (first < 0)
		return words;
	int r = space->rank_of[state->loops.dimension[first]];
	uint32_t rank = space->rank_dimensions[r];
	if (!(rank & (rank - 1)))
		return words * run;
	const double *bound = state->loops.bound, *outside = state->loops.outside;
	double fresh = first_step < extents[r] ? first_step : extents[r];
	for (int o = 0; o < space->rank_count; o++)
		fresh *= o == r ? 1 : extents[o];
	double taken = outside[first] * (words + (bound[first] - 1) * fresh), moved = first_step;
	for (int l; (l = slide_next(&slide, &step)) >= 0 && in_rank(&slide, l, rank);) {
		if (step == moved)
			taken -= words * (bound[l] - 1) * outside[l];
		else if (step - moved == first_step)
			taken -= (words - fresh) * (bound[l] - 1) * outside[l];
		moved += step;
	}
	return taken;
}

/*
 * Whether the children stand in a row in which neighbours differ by another dimension than d
 * first: then at most the last child of each stretch has a neighbour that is one further along d,
 * and no group is served by neighbours alone.
 */
static bool stands_apart(const struct nest_model *model, const struct mapping *mapping,
	const struct quick_state *state, int i, int d)
{
	const struct nest_price *price = &model->prices[i];
	const struct mapping_row *row = &mapping->rows[price->block_row];
	uint32_t along_y = state->block[i] & row->spatial_y;
	if (along_y && (along_y != state->block[i] || price->fanout_x > 1))
		return false;
	int k = 0;
	while (!(state->block[i] >> row->spatial_order[k] & 1))
		k++;
	return row->spatial_order[k] != d;
}

/*
 * Whether the children of block i ask for words in a way that needs a closer
 * look: two dimensions of one rank in the block, or a move along a rank that
 * is no longer than the block in it.
 */
static bool needs_a_look(const struct nest_model *model, const struct mapping *mapping,
	const struct nest_shape_of *space, const struct quick_state *state, int i, int t)
{
	bool links = !(model->hierarchy->levels[i].no_link_transfer >> t & 1);
	if (i == 0 && links)
		return space->sum_count > 0 ||
		       state->groups[0][t / LANES][t % LANES] != state->fan[0];
	uint32_t here = 0;
	for (int s = 0; s < space->sum_count; s++) {
		uint32_t shared = state->block[i] & space->sums[s];
		if (shared & (shared - 1) || (shared && here && links))
			return true;
		here = shared ? space->sums[s] : here;
	}
	if (!here || !links)
		return false;
	const struct quick_loops *loops = &state->loops;
	int d = __builtin_ctz(state->block[i] & here);
	if (stands_apart(model, mapping, state, i, d))
		return false;
	int next = (i > 0 ? loops->first[i - 1] : loops->count) - 1;
	double reach = 0, moved, step;
	for (int l = next; l >= 0 && loops->spatial[l]; l--)
		if (loops->dimension[l] == d)
			reach = space->coefficient[d] * state->inside[d] * (loops->bound[l] - 1);
	struct slide slide;
	slide_open(&slide, space, state, next);
	int l = slide_next(&slide, &moved);
	if (l < 0 || !in_rank(&slide, l, here))
		return false;
	if (moved <= reach)
		return true;
	while ((l = slide_next(&slide, &step)) >= 0 && in_rank(&slide, l, here)) {
		if (step - moved <= reach && moved - step <= reach)
			return true;
		moved += step;
	}
	return false;
}

/*
 * The same where it is counted exactly: two dimensions of one rank in blocks, of which the
 * groups are not a product, or neighbours that may hand words on.  Those differ in a rank that
 * adds dimensions, and the innermost temporal loop around them is in such a rank: else it
 * moves all tiles, at every step, in a rank in which neighbours are alike.
 */
static uint32_t left_exactly(
	const struct nest_model *model, const struct quick_state *state, int space_count)
{
	const struct quick_loops *loops = &state->loops;
	uint32_t spread = 0, left = 0;
	for (int i = 0; i < model->hierarchy->level_count; i++)
		spread |= state->block[i];
	for (int t = 0; t < space_count; t++) {
		const struct nest_shape_of *space = &model->spaces[t];
		uint32_t sums = 0;
		bool look = false;
		for (int s = 0; s < space->sum_count; s++) {
			uint32_t here = spread & space->sums[s];
			look |= (here & (here - 1)) != 0;
			sums |= space->sums[s];
		}
		for (int i = 1; i < model->hierarchy->level_count && !look; i++) {
			if (!(state->block[i] & sums) ||
				!(state->residency[t] >> model->prices[i - 1].row & 1) ||
				model->hierarchy->levels[i].no_link_transfer >> t & 1)
				continue;
			int l = loops->first[i - 1] - 1;
			while (l >= 0 && loops->spatial[l])
				l--;
			look = l >= 0 && sums >> loops->dimension[l] & 1;
		}
		left |= (uint32_t)look << t;
	}
	return left;
}

/*
 * Words that a child of a level's parent enters, counted exactly: the tile at each move step,
 * less what it holds of it (see nest_slide.c).
 */
static double words_entered(const struct nest_shape_of *space, const struct quick_state *state,
	int i, double words, const double *extents, double run)
{
	const struct quick_loops *loops = &state->loops;
	double stride[SHAPE_DIMENSIONS_MOST], back[SHAPE_RANKS_MOST] = {0}, entered = words * run;
	memcpy(stride, state->inside, sizeof stride);
	bool moves = false;
	for (int l = loops->first[i] - 1; l >= 0; l--) {
		int d = loops->dimension[l];
		double bound = loops->bound[l], step = space->coefficient[d] * stride[d];
		stride[d] *= bound;
		moves |= !loops->spatial[l] && space->relevant >> d & 1;
		if (!moves || loops->spatial[l])
			continue;
		double held = (bound - 1) * loops->outside[l];
		for (int r = 0; r < space->rank_count; r++) {
			double shift = (r == space->rank_of[d] ? step : 0) - back[r];
			double width = extents[r] - (shift < 0 ? -shift : shift);
			held *= width > 0 ? width : 0;
		}
		entered -= held;
		if (space->relevant >> d & 1)
			back[space->rank_of[d]] += step * (bound - 1);
	}
	return entered;
}

/* Whole numbers below 2^51, as integers: the low bits of 2^52 + x. */
static inline __attribute__((always_inline)) masks whole(lanes x)
{
	return (masks)(x + 0x1p52) ^ (masks)all_lanes(0x1p52);
}

static void check_size(const struct nest_level *level, int i, double sum, struct nest_score *score,
	struct nest_quick *out)
{
	if (!level->size || out->verdict != NEST_FITS)
		return;
	if (sum > (double)level->size)
		out->verdict = NEST_CAPACITY;
	else if (sum < level->least_utilization * (double)level->size)
		out->verdict = NEST_UTILIZATION;
	else
		return;
	score->level = i;
	score->asked = (int64_t)sum;
	score->given = level->size;
}

/* Tiles and words taken of the kept dataspaces of a group that are not plain. */
static void look_at_boxes(const struct nest_model *model, const struct quick_state *state, int i,
	int group, bool exact, lanes *tile, lanes *filled)
{
	uint32_t row = 1u << model->prices[i].row;
	for (int k = 0; k < LANES; k++) {
		int t = group * LANES + k;
		if (!(model->boxed_spaces >> t & 1) || !(state->residency[t] & row))
			continue;
		double extents[SHAPE_RANKS_MOST];
		(*tile)[k] = box_words(&model->spaces[t], state->inside, extents);
		if (!(state->residency[t] & (row - 1)))
			continue;
		double run = state->runs[i + 1][group][k];
		(*filled)[k] = model->spaces[t].sum_count
				       ? (exact ? words_entered : words_taken)(&model->spaces[t],
						 state, i, (*tile)[k], extents, run)
				       : (*tile)[k] * run;
	}
}

/* From the innermost level outwards. */
static inline __attribute__((always_inline)) void go_outwards(const struct nest_model *model,
	const struct mapping *mapping, struct quick_state *state, struct nest_counts *counts,
	struct nest_score *score, struct nest_quick *out, const int space_count,
	const int group_count, const bool boxed, const bool exact)
{
	const struct hierarchy *hierarchy = model->hierarchy;
	const struct quick_loops *loops = &state->loops;
	lanes served[LANE_GROUPS_MOST] = {0};
#pragma GCC unroll 4
	for (int g = 0; g < group_count; g++)
		served[g] = all_lanes(state->steps);
	for (int d = 0; d < SHAPE_DIMENSIONS_MOST; d++)
		state->inside[d] = 1;
	int end = loops->count;
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_price *price = &model->prices[i];
		if (!exact && state->block[i] && (i == 0 || boxed))
			for (int t = 0; t < space_count; t++)
				if ((i == 0 || model->sum_spaces >> t & 1) &&
					needs_a_look(
						model, mapping, &model->spaces[t], state, i, t))
					out->left |= 1u << t;
		if (boxed) {
			for (int l = loops->first[i]; l < end; l++)
				state->inside[loops->dimension[l]] *= loops->bound[l];
			end = loops->first[i];
		}
		counts->utilized[i] = (int64_t)state->instances[i];
		if (!price->storage) {
			for (int t = 0; t < space_count; t++) {
				counts->at[i][t] = (struct nest_count){0};
				score->space_pj[i][t] = 0;
			}
#pragma GCC unroll 4
			for (int g = 0; g < group_count; g++)
				served[g] *= state->groups[i][g];
			check_size(&hierarchy->levels[i], i, 0, score, out);
			continue;
		}
		double instances = state->instances[i], clusters = clusters_of(price, instances);
		lanes sum = all_lanes(0);
		uint32_t row = 1u << price->row;
#pragma GCC unroll 4
		for (int g = 0; g < group_count; g++) {
			masks kept = kept_in(state, g, row),
			      away = kept & kept_in(state, g, row - 1);
			masks written;
			memcpy(&written, &model->written[g * LANES], sizeof written);
			served[g] *= state->groups[i][g];
			lanes tile = where(kept, state->tiles[i][g]);
			lanes run = state->runs[i + 1 < hierarchy->level_count ? i + 1 : i][g];
			lanes filled = where(away, tile * run);
			if (boxed && model->boxed_spaces >> (g * LANES) & ((1 << LANES) - 1))
				look_at_boxes(model, state, i, g, exact, &tile, &filled);
			/* The first word of a sum comes from nowhere. */
			lanes part = where(written & kept, state->parts[i][g]);
			lanes updates = where(written & kept, served[g]);
			/* Exactly, instances need not be alike, and only all together are whole. */
			double times = exact ? instances : 1;
			lanes reads = where(kept, served[g]) * times - part;
			lanes fills = filled * times - where(away, part);
			lanes pj = lanes_pj(price, reads, fills, updates * times,
					   times * price->block_size) *
				   clusters;
			double left = exact ? 1 : instances;
			masks counted[] = {whole(tile), whole(reads * left), whole(fills * left),
				whole(updates * instances)};
			for (int k = 0; k < LANES && g * LANES + k < space_count; k++) {
				counts->at[i][g * LANES + k] = (struct nest_count){counted[0][k],
					counted[1][k], counted[2][k], counted[3][k], 0};
				score->space_pj[i][g * LANES + k] = pj[k];
			}
			sum += tile;
			served[g] = chosen(kept, filled, served[g]);
		}
		check_size(
			&hierarchy->levels[i], i, sum[0] + sum[1] + (sum[2] + sum[3]), score, out);
	}
}

static inline __attribute__((always_inline)) bool count(const struct nest_model *model,
	const struct mapping *mapping, struct nest_counts *counts, struct nest_score *score,
	struct nest_quick *out, const int space_count, const bool boxed, const bool exact)
{
	const int group_count = (space_count + LANES - 1) / LANES;
	struct quick_state state;
	out->verdict = NEST_FITS;
	out->left = model->slow_spaces;
	bool homes = true;
	for (int t = 0; t < space_count; t++) {
		state.residency[t] = mapping->residency[t] & model->storage_rows;
		homes &= state.residency[t] != 0;
	}
	for (int t = space_count; t < group_count * LANES; t++)
		state.residency[t] = 0;
	if (!homes || !go_inwards(model, mapping, &state, group_count, boxed, exact))
		return false;
	if (exact && boxed)
		out->left |= left_exactly(model, &state, space_count);
	go_outwards(
		model, mapping, &state, counts, score, out, space_count, group_count, boxed, exact);
	counts->compute_cycles = (int64_t)state.steps;
	counts->utilized_computes = (int64_t)state.multipliers;
	return true;
}

/* Once with the wide registers of newer machines; the results are the same bits. */
NEST_WIDE bool nest_quick_counts(const struct nest_model *model, const struct mapping *mapping,
	struct nest_counts *counts, struct nest_score *score, struct nest_quick *out)
{
	int space_count = model->shape->space_count;
	if (!model->quick)
		return false;
	/* A mapping is long, and its rows are looked at one after another. */
	for (int r = 0; r <= model->prices[0].block_row; r++) {
		__builtin_prefetch(mapping->rows[r].spatial);
		__builtin_prefetch(mapping->rows[r].temporal);
		__builtin_prefetch(mapping->rows[r].temporal_order);
	}
	bool exact = model->counting == COUNTING_EXACT, boxed = model->boxed_spaces != 0;
	if (space_count != 3)
		return count(model, mapping, counts, score, out, space_count, true, exact);
	if (exact)
		return boxed ? count(model, mapping, counts, score, out, 3, true, true)
			     : count(model, mapping, counts, score, out, 3, false, true);
	return boxed ? count(model, mapping, counts, score, out, 3, true, false)
		     : count(model, mapping, counts, score, out, 3, false, false);
}
