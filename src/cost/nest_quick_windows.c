#include "cost/nest_quick_windows.h"

#include <string.h>

/* The extents of a box by rank; their product. */
double nest_quick_box(const struct nest_shape_of *space, const double *inside, double *extents)
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
double nest_quick_taken(const struct nest_shape_of *space, const struct quick_state *state, int i,
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
bool nest_quick_needs_a_look(const struct nest_model *model, const struct mapping *mapping,
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
uint32_t nest_quick_left_exactly(
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
double nest_quick_entered(const struct nest_shape_of *space, const struct quick_state *state, int i,
	double words, const double *extents, double run)
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
