#include "cost/nest/nest_home.h"

#include "base/arena.h"
#include "base/number.h"
#include "cost/nest/nest_count.h"

#include <math.h>
#include <stdlib.h>

/* Intervals that are put together; with more, nothing is counted. */
enum { INTERVALS_MOST = 1 << 16, PAIRS_MOST = 1 << 18 };

/* The beginnings of the first instance's tiles along one dimension: offsets that its temporal loops
 * outside make, below the extent. */
struct offsets {
	int64_t extent, tile;
	int count; /* of loops, innermost first */
	int64_t bound[ARCH_LEVELS_MOST], stride[ARCH_LEVELS_MOST];
	int64_t places; /* how many there are */
	int64_t last;   /* indices of the tile at the last of them: others have `tile` */
};

struct index_interval {
	int64_t low, high; /* both included */
};

struct intervals {
	size_t count;
	struct index_interval *at; /* ascending, apart */
};

struct home_cover {
	struct arena *arena; /* of intervals; NULL: there are none yet */
	const struct shape *shape;
	const struct dataspace *space;
	struct offsets offsets[SHAPE_DIMENSIONS_MOST];
	uint32_t fixed; /* dimensions of several ranks: one place of theirs is looked at */
	int64_t fixed_tile[SHAPE_DIMENSIONS_MOST];
	bool fits, countable;
};

int nest_home_level(const struct hierarchy *hierarchy, const struct mapping *mapping, int space)
{
	for (int i = hierarchy->level_count - 1; i >= 0; i--)
		if (hierarchy->levels[i].storage &&
			mapping->residency[space] >> hierarchy->levels[i].row & 1)
			return i;
	return -1;
}

/* --- one dimension */

static void offsets_find_places(struct offsets *offsets)
{
	int64_t each = 1, begin = 0, steps[ARCH_LEVELS_MOST];
	for (int k = 0; k < offsets->count; k++) {
		steps[k] = each;
		each *= offsets->bound[k]; /* no more than the extent, about */
	}
	offsets->places = 1;
	for (int k = offsets->count - 1; k >= 0; k--) {
		int64_t index = number_min(
			offsets->bound[k] - 1, (offsets->extent - 1 - begin) / offsets->stride[k]);
		begin += index * offsets->stride[k];
		offsets->places += index * steps[k];
	}
	offsets->last = number_min(offsets->tile, offsets->extent - begin);
}

static void find_offsets(const struct hierarchy *hierarchy, const struct mapping *mapping, int d,
	int64_t extent, int home, struct offsets *out)
{
	int64_t inside = 1;
	*out = (struct offsets){.extent = extent};
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		inside *= mapping->rows[level->block_row].spatial[d];
		int64_t bound = mapping->rows[hierarchy_loops_row(hierarchy, level)].temporal[d];
		if (i > home && bound > 1) {
			out->bound[out->count] = bound;
			out->stride[out->count++] = inside;
		}
		inside *= bound;
		if (i == home)
			out->tile = number_min(inside, extent);
	}
	offsets_find_places(out);
}

static int by_low(const void *a, const void *b)
{
	const struct index_interval *x = a, *y = b;
	return (x->low > y->low) - (x->low < y->low);
}

/* Sorts, and makes one of those that touch. */
static void intervals_join(struct intervals *intervals)
{
	size_t count = 0;
	qsort(intervals->at, intervals->count, sizeof *intervals->at, by_low);
	for (size_t i = 0; i < intervals->count; i++) {
		struct index_interval *last = count ? &intervals->at[count - 1] : NULL;
		if (last && intervals->at[i].low <= last->high + 1)
			last->high = number_max(last->high, intervals->at[i].high);
		else
			intervals->at[count++] = intervals->at[i];
	}
	intervals->count = count;
}

/* The intervals of a rank that one dimension makes, everything else at 0. */
static struct intervals list_places(
	struct home_cover *home, const struct offsets *offsets, int64_t coefficient)
{
	int first = 0;
	int64_t reach = offsets->tile; /* of all loops before `first` together, without gaps */
	while (coefficient == 1 && first < offsets->count && offsets->stride[first] == reach)
		reach *= offsets->bound[first++];
	int64_t places = 1;
	for (int k = first; k < offsets->count && places <= INTERVALS_MOST; k++)
		places *= offsets->bound[k];
	if (places > INTERVALS_MOST) {
		home->countable = false;
		return (struct intervals){0};
	}
	struct intervals out = {.at = arena_array(home->arena, struct index_interval, places)};
	for (int64_t n = 0; n < places; n++) {
		int64_t begin = 0, rest = n;
		for (int k = first; k < offsets->count; k++) {
			begin += rest % offsets->bound[k] * offsets->stride[k];
			rest /= offsets->bound[k];
		}
		if (begin >= offsets->extent)
			continue;
		int64_t end = number_min(begin + reach, offsets->extent) - 1;
		out.at[out.count++] =
			(struct index_interval){checked_mul(&home->fits, coefficient, begin),
				checked_mul(&home->fits, coefficient, end)};
	}
	intervals_join(&out);
	return out;
}

/* --- one rank */

/* All sums of a number of one and a number of the other. */
static struct intervals home_cover_add_up(
	struct home_cover *home, struct intervals a, struct intervals b)
{
	struct intervals out = {0};
	if (a.count * b.count > PAIRS_MOST) {
		home->countable = false;
		return out;
	}
	out.at = arena_array(home->arena, struct index_interval, a.count * b.count);
	for (size_t i = 0; i < a.count; i++)
		for (size_t k = 0; k < b.count; k++)
			out.at[out.count++] = (struct index_interval){
				checked_add(&home->fits, a.at[i].low, b.at[k].low),
				checked_add(&home->fits, a.at[i].high, b.at[k].high)};
	intervals_join(&out);
	return out;
}

/* Words that dimensions which move no other rank make, several of them, in several places. */
static int64_t window_words(
	struct home_cover *home, const int64_t *coefficient, uint32_t own, int64_t wide)
{
	struct index_interval first = {0, wide};
	struct intervals all = {1, &first};
	int64_t words = 0;
	if (!home->arena)
		home->arena = arena_open();
	for (uint32_t left = own; left && home->countable; left &= left - 1) {
		int d = __builtin_ctz(left);
		all = home_cover_add_up(
			home, all, list_places(home, &home->offsets[d], coefficient[d]));
	}
	for (size_t i = 0; i < all.count && home->countable; i++)
		words = checked_add(&home->fits, words, all.at[i].high - all.at[i].low + 1);
	return words;
}

static int64_t reach_of(struct home_cover *home, const int64_t *coefficient, int d, int64_t tile)
{
	return checked_mul(&home->fits, coefficient[d], tile - 1);
}

/* `own`: dimensions of the rank that are in no other. */
static int64_t rank_words(struct home_cover *home, const int64_t *coefficient, uint32_t own)
{
	int64_t wide = 0; /* what dimensions that stand still add to every interval */
	for (int d = 0; d < home->shape->dimension_count; d++) {
		if (!coefficient[d])
			continue;
		bool fixed = home->fixed >> d & 1;
		if (!fixed && home->offsets[d].places > 1)
			continue;
		own &= ~(1u << d);
		wide = checked_add(&home->fits, wide,
			reach_of(home, coefficient, d,
				fixed ? home->fixed_tile[d] : home->offsets[d].tile));
	}
	if (!own)
		return wide + 1;
	if (wide || own & (own - 1))
		return window_words(home, coefficient, own, wide);
	int d = __builtin_ctz(own); /* alone: its tiles do not overlap */
	const struct offsets *offsets = &home->offsets[d];
	int64_t others = checked_mul(&home->fits, offsets->places - 1,
		1 + reach_of(home, coefficient, d, offsets->tile));
	return checked_add(&home->fits, others, 1 + reach_of(home, coefficient, d, offsets->last));
}

/* --- all ranks */

static int64_t words_at(struct home_cover *home)
{
	int64_t words = 1;
	for (int r = 0; r < home->space->rank_count && home->countable; r++) {
		const int64_t *coefficient = home->space->ranks[r].coefficient;
		uint32_t own = affine_loops(&home->space->ranks[r]) & ~home->fixed;
		words = checked_mul(&home->fits, words, rank_words(home, coefficient, own));
	}
	return words;
}

/* Dimensions of several ranks, and among them those that move some rank alone. */
static void find_knots(const struct home_cover *home, uint32_t *shared, uint32_t *alone)
{
	uint32_t seen = 0;
	*shared = *alone = 0;
	for (int r = 0; r < home->space->rank_count; r++) {
		uint32_t own = affine_loops(&home->space->ranks[r]);
		*shared |= seen & own;
		seen |= own;
		*alone |= own & (own - 1) ? 0 : own;
	}
}

/* Places of the dimensions of several ranks, from `left` on: where such a dimension moves a rank
 * alone, no two of its places share a word. */
static int64_t add_places(struct home_cover *home, uint32_t left)
{
	if (!left)
		return words_at(home);
	int d = __builtin_ctz(left);
	const struct offsets *offsets = &home->offsets[d];
	home->fixed_tile[d] = offsets->last;
	int64_t words = add_places(home, left & (left - 1));
	if (offsets->places == 1)
		return words;
	home->fixed_tile[d] = offsets->tile;
	return checked_add(&home->fits, words,
		checked_mul(&home->fits, offsets->places - 1, add_places(home, left & (left - 1))));
}

enum nest_verdict nest_home_words(const struct hierarchy *hierarchy, const struct shape *shape,
	const struct mapping *mapping, int space, int level, int64_t *words)
{
	struct home_cover home = {
		.shape = shape, .space = &shape->spaces[space], .fits = true, .countable = true};
	uint32_t shared, alone;
	for (uint32_t left = home.space->relevant; left; left &= left - 1) {
		int d = __builtin_ctz(left);
		find_offsets(hierarchy, mapping, d, shape->dimensions[d].extent, level,
			&home.offsets[d]);
	}
	find_knots(&home, &shared, &alone);
	for (uint32_t left = shared & ~alone; left; left &= left - 1)
		if (home.offsets[__builtin_ctz(left)].places > 1)
			return NEST_UNCOUNTABLE;
	home.fixed = shared;
	*words = add_places(&home, shared);
	if (home.arena)
		arena_close(home.arena);
	return !home.countable ? NEST_UNCOUNTABLE : home.fits ? NEST_FITS : NEST_OVERFLOW;
}

int64_t nest_home_parts(const struct hierarchy *hierarchy, const struct shape *shape,
	const struct mapping *mapping, int space, int level)
{
	int64_t parts = 1;
	if (!shape->spaces[space].written)
		return 1;
	for (int i = level + 1; i < hierarchy->level_count; i++) {
		const struct nest_level *outside = &hierarchy->levels[i];
		for (int d = 0; d < shape->dimension_count && !outside->ring; d++) {
			int64_t bound = mapping->rows[outside->block_row].spatial[d];
			if (!(shape->spaces[space].relevant >> d & 1) &&
				!number_mul(parts, bound, &parts))
				parts = INT64_MAX;
		}
	}
	return parts;
}

/* --- the verdict */

/* Level by level, the innermost that fails; `grown`: a dataspace that has its home there and of
 * which passes through more than a tile. */
static enum nest_verdict check_levels(const struct hierarchy *hierarchy, const struct shape *shape,
	const struct nest_counts *counts, const int *grown, struct nest_score *score)
{
	score->level = score->space = -1;
	score->asked = score->given = 0;
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		bool fits = true;
		int64_t sum = 0;
		for (int t = 0; t < shape->space_count; t++)
			sum = checked_add(&fits, sum, counts->at[i][t].capacity);
		if (!fits)
			return NEST_OVERFLOW;
		bool small = (double)sum < level->store.least_utilization * (double)level->size;
		if (!level->size || (sum <= level->size && !small))
			continue;
		score->level = i;
		score->space = sum > level->size ? grown[i] : -1;
		score->asked = sum;
		score->given = level->size;
		return sum > level->size ? NEST_CAPACITY : NEST_UTILIZATION;
	}
	return NEST_FITS;
}

enum nest_verdict nest_home_check(const struct hierarchy *hierarchy, const struct shape *shape,
	const struct mapping *mapping, struct nest_counts *counts, struct nest_score *score)
{
	int grown[ARCH_LEVELS_MOST], apart = -1, apart_at = -1;
	int64_t parts = 1;
	for (int i = 0; i < hierarchy->level_count; i++)
		grown[i] = -1;
	for (int t = 0; t < shape->space_count; t++) {
		int home = nest_home_level(hierarchy, mapping, t);
		int64_t words, *capacity = &counts->at[home][t].capacity;
		enum nest_verdict verdict =
			nest_home_words(hierarchy, shape, mapping, t, home, &words);
		if (verdict != NEST_FITS) {
			score->space = t;
			return verdict;
		}
		if (words != *capacity)
			grown[home] = t;
		*capacity = words;
		int64_t here = nest_home_parts(hierarchy, shape, mapping, t, home);
		if (here > parts) {
			parts = here;
			apart = t;
			apart_at = home;
		}
	}
	enum nest_verdict verdict = check_levels(hierarchy, shape, counts, grown, score);
	if (apart < 0 || verdict == NEST_OVERFLOW)
		return verdict;
	score->level = apart_at;
	score->space = apart;
	score->asked = parts;
	score->given = 1;
	return NEST_SUMS_APART;
}

bool nest_words(
	const struct dataspace *space, int dimension_count, const int64_t *extents, int64_t *out)
{
	bool fits = true;
	int64_t words = 1;
	for (int r = 0; r < space->rank_count; r++) {
		int64_t reach = 1;
		for (int d = 0; d < dimension_count; d++) {
			int64_t coefficient = space->ranks[r].coefficient[d];
			if (coefficient)
				reach = checked_add(&fits, reach,
					checked_mul(&fits, coefficient, extents[d] - 1));
		}
		words = checked_mul(&fits, words, reach);
	}
	*out = words;
	return fits;
}

static enum nest_verdict nest_score_refuse(
	struct nest_score *score, enum nest_verdict verdict, int64_t asked, int64_t given)
{
	score->asked = asked;
	score->given = given;
	return verdict;
}

enum { FOURS = SHAPE_DIMENSIONS_MOST / 4 };

/* Loops while they are gathered: what the bounds inside multiply to, by dimension. */
struct loop_gathering {
	struct nest_loops *loops;
	int64_t inside[SHAPE_DIMENSIONS_MOST];
	int64_t extent[SHAPE_DIMENSIONS_MOST];
	uint32_t dimensions;
	bool fits; /* the bounds of every dimension so far */
	int dimension;
};

/* One loop outside all so far.  A bound that goes a round beyond the extent fits nothing. */
static void home_add_loop(struct loop_gathering *gathering, int dimension, int64_t bound, int level,
	bool spatial, bool y)
{
	int64_t *inside = &gathering->inside[dimension];
	/* Its last round begins inside the extent. */
	int64_t extent = gathering->extent[dimension];
	if (bound < 1 || bound > extent || (bound - 1) * *inside >= extent) {
		gathering->fits = false;
		gathering->dimension = dimension;
		return;
	}
	gathering->loops->at[gathering->loops->count++] =
		(struct nest_loop){bound, *inside, (uint8_t)dimension, (uint8_t)level, spatial, y};
	*inside *= bound;
}

static void add_block(struct loop_gathering *gathering, int dimension_count,
	const struct mapping_row *row, int level)
{
	struct nest_loops *loops = gathering->loops;
	int64_t fan[2] = {1, 1};
	uint32_t busy = nest_busy(row->spatial, FOURS, gathering->dimensions);
	for (int axis = 0; busy && axis < 2; axis++)
		for (int i = 0; i < dimension_count; i++) {
			int d = row->spatial_order[i];
			if (!(busy >> d & 1) || (row->spatial_y >> d & 1) != axis)
				continue;
			home_add_loop(gathering, d, row->spatial[d], level, true, axis);
			if (gathering->fits && !number_mul(fan[axis], row->spatial[d], &fan[axis]))
				fan[axis] = INT64_MAX;
		}
	loops->fan_x[level] = fan[0];
	loops->fan_y[level] = fan[1];
	if (!number_mul(fan[0], fan[1], &loops->fan[level]))
		loops->fan[level] = INT64_MAX;
}

static void take_extents(const struct loop_gathering *gathering, int dimension_count, int64_t *out)
{
	for (int d = 0; d < dimension_count; d++)
		out[d] = number_min(gathering->inside[d], gathering->extent[d]);
}

/* The product of all bounds of a dimension, as far as it fits. */
static int64_t product_of(
	const struct hierarchy *hierarchy, const struct mapping *mapping, int dimension)
{
	int64_t product = 1;
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		const struct mapping_row *row =
			&mapping->rows[hierarchy_loops_row(hierarchy, level)];
		if (!number_mul(product, row->temporal[dimension], &product) ||
			!number_mul(product, mapping->rows[level->block_row].spatial[dimension],
				&product))
			return INT64_MAX;
	}
	return product;
}

static enum nest_verdict refuse_factors(const struct nest_model *model,
	const struct mapping *mapping, int dimension, struct nest_score *score)
{
	score->dimension = dimension;
	return nest_score_refuse(score, NEST_FACTORS,
		product_of(model->hierarchy, mapping, dimension),
		model->shape->dimensions[dimension].extent);
}

/* Instances from the outermost level inwards, and whether each block has room for what it fans
 * out into: in all, else along X, else along Y. */
static enum nest_verdict count_instances(
	const struct nest_model *model, struct nest_loops *loops, struct nest_score *score)
{
	const struct hierarchy *hierarchy = model->hierarchy;
	int64_t instances = 1;
	for (int i = hierarchy->level_count - 1; i >= 0; i--) {
		const struct nest_level *level = &hierarchy->levels[i];
		loops->instances[i] = instances;
		const int64_t asked[] = {loops->fan[i], loops->fan_x[i], loops->fan_y[i]};
		const int64_t given[] = {
			fanout_count(&level->fanout), level->fanout.x, level->fanout.y};
		for (int k = 0; k < 3; k++)
			if (asked[k] > given[k]) {
				score->level = i;
				return nest_score_refuse(score, NEST_FANOUT, asked[k], given[k]);
			}
		instances *= loops->fan[i];
	}
	loops->multipliers = instances;
	return NEST_FITS;
}

static enum nest_verdict find_homes(const struct nest_model *model, const struct mapping *mapping,
	struct nest_loops *loops, struct nest_score *score)
{
	const struct hierarchy *hierarchy = model->hierarchy;
	for (int i = 0; i < hierarchy->level_count; i++)
		loops->kept[i] = 0;
	for (int t = 0; t < model->shape->space_count; t++) {
		loops->home[t] = -1;
		for (int i = 0; i < hierarchy->level_count; i++) {
			const struct nest_level *level = &hierarchy->levels[i];
			if (!level->storage || !(mapping->residency[t] >> level->row & 1))
				continue;
			loops->kept[i] |= (uint8_t)(1u << t);
			loops->home[t] = i;
		}
		if (loops->home[t] < 0) {
			score->space = t;
			return NEST_HOMELESS;
		}
	}
	return NEST_FITS;
}

enum nest_verdict nest_loops_make(const struct nest_model *model, const struct mapping *mapping,
	struct nest_loops *loops, struct nest_score *score)
{
	const struct hierarchy *hierarchy = model->hierarchy;
	const struct shape *shape = model->shape;
	int dimension_count = shape->dimension_count;
	struct loop_gathering gathering = {
		.loops = loops, .dimensions = model->all_dimensions, .fits = true};
	for (int d = 0; d < dimension_count; d++) {
		gathering.inside[d] = 1;
		gathering.extent[d] = shape->dimensions[d].extent;
	}
	loops->count = 0;
	for (int i = 0; i < hierarchy->level_count; i++) {
		const struct nest_level *level = &hierarchy->levels[i];
		const struct mapping_row *row =
			&mapping->rows[hierarchy_loops_row(hierarchy, level)];
		take_extents(&gathering, dimension_count, loops->child[i]);
		loops->block[i] = loops->count;
		add_block(&gathering, dimension_count, &mapping->rows[level->block_row], i);
		take_extents(&gathering, dimension_count, loops->block_tile[i]);
		loops->own[i] = loops->count;
		uint32_t busy = nest_busy(row->temporal, FOURS, model->all_dimensions);
		for (int k = 0; busy && k < dimension_count; k++) {
			int d = row->temporal_order[k];
			if (busy >> d & 1)
				home_add_loop(&gathering, d, row->temporal[d], i, false, false);
		}
		take_extents(&gathering, dimension_count, loops->tile[i]);
	}
	loops->block[hierarchy->level_count] = loops->count;
	if (!gathering.fits)
		return refuse_factors(model, mapping, gathering.dimension, score);
	loops->perfect = true;
	for (int d = 0; d < dimension_count; d++) {
		if (gathering.inside[d] < gathering.extent[d])
			return refuse_factors(model, mapping, d, score);
		loops->perfect &= gathering.inside[d] == gathering.extent[d];
	}
	enum nest_verdict verdict = count_instances(model, loops, score);
	if (verdict == NEST_FITS)
		verdict = find_homes(model, mapping, loops, score);
	return verdict;
}

bool nest_passes(
	const struct nest_model *model, const struct nest_loops *loops, int level, int space)
{
	return level != loops->home[space] &&
	       (loops->kept[level] & model->hierarchy->levels[level].no_coalesce) >> space & 1;
}

bool nest_holds(
	const struct nest_model *model, const struct nest_loops *loops, int level, int space)
{
	return loops->kept[level] >> space & 1 && !nest_passes(model, loops, level, space);
}

bool nest_resets(const struct nest_model *model, int level, int space)
{
	return level < 0 || model->hierarchy->levels[level].no_temporal_reuse >> space & 1;
}

int nest_pace(const struct nest_model *model, const struct nest_loops *loops, int level, int space)
{
	bool all = nest_resets(model, level, space);
	uint32_t relevant = all ? UINT32_MAX : model->shape->spaces[space].relevant;
	int k = loops->block[level + 1];
	while (k < loops->count &&
		(loops->at[k].spatial || !(relevant >> loops->at[k].dimension & 1)))
		k++;
	return k;
}

struct counting_array {
	const struct nest_model *model;
	const struct nest_loops *loops;
	bool fits;
};

/* The loops of the array along one axis that are relevant to a dataspace, or all of them. */
static struct nest_offsets loops_along(const struct counting_array *x, int t, bool y)
{
	const struct hierarchy *hierarchy = x->model->hierarchy;
	struct nest_offsets offsets = {
		.space = t < 0 ? NULL : &x->model->shape->spaces[t],
	};
	for (int i = hierarchy->array_inner; i < hierarchy->array_end; i++)
		for (int k = x->loops->block[i]; k < x->loops->own[i]; k++) {
			const struct nest_loop *loop = &x->loops->at[k];
			bool relevant = t < 0 || offsets.space->relevant >> loop->dimension & 1;
			if (relevant && loop->y == y && offsets.loop_count < NEST_SPATIAL_MOST)
				offsets.loops[offsets.loop_count++] = loop;
		}
	return offsets;
}

static int64_t bounds_along(struct counting_array *x, const struct nest_offsets *offsets)
{
	int64_t product = 1;
	for (int i = 0; i < offsets->loop_count; i++)
		product = checked_mul(&x->fits, product, offsets->loops[i]->bound);
	return product;
}

/* Different tiles of a dataspace among the PEs along an axis; all of them, where the sums are
 * not known. */
static int64_t tiles_along(struct counting_array *x, int t, bool y)
{
	struct nest_offsets offsets = loops_along(x, t, y);
	int64_t tiles = bounds_along(x, &offsets), sums = tiles;
	const struct nest_shape_of *space = &x->model->spaces[t];
	if (!(space->boxed && space->plain) && offsets.loop_count &&
		nest_offsets_count(&offsets, &x->fits, &sums))
		tiles = sums;
	return tiles;
}

static bool is_held(const struct counting_array *x, int t)
{
	bool held = x->loops->home[t] < x->model->hierarchy->array_inner;
	for (int i = 0; i < x->model->hierarchy->array_inner; i++)
		held |= nest_holds(x->model, x->loops, i, t);
	return held;
}

/* The outermost level in the PEs that holds a dataspace; -1 if none does, or if it is never
 * anywhere else. */
static int level_inside(const struct counting_array *x, int t)
{
	int i = x->model->hierarchy->array_inner - 1;
	if (x->loops->home[t] <= i)
		return -1;
	while (i >= 0 && !nest_holds(x->model, x->loops, i, t))
		i--;
	return i;
}

/* Iterations of a loop and those around it; or of the loops inside it.  All others, spatial ones
 * included, stand at 0. */
static int64_t rounds_of(struct counting_array *x, int pace, bool inside)
{
	int64_t rounds = 1;
	for (int d = 0; d < x->model->shape->dimension_count; d++) {
		struct nest_digits digits = nest_digits_make(x->model, x->loops, d, -1);
		uint32_t free = 0;
		for (int k = 0; k < digits.count; k++) {
			const struct nest_digit *digit = &digits.at[k];
			free |= (uint32_t)(!digit->spatial && (digit->loop < pace) == inside) << k;
		}
		rounds = checked_mul(&x->fits, rounds, nest_digits_count(&digits, free).count);
	}
	return rounds;
}

static void find_extents(struct counting_array *x, struct nest_projection *out)
{
	out->skew_cycles = 0;
	for (int y = 0; y < 2; y++) {
		struct nest_offsets all = loops_along(x, -1, y);
		bool hands_on = false;
		out->extent[y] = bounds_along(x, &all);
		for (int t = 0; t < x->model->shape->space_count; t++) {
			out->spaces[t].along[y] = tiles_along(x, t, y) < out->extent[y];
			hands_on |= out->spaces[t].along[y];
		}
		out->skew_cycles += hands_on ? out->extent[y] - 1 : 0;
	}
}

static void find_rate(struct counting_array *x, struct nest_projection *out)
{
	out->rate = 1;
	for (int t = 0; t < x->model->shape->space_count; t++)
		if (!is_held(x, t))
			out->rate = number_max(out->rate,
				number_min(tiles_along(x, t, false), tiles_along(x, t, true)));
}

/* Tiles that are loaded: how often, and for how long each time. */
struct array_load {
	int64_t moves, cycles;
};

/* Adds a load; tiles that move more often come first. */
static void add_load(struct array_load *loads, int count, struct array_load load)
{
	for (; count > 0 && loads[count - 1].moves < load.moves; count--)
		loads[count] = loads[count - 1];
	loads[count] = load;
}

static int64_t wait_for_all(struct counting_array *x, const struct array_load *loads, int count)
{
	int64_t cycles = 0;
	for (int i = 0; i < count; i++)
		cycles = checked_add(
			&x->fits, cycles, checked_mul(&x->fits, loads[i].moves, loads[i].cycles));
	return cycles;
}

/* All are loaded before the first pass; before another, one moves only together with all those that
 * move more often. */
static int64_t wait_for_rest(
	struct counting_array *x, const struct array_load *loads, int count, int64_t pass)
{
	int64_t cycles = 0, together = 0;
	for (int i = 0; i < count; i++) {
		int64_t fewer = i + 1 < count ? loads[i + 1].moves : 1;
		together = checked_add(&x->fits, together, loads[i].cycles);
		cycles = checked_add(&x->fits, cycles,
			checked_mul(
				&x->fits, loads[i].moves - fewer, number_max(0, together - pass)));
	}
	return checked_add(&x->fits, cycles, together);
}

/* All of *out but the loops and channels; the innermost loop that ends a pass. */
static int find_passes(
	struct counting_array *x, const struct nest_counts *counts, struct nest_projection *out)
{
	struct array_load loads[SHAPE_SPACES_MOST];
	int last = x->loops->count, count = 0;
	find_extents(x, out);
	find_rate(x, out);
	for (int t = 0; t < x->model->shape->space_count; t++) {
		int level = level_inside(x, t);
		if (level < 0)
			continue;
		int pace = nest_pace(x->model, x->loops, level, t);
		last = pace < last ? pace : last;
		if (x->model->shape->spaces[t].written)
			continue;
		int64_t cycles = checked_mul(
			&x->fits, counts->at[level][t].capacity, tiles_along(x, t, true));
		add_load(loads, count++, (struct array_load){rounds_of(x, pace, false), cycles});
	}
	out->passes = rounds_of(x, last, false);
	out->steps = rounds_of(x, last, true);
	out->overlap = x->model->hierarchy->array_overlaps;
	out->load_cycles = out->overlap ? wait_for_rest(x, loads, count,
						  checked_mul(&x->fits, out->steps, out->rate))
					: wait_for_all(x, loads, count);
	return last;
}

/* Cycles of the array, from when it begins to load until the last PE ends. */
static int64_t counting_array_cycles(struct counting_array *x, const struct nest_counts *counts,
	const struct nest_projection *projection)
{
	int64_t skews = projection->overlap ? 1 : projection->passes;
	int64_t steps = projection->overlap
				? checked_mul(&x->fits, projection->passes, projection->steps)
				: counts->compute_cycles;
	int64_t cycles = checked_add(&x->fits, checked_mul(&x->fits, steps, projection->rate),
		checked_mul(&x->fits, skews, projection->skew_cycles));
	return checked_add(&x->fits, cycles, projection->load_cycles);
}

bool nest_array_count(
	const struct nest_model *model, const struct mapping *mapping, struct nest_counts *counts)
{
	struct nest_loops loops;
	struct nest_score unused;
	struct nest_projection projection;
	counts->array_cycles = 0;
	if (!model->hierarchy->array_end)
		return true;
	if (nest_loops_make(model, mapping, &loops, &unused) != NEST_FITS)
		return false;
	struct counting_array x = {model, &loops, true};
	find_passes(&x, counts, &projection);
	counts->array_cycles =
		counting_array_cycles(&x, counts, &projection) - counts->compute_cycles;
	return x.fits;
}

/* --- projection */

static bool is_in_array(const struct hierarchy *hierarchy, const struct nest_loop *loop)
{
	return loop->spatial && loop->level >= hierarchy->array_inner &&
	       loop->level < hierarchy->array_end;
}

/* Loops of a pass: those of the array, and the temporal ones inside `last`. */
static bool project_loops(struct counting_array *x, int last, struct nest_projection *out)
{
	const struct hierarchy *hierarchy = x->model->hierarchy;
	int64_t pes[2] = {1, 1}, steps = 1;
	out->loop_count = 0;
	for (int k = 0; k < x->loops->count; k++) {
		const struct nest_loop *loop = &x->loops->at[k];
		bool time = !loop->spatial && k < last;
		if (!time && !is_in_array(hierarchy, loop))
			continue;
		if (out->loop_count == NEST_PROJECTED_MOST)
			return false;
		const struct nest_level *level = &hierarchy->levels[loop->level];
		struct nest_projected_loop *to = &out->loops[out->loop_count++];
		*to = (struct nest_projected_loop){.row = time ? level->row : level->block_row,
			.dimension = loop->dimension,
			.bound = loop->bound,
			.index = loop->stride};
		if (time) {
			to->time = steps;
			steps = checked_mul(&x->fits, steps, loop->bound);
			continue;
		}
		to->space[loop->y] = pes[loop->y];
		bool hands_on = false;
		for (int t = 0; t < x->model->shape->space_count; t++)
			hands_on |= out->spaces[t].along[loop->y];
		to->time = hands_on ? pes[loop->y] : 0;
		pes[loop->y] *= loop->bound;
	}
	return x->fits;
}

static enum nest_channel channel_of(struct counting_array *x, int t, const bool along[2])
{
	if (is_held(x, t))
		return NEST_STATIONARY;
	return along[0] || along[1] ? NEST_SYSTOLIC : NEST_DIRECT;
}

bool nest_array_project(const struct nest_model *model, const struct mapping *mapping,
	const struct nest_counts *counts, struct nest_projection *out)
{
	struct nest_loops loops;
	struct nest_score unused;
	if (!model->hierarchy->array_end ||
		nest_loops_make(model, mapping, &loops, &unused) != NEST_FITS)
		return false;
	struct counting_array x = {model, &loops, true};
	int last = find_passes(&x, counts, out);
	for (int t = 0; t < model->shape->space_count; t++)
		out->spaces[t].channel = channel_of(&x, t, out->spaces[t].along);
	return project_loops(&x, last, out) && x.fits;
}

/* One dataspace between a level and its children. */
struct passage {
	double entering; /* words into the network, from the level or, added up, to it */
	double children; /* words at the children */
	double sums;     /* words that return, each to one child */
	double links;    /* words between neighbours */
	double fanout;
};

static const struct nest_count *find_child(const struct nest_model *model,
	const struct nest_counts *counts, int i, int t, double *fanout)
{
	*fanout = model->prices[i].fanout_x * model->prices[i].fanout_y;
	for (int c = i - 1; c >= 0; c--) {
		if (counts->at[c][t].capacity)
			return &counts->at[c][t];
		*fanout *= model->prices[c].fanout_x * model->prices[c].fanout_y;
	}
	return NULL;
}

static struct passage find_passage(
	const struct nest_model *model, const struct nest_counts *counts, int i, int t)
{
	const struct nest_count *count = &counts->at[i][t];
	struct passage passage = {0};
	const struct nest_count *child = find_child(model, counts, i, t, &passage.fanout);
	if (model->shape->spaces[t].written) {
		passage.entering = (double)count->updates;
		passage.sums =
			child ? (double)child->fills : (double)count->reads - (double)count->drains;
		/* All words that came into the children, with a sum or without, leave them. */
		passage.children = child ? (double)child->fills + (double)child->updates -
						   (double)child->reads + (double)child->drains
					 : (double)counts->computes;
		return passage;
	}
	passage.links = child ? (double)child->links : 0;
	passage.entering = (double)count->reads - (double)count->links;
	passage.children = child ? (double)child->fills - passage.links : (double)counts->computes;
	return passage;
}

static double hops_of(double fanout, double multicast)
{
	double across = sqrt(fanout), most = fmin(fmax(multicast, 1), fanout);
	return across * sqrt(most) + 0.5 * (across - sqrt(most)) - across / sqrt(most) + 0.5;
}

double nest_network_pj(const struct nest_model *model, enum counting counting,
	const struct nest_counts *counts, int i)
{
	const struct nest_level *level = &model->hierarchy->levels[i];
	double pj = 0;
	if (level->network.hop_pj == 0 && level->network.router_pj == 0)
		return 0;
	if (counting == COUNTING_TIMELOOP)
		return counts->hops[i] * level->network.hop_pj +
		       counts->routers[i] * level->network.router_pj;
	for (int t = 0; t < model->shape->space_count; t++) {
		if (!counts->at[i][t].capacity)
			continue;
		struct passage passage = find_passage(model, counts, i, t);
		double each = hops_of(passage.fanout, 1), hops = passage.sums * each;
		double routers = passage.sums * (1 + each);
		if (passage.entering > 0) {
			each = hops_of(passage.fanout, passage.children / passage.entering);
			hops += passage.entering * each;
			routers += passage.entering * (1 + each);
		}
		pj += hops * level->network.hop_pj + routers * level->network.router_pj +
		      passage.links * (level->network.hop_pj + 2 * level->network.router_pj);
	}
	return pj;
}
