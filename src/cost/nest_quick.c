#include "cost/nest_quick.h"

#include "base/number.h"

#include <string.h>

/* More than any extent, and so little that a bound times it fits: a product that is too large stays
 * too large. */
#define TOO_MUCH (((uint64_t)1 << 31) + 1)

enum { LOOPS_MOST = 2 * ARCH_LEVELS_MOST * SHAPE_DIMENSIONS_MOST };

/* All loops, outermost first; those of one level and the block below it stand together. */
struct quick_loops {
	int count;
	int first[ARCH_LEVELS_MOST + 1]; /* first[i]: of level i; its inner end is first[i - 1] */
	uint64_t bound[LOOPS_MOST];
	uint64_t outside[LOOPS_MOST]; /* product of the temporal bounds outside */
	uint8_t dimension[LOOPS_MOST];
	bool spatial[LOOPS_MOST];
};

struct quick_state {
	struct quick_loops loops;
	uint64_t inside[SHAPE_DIMENSIONS_MOST]; /* indices of a tile, while going outwards */
	uint64_t steps;
	uint64_t instances[ARCH_LEVELS_MOST], multipliers;
	uint32_t block[ARCH_LEVELS_MOST]; /* dimensions of the block below */
	uint64_t fan[ARCH_LEVELS_MOST];
	uint64_t runs[ARCH_LEVELS_MOST + 1][SHAPE_SPACES_MOST]; /* m(i) */
	uint64_t groups[ARCH_LEVELS_MOST][SHAPE_SPACES_MOST];   /* G(i) */
	uint64_t rounds[ARCH_LEVELS_MOST][SHAPE_SPACES_MOST];   /* relevant loops outside i */
	uint32_t residency[SHAPE_SPACES_MOST];
};

/* Dimensions whose bound is not 1. */
static inline uint32_t busy(const uint32_t *bounds, uint32_t all)
{
	uint32_t mask = 0;
	for (int d = 0; d < SHAPE_DIMENSIONS_MOST; d++)
		mask |= (uint32_t)(bounds[d] != 1) << d;
	return mask & all;
}

static inline void add_loop(
	struct quick_loops *loops, uint64_t bound, uint64_t outside, int dimension, bool spatial)
{
	loops->bound[loops->count] = bound;
	loops->outside[loops->count] = outside;
	loops->dimension[loops->count] = (uint8_t)dimension;
	loops->spatial[loops->count] = spatial;
}

/* From the outermost loop inwards; false for a fan-out that is too small. */
static inline __attribute__((always_inline)) bool go_inwards(const struct nest_model *model,
	const struct mapping *mapping, struct quick_state *state, const int space_count)
{
	const struct hierarchy *hierarchy = model->hierarchy;
	struct quick_loops *loops = &state->loops;
	int dimension_count = model->shape->dimension_count;
	uint64_t steps = 1, instances = 1, run[SHAPE_SPACES_MOST], round[SHAPE_SPACES_MOST];
	for (int t = 0; t < space_count; t++)
		run[t] = round[t] = 1;
	loops->count = 0;
	for (int i = hierarchy->level_count - 1; i >= 0; i--) {
		const struct nest_level *level = &hierarchy->levels[i];
		const struct mapping_row *row = &mapping->rows[level->row];
		const struct mapping_row *block = &mapping->rows[level->block_row];
		loops->first[i] = loops->count;
		state->instances[i] = instances;
		for (int t = 0; t < space_count; t++)
			state->rounds[i][t] = round[t];
		if (busy(row->temporal, model->all_dimensions))
			for (int k = dimension_count - 1; k >= 0; k--) {
				int d = row->temporal_order[k];
				uint64_t bound = row->temporal[d];
				bool loops_here = bound != 1;
				add_loop(loops, bound, steps, d, false);
				loops->count += loops_here;
				steps *= bound;
				for (int t = 0; t < space_count; t++) {
					bool moves =
						loops_here & (model->spaces[t].relevant >> d & 1);
					run[t] = moves ? steps : run[t];
					round[t] *= moves ? bound : 1;
				}
			}
		uint64_t fan_x = 1, fan_y = 1;
		for (int t = 0; t < space_count; t++) {
			state->runs[i][t] = run[t];
			state->groups[i][t] = 1;
		}
		state->block[i] = busy(block->spatial, model->all_dimensions);
		for (uint32_t left = state->block[i]; left; left &= left - 1) {
			int d = __builtin_ctz(left);
			uint64_t bound = block->spatial[d];
			add_loop(loops, bound, steps, d, true);
			loops->count++;
			if (block->spatial_y >> d & 1)
				fan_y *= bound;
			else
				fan_x *= bound;
			for (int t = 0; t < space_count; t++)
				if (model->spaces[t].relevant >> d & 1)
					state->groups[i][t] *= bound;
			if (fan_x > (uint64_t)level->fanout_x || fan_y > (uint64_t)level->fanout_y)
				return false;
		}
		state->fan[i] = fan_x * fan_y;
		instances *= state->fan[i];
	}
	state->steps = steps;
	state->multipliers = instances;
	return true;
}

/* The extents of a box by rank; their product. */
static inline uint64_t box_words(const struct dataspace *space, const struct nest_shape_of *shape,
	const uint64_t *inside, uint64_t *extents)
{
	uint64_t words = 1;
	for (int r = 0; r < space->rank_count; r++) {
		uint64_t extent = 1;
		for (uint32_t left = shape->rank_dimensions[r]; left; left &= left - 1) {
			int d = __builtin_ctz(left);
			extent += (uint64_t)space->ranks[r].coefficient[d] * (inside[d] - 1);
		}
		extents[r] = extent;
		words *= extent;
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
	uint64_t stride[SHAPE_DIMENSIONS_MOST];
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
static int slide_next(struct slide *slide, int64_t *step)
{
	const struct quick_loops *loops = slide->loops;
	while (slide->next >= 0) {
		int l = slide->next--, d = loops->dimension[l];
		uint64_t stride = slide->stride[d];
		slide->stride[d] = stride * loops->bound[l];
		if (loops->spatial[l] || !(slide->space->relevant >> d & 1))
			continue;
		*step = (int64_t)((uint64_t)slide->space->coefficient[d] * stride);
		return l;
	}
	return -1;
}

static bool in_rank(const struct slide *slide, int l, uint32_t rank)
{
	return rank >> slide->loops->dimension[l] & 1;
}

/* Words that a child of a level's parent takes, given the level's tile. */
static uint64_t words_taken(const struct nest_shape_of *space, const struct quick_state *state,
	int i, uint64_t words, const uint64_t *extents, uint64_t run)
{
	struct slide slide;
	int64_t first_step, step;
	slide_open(&slide, space, state, state->loops.first[i] - 1);
	int first = slide_next(&slide, &first_step);
	if (first < 0)
		return words;
	int r = space->rank_of[state->loops.dimension[first]];
	uint32_t rank = space->rank_dimensions[r];
	if (!(rank & (rank - 1)))
		return words * run;
	const uint64_t *bound = state->loops.bound, *outside = state->loops.outside;
	uint64_t others = 1;
	for (int o = 0; o < space->rank_count; o++)
		others *= o == r ? 1 : extents[o];
	uint64_t fresh = (uint64_t)first_step;
	fresh = others * (fresh < extents[r] ? fresh : extents[r]);
	uint64_t taken = outside[first] * (words + (bound[first] - 1) * fresh);
	int64_t moved = first_step;
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
 * Whether the children of block i ask for words in a way that needs a closer
 * look: two dimensions of one rank in the block, or a move along a rank that
 * is no longer than the block in it.
 */
static bool needs_a_look(const struct nest_model *model, const struct nest_shape_of *space,
	const struct quick_state *state, int i, int t)
{
	bool links = !(model->hierarchy->levels[i].no_link_transfer >> t & 1);
	if (i == 0 && links)
		return space->sum_count > 0 || state->groups[0][t] != state->fan[0];
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
	int d = __builtin_ctz(state->block[i] & here),
	    next = (i > 0 ? loops->first[i - 1] : loops->count) - 1;
	struct slide slide;
	slide_open(&slide, space, state, next);
	int64_t reach = 0, moved, step;
	for (int l = next; l >= 0 && loops->spatial[l]; l--)
		if (loops->dimension[l] == d)
			reach = space->coefficient[d] *
				(int64_t)(state->inside[d] * (loops->bound[l] - 1));
	int l = slide_next(&slide, &moved);
	if (l < 0 || !in_rank(&slide, l, here))
		return false;
	if (moved <= reach)
		return true;
	while ((l = slide_next(&slide, &step)) >= 0 && in_rank(&slide, l, here)) {
		int64_t away = step - moved;
		if (away <= reach && away >= -reach)
			return true;
		moved += step;
	}
	return false;
}

/* From the innermost level outwards. */
static inline __attribute__((always_inline)) bool go_outwards(const struct nest_model *model,
	struct quick_state *state, struct nest_counts *counts, struct nest_score *score,
	struct nest_quick *out, const int space_count)
{
	const struct hierarchy *hierarchy = model->hierarchy;
	const struct quick_loops *loops = &state->loops;
	uint64_t words[SHAPE_SPACES_MOST], served[SHAPE_SPACES_MOST];
	int home_row[SHAPE_SPACES_MOST];
	for (int t = 0; t < space_count; t++) {
		words[t] = 1;
		served[t] = state->steps;
		home_row[t] = __builtin_ctz(state->residency[t]);
	}
	for (int d = 0; d < SHAPE_DIMENSIONS_MOST; d++)
		state->inside[d] = 1;
	int end = loops->count;
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		if (state->block[i])
			for (int t = 0; t < space_count; t++)
				if ((i == 0 || model->spaces[t].sum_count) &&
					needs_a_look(model, &model->spaces[t], state, i, t))
					out->left |= 1u << t;
		for (int l = loops->first[i]; l < end; l++) {
			int d = loops->dimension[l];
			uint64_t bound = loops->bound[l], inside = state->inside[d] * bound;
			state->inside[d] = inside < TOO_MUCH ? inside : TOO_MUCH;
			for (int t = 0; t < space_count; t++)
				words[t] *= model->spaces[t].relevant >> d & 1 ? bound : 1;
		}
		end = loops->first[i];
		uint64_t instances = state->instances[i], sum = 0;
		counts->utilized[i] = (int64_t)instances;
		for (int t = 0; t < space_count; t++) {
			const struct nest_shape_of *space = &model->spaces[t];
			struct nest_count *count = &counts->at[i][t];
			served[t] *= state->groups[i][t];
			if (!(state->residency[t] >> level->row & 1)) {
				*count = (struct nest_count){0};
				continue;
			}
			uint64_t extents[SHAPE_RANKS_MOST], tile = words[t];
			if (!space->plain)
				tile = box_words(
					&model->shape->spaces[t], space, state->inside, extents);
			sum += tile;
			bool home = level->row == home_row[t];
			uint64_t filled = 0;
			if (!home) {
				uint64_t run = state->runs[i + 1][t];
				filled = space->sum_count
						 ? words_taken(space, state, i, tile, extents, run)
						 : tile * run;
			}
			/* The first word of a sum comes from nowhere. */
			uint64_t part = space->written ? tile * state->rounds[i][t] : 0;
			count->capacity = (int64_t)tile;
			count->reads = (int64_t)((served[t] - part) * instances);
			count->fills = home ? 0 : (int64_t)((filled - part) * instances);
			count->updates = space->written ? (int64_t)(served[t] * instances) : 0;
			count->links = 0;
			served[t] = filled;
		}
		if (level->size && out->verdict == NEST_FITS) {
			if (sum > (uint64_t)level->size)
				out->verdict = NEST_CAPACITY;
			else if ((double)sum < level->least_utilization * (double)level->size)
				out->verdict = NEST_UTILIZATION;
			if (out->verdict != NEST_FITS) {
				score->level = i;
				score->asked = (int64_t)sum;
				score->given = level->size;
			}
		}
	}
	uint64_t wrong = 0;
	for (int d = 0; d < model->shape->dimension_count; d++)
		wrong |= state->inside[d] ^ (uint64_t)model->shape->dimensions[d].extent;
	return wrong == 0;
}

static inline __attribute__((always_inline)) bool count(const struct nest_model *model,
	const struct mapping *mapping, struct nest_counts *counts, struct nest_score *score,
	struct nest_quick *out, const int space_count)
{
	struct quick_state state;
	out->verdict = NEST_FITS;
	out->left = model->slow_spaces;
	for (int t = 0; t < space_count; t++) {
		state.residency[t] = mapping->residency[t] & model->storage_rows;
		if (!state.residency[t])
			return false;
	}
	if (!go_inwards(model, mapping, &state, space_count) ||
		!go_outwards(model, &state, counts, score, out, space_count))
		return false;
	counts->compute_cycles = (int64_t)state.steps;
	counts->utilized_computes = (int64_t)state.multipliers;
	return true;
}

bool nest_quick_counts(const struct nest_model *model, const struct mapping *mapping,
	struct nest_counts *counts, struct nest_score *score, struct nest_quick *out)
{
	if (!model->quick)
		return false;
	if (model->shape->space_count == 3)
		return count(model, mapping, counts, score, out, 3);
	return count(model, mapping, counts, score, out, model->shape->space_count);
}
