#include "cost/nest/nest_count.h"

#include "base/number.h"

#include <stdlib.h>
#include <string.h>

/* An arithmetic progression from 0: `count` multiples of `step`. */
struct progression {
	int64_t step, count;
};

/* Different sums of one of the numbers and one of each progression; the numbers are lost. */
static bool list_sums(int64_t *numbers, int count, const struct progression *progressions,
	int progression_count, int64_t *out)
{
	count = (int)number_distinct(numbers, (size_t)count);
	for (int p = 0; p < progression_count; p++) {
		struct progression progression = progressions[p];
		if (progression.count > NEST_OFFSETS_MOST / count)
			return false;
		int all = count;
		for (int64_t i = 1; i < progression.count; i++)
			for (int k = 0; k < count; k++)
				numbers[all++] = numbers[k] + i * progression.step;
		count = (int)number_distinct(numbers, (size_t)all);
	}
	*out = count;
	return true;
}

/*
 * Different sums of one number of each progression.  Steps ascending, a progression
 * whose step is a multiple of the sum's so far, and no longer than the sum, prolongs
 * it.  For two progressions, counts N and n, steps g and h without a common divisor:
 * two pairs of indices have the same sum if they differ by a multiple of (h, -g), so
 * there are as many sums as pairs (i, k) without another at (i - h, k + g):
 * N n - max(0, N - h) max(0, n - g).
 */
static bool count_sums(struct progression *progressions, int count, int64_t *out)
{
	struct progression sum = {1, 1};
	int i = 0;
	for (; i < count; i++) {
		int least = i;
		for (int k = i + 1; k < count; k++)
			if (progressions[k].step < progressions[least].step)
				least = k;
		struct progression next = progressions[least];
		progressions[least] = progressions[i];
		progressions[i] = next;
		if (sum.count == 1)
			sum = next;
		else if (next.step % sum.step == 0 && next.step / sum.step <= sum.count)
			sum.count += (next.count - 1) * (next.step / sum.step);
		else
			break;
	}
	if (i == count) {
		*out = sum.count;
		return true;
	}
	if (i == count - 1) {
		struct progression next = progressions[i];
		int64_t common = number_gcd(sum.step, next.step);
		*out = sum.count * next.count -
		       number_max(0, sum.count - next.step / common) *
			       number_max(0, next.count - sum.step / common);
		return true;
	}
	int64_t numbers[NEST_OFFSETS_MOST] = {0};
	return list_sums(numbers, 1, progressions, count, out);
}

/* --- from vectors to numbers */

/* One number for an offset of several ranks: weight[r] = product of (span + 1) of ranks before. */
static void find_weights(
	const struct nest_offsets *offsets, uint32_t dimensions, bool *fits, int64_t *weight)
{
	int64_t next = 1;
	for (int r = 0; r < offsets->space->rank_count; r++) {
		const int64_t *coefficient = offsets->space->ranks[r].coefficient;
		int64_t span = 0;
		for (int i = 0; i < offsets->loop_count; i++) {
			const struct nest_loop *loop = offsets->loops[i];
			if (dimensions >> loop->dimension & 1)
				span = checked_add(fits, span,
					checked_mul(fits, loop->bound - 1,
						checked_mul(fits, loop->stride,
							coefficient[loop->dimension])));
		}
		weight[r] = next;
		next = checked_mul(fits, next, span + 1);
	}
}

static struct progression progression_of(const struct nest_offsets *offsets,
	const struct nest_loop *loop, const int64_t *weight, bool *fits)
{
	int64_t step = 0;
	for (int r = 0; r < offsets->space->rank_count; r++)
		step = checked_add(fits, step,
			checked_mul(fits, weight[r],
				offsets->space->ranks[r].coefficient[loop->dimension]));
	return (struct progression){checked_mul(fits, step, loop->stride), loop->bound};
}

/* Dimensions of the loops that have a coefficient in some rank. */
static uint32_t moving_dimensions(const struct nest_offsets *offsets)
{
	uint32_t moving = 0;
	for (int i = 0; i < offsets->loop_count; i++)
		moving |= 1u << offsets->loops[i]->dimension;
	return moving & offsets->space->relevant;
}

static int64_t offsets_bounds(const struct nest_offsets *offsets, int d)
{
	int64_t bounds = 1;
	for (int i = 0; i < offsets->loop_count; i++)
		if (offsets->loops[i]->dimension == d)
			bounds *= offsets->loops[i]->bound;
	return bounds;
}

bool nest_offsets_count(const struct nest_offsets *offsets, bool *fits, int64_t *out)
{
	uint32_t open = moving_dimensions(offsets), ranks[SHAPE_RANKS_MOST];
	int rank_count = offsets->space->rank_count;
	for (int r = 0; r < rank_count; r++)
		ranks[r] = affine_loops(&offsets->space->ranks[r]);
	int64_t product = 1;
	/* A rank that only one dimension moves fixes that dimension's index; remove it. */
	for (int r = 0; r < rank_count; r++) {
		uint32_t moving = ranks[r] & open;
		if (!moving || moving & (moving - 1))
			continue;
		product =
			checked_mul(fits, product, offsets_bounds(offsets, __builtin_ctz(moving)));
		open &= ~moving;
		r = -1;
	}
	/* The other dimensions fall into parts that have no rank together. */
	while (open) {
		uint32_t part = open & -open, before = 0;
		while (part != before) {
			before = part;
			for (int r = 0; r < rank_count; r++)
				if (ranks[r] & part)
					part |= ranks[r] & open;
		}
		int64_t weight[SHAPE_RANKS_MOST], sums = 0;
		struct progression progressions[NEST_SPATIAL_MOST];
		int count = 0;
		find_weights(offsets, part, fits, weight);
		for (int i = 0; i < offsets->loop_count; i++)
			if (part >> offsets->loops[i]->dimension & 1)
				progressions[count++] =
					progression_of(offsets, offsets->loops[i], weight, fits);
		if (!*fits || !count_sums(progressions, count, &sums))
			return false;
		product = checked_mul(fits, product, sums);
		open &= ~part;
	}
	*out = product;
	return true;
}

bool nest_offsets_count_chosen(const struct nest_offsets *offsets, int chosen, const int *index,
	int count, bool *fits, int64_t *out)
{
	int64_t weight[SHAPE_RANKS_MOST], numbers[NEST_OFFSETS_MOST];
	struct progression progressions[NEST_SPATIAL_MOST];
	find_weights(offsets, UINT32_MAX, fits, weight);
	for (int i = 0; i < offsets->loop_count; i++)
		progressions[i] = progression_of(offsets, offsets->loops[i], weight, fits);
	if (!*fits || count > NEST_OFFSETS_MOST)
		return false;
	for (int i = 0; i < count; i++) {
		numbers[i] = 0;
		for (int k = 0; k < chosen; k++)
			numbers[i] += index[i * chosen + k] * progressions[k].step;
	}
	*out = 0;
	return count == 0 ||
	       list_sums(numbers, count, progressions + chosen, offsets->loop_count - chosen, out);
}

/*
 * Symbols.  A dataspace goes down from its home through the levels that hold it
 * to the multipliers; (c, p) is a child and its parent on that way.  Over all
 * steps and instances,
 *
 *	N(c)     words that the instances of c enter,
 *	G(c, i)  the same, a group counted once in each instance of level i,
 *	E(p)     words that came into instances of p without a partial sum.
 *
 * Read-only: fills(c) = N(c), reads(p) = G(c, p).
 *
 * Written.  An element enters c from an instance of p that has its sum, but for
 * the first entry after it came into that instance without one: every other entry
 * follows a drain, for the instances of one group come together and the sum that
 * one of them takes is put back before the next group enters.  So V(c) = G(c, p) -
 * E(p) words return, E(c) = N(c) - V(c), and at the home E counts every element
 * once.  What leaves are the words that entered, so updates(p) = G(c, p).  For the
 * multipliers, which hold nothing, G(c, p) - E(p) sums are read and G(c, p) updated.
 * In a nest that resumes the home has all sums, and E is 0 there.
 *
 * A sum that comes to a level, in a fill or an update, is read there once: to return, to
 * be added to, or to drain.  So reads = fills + updates, and at the home all but the E sums that
 * stay; those beyond V(c) are `drains`.
 *
 * Perfect factors, every rank of one dimension: two tiles of one level are the same
 * or share nothing, and each iteration of the pace comes to another tile.  So N(c) is
 * a product: tile x iterations of the pace and the loops around it x instances.
 */
struct exact {
	const struct nest_model *model;
	const struct nest_loops *loops;
	struct nest_counts *counts;
	bool fits, countable;
	/* Perfect factors: product of the bounds of the temporal loops from this one outwards. */
	int64_t rounds[NEST_LOOPS_MOST + 1];
};

/* A dataspace on its way. */
struct way {
	int space;
	uint8_t bit;
	uint32_t relevant;
	bool written, slides;
	int child, parent; /* child -1: the multipliers */
	int64_t words;     /* of a child's tile */
	int64_t moves;     /* perfect: move steps of the child */
};

static int64_t exact_mul(struct exact *x, int64_t a, int64_t b)
{
	return checked_mul(&x->fits, a, b);
}

static void exact_sum_more(struct exact *x, int64_t *sum, int64_t more)
{
	*sum = checked_add(&x->fits, *sum, more);
}

static struct nest_count *count_at(const struct exact *x, const struct way *way, int level)
{
	return &x->counts->at[level][way->space];
}

static bool exact_passes(const struct exact *x, const struct way *way, int level)
{
	return nest_passes(x->model, x->loops, level, way->space);
}

/* The innermost loop whose iterations are move steps of the child. */
static int pace_of(const struct exact *x, const struct way *way)
{
	return nest_pace(x->model, x->loops, way->child, way->space);
}

/* Groups that the children in one instance of a level make: those of its block. */
static int64_t groups_of_block(const struct exact *x, const struct way *way, int level, bool split)
{
	const struct nest_loops *loops = x->loops;
	if (split && x->model->hierarchy->levels[level].no_spatial_reuse & way->bit)
		return loops->fan[level];
	int64_t groups = 1;
	for (int k = loops->block[level]; k < loops->own[level]; k++)
		if (way->relevant >> loops->at[k].dimension & 1)
			groups *= loops->at[k].bound;
	return groups;
}

static int64_t groups_below(const struct exact *x, const struct way *way, int level, bool split)
{
	int64_t groups = 1;
	for (int i = way->child + 1; i <= level; i++)
		groups *= groups_of_block(x, way, i, split);
	return groups;
}

/* --- read-only */

/* N(c) and G(c, i) of a read-only dataspace, counted where they belong. */
static void exact_counts_enter(struct exact *x, const struct way *way, int64_t words)
{
	if (way->child >= 0)
		exact_sum_more(x, &count_at(x, way, way->child)->fills, words);
}

static void exact_serve(struct exact *x, const struct way *way, int level, int64_t words)
{
	exact_sum_more(x, &count_at(x, way, level)->reads, words);
	if (level != way->parent)
		exact_sum_more(x, &count_at(x, way, level)->fills, words);
}

static void read_plain(struct exact *x, const struct way *way)
{
	int64_t words = exact_mul(x, way->moves, way->words);
	exact_counts_enter(x, way, exact_mul(x, words, nest_instances(x->loops, way->child)));
	for (int i = way->child + 1; i <= way->parent; i++)
		if (i == way->parent || exact_passes(x, way, i))
			exact_serve(x, way, i,
				exact_mul(x, words,
					nest_instances(x->loops, i) *
						groups_below(x, way, i, true)));
}

static struct nest_passage passage_of(struct exact *x, const struct way *way)
{
	return (struct nest_passage){
		.model = x->model,
		.loops = x->loops,
		.space = way->space,
		.child = way->child,
		.pace = pace_of(x, way),
		.fits = &x->fits,
		.countable = &x->countable,
	};
}

/* Among the instances of the child. */
static void hand_on(struct exact *x, const struct way *way, int64_t words)
{
	if (way->child < 0)
		return;
	exact_sum_more(x, &count_at(x, way, way->child)->reads, words);
	exact_sum_more(x, &count_at(x, way, way->child)->links, words);
}

static void read_imperfect_sliding(struct exact *x, const struct way *way)
{
	struct nest_passage passage = passage_of(x, way);
	bool links = nest_has_links(&passage);
	struct nest_windows windows = {0};
	for (int i = way->child + 1; i <= way->parent && x->countable; i++) {
		if (i != way->parent && !exact_passes(x, way, i))
			continue;
		/* The words that pass on the way depend on neighbours of other instances there. */
		x->countable &= i == way->parent || !links;
		windows = nest_windows_count(&passage, i, links);
		exact_serve(x, way, i, windows.groups);
	}
	exact_counts_enter(x, way, windows.entering);
	hand_on(x, way, windows.links);
}

static void read_sliding(struct exact *x, const struct way *way)
{
	struct nest_passage passage = passage_of(x, way);
	struct nest_slide slide;
	nest_slide_make(&passage, x->rounds, way->parent, &slide);
	if (!x->countable || !x->fits)
		return;
	exact_counts_enter(x, way, exact_mul(x, slide.words, nest_instances(x->loops, way->child)));
	for (int i = way->child + 1; i <= way->parent; i++) {
		if (i != way->parent && !exact_passes(x, way, i))
			continue;
		exact_serve(x, way, i,
			exact_mul(x, nest_slide_groups(&slide, i), nest_instances(x->loops, i)));
	}
	int64_t meshes = nest_instances(x->loops, way->child) / x->loops->fan[way->child + 1];
	hand_on(x, way, exact_mul(x, slide.links, meshes));
}

static void read_imperfect(struct exact *x, const struct way *way)
{
	struct nest_passage passage = passage_of(x, way);
	exact_counts_enter(x, way, nest_imperfect_moved(&passage, ENTERING, 0, false, way->child));
	for (int i = way->child + 1; i <= way->parent; i++)
		if (i == way->parent || exact_passes(x, way, i))
			exact_serve(x, way, i,
				nest_imperfect_moved(&passage, GROUPS, i, true, way->child));
}

/* --- written */

/* The way into one of the levels above a child. */
static struct way way_into(const struct exact *x, const struct way *way, int level)
{
	struct way into = *way;
	into.child = level;
	for (into.parent = level + 1; !nest_holds(x->model, x->loops, into.parent, way->space);)
		into.parent++;
	return into;
}

/*
 * Without temporal reuse a parent lets go of its tile at every iteration, while the child
 * may keep its own, and outlast it.  The stays that matter to the child are those that begin
 * where the child moves: with the outer one of the two paces.
 */
static int outer_pace(const struct exact *x, const struct way *into, int pace)
{
	int own = pace_of(x, into);
	return own > pace ? own : pace;
}

static bool exact_outlasts(const struct exact *x, const struct way *way)
{
	struct way into = *way;
	into.child = way->parent;
	return way->parent != x->loops->home[way->space] && pace_of(x, way) > pace_of(x, &into);
}

static int64_t indices_of(const struct exact *x, const struct way *way, int level)
{
	int64_t indices = 1;
	for (int d = 0; level >= 0 && d < x->model->shape->dimension_count; d++)
		if (way->relevant >> d & 1)
			indices *= x->loops->tile[level][d];
	return indices;
}

/* E(level), in indices of the relevant dimensions, where a child of such a pace moves. */
static int64_t empty_indices(const struct exact *x, const struct way *way, int level, int pace)
{
	const struct nest_loops *loops = x->loops;
	const struct shape *shape = x->model->shape;
	int64_t indices = 1;
	if (level == loops->home[way->space]) {
		if (x->model->hierarchy->resumes)
			return 0;
		for (int d = 0; d < shape->dimension_count; d++)
			if (way->relevant >> d & 1)
				indices *= shape->dimensions[d].extent;
		for (int k = loops->own[level]; k < loops->count; k++)
			if (loops->at[k].spatial && !(way->relevant >> loops->at[k].dimension & 1))
				indices *= loops->at[k].bound;
		return indices;
	}
	struct way into = way_into(x, way, level);
	int64_t entries =
		nest_instances(x->loops, level) -
		nest_instances(x->loops, into.parent) * groups_below(x, &into, into.parent, false);
	pace = outer_pace(x, &into, pace);
	return x->rounds[pace] * entries * indices_of(x, way, level) +
	       empty_indices(x, way, into.parent, pace);
}

/* The indices at which a level and its parents begin a tile again, not for the first time: a sum comes
 * back with them, to one instance of each group. */
static int64_t empty_again(const struct exact *x, const struct way *way, int level)
{
	struct way into = way_into(x, way, level), above = into;
	above.child = into.parent;
	int64_t entries =
		nest_instances(x->loops, level) -
		nest_instances(x->loops, into.parent) * groups_below(x, &into, into.parent, false);
	int64_t indices = entries * indices_of(x, way, level);
	if (into.parent != x->loops->home[way->space] && pace_of(x, &above) == pace_of(x, &into))
		indices += empty_again(x, way, into.parent);
	return indices;
}

static void exact_drain(struct exact *x, const struct way *way, int level, int64_t words)
{
	exact_sum_more(x, &count_at(x, way, level)->reads, words);
	exact_sum_more(x, &count_at(x, way, level)->drains, words);
}

/* Adds the flow between child and parent, once its parts are known. */
static void write_back(
	struct exact *x, const struct way *way, int64_t returned, int64_t first_updates)
{
	struct nest_count *parent = count_at(x, way, way->parent);
	exact_sum_more(x, &parent->reads, returned);
	exact_drain(x, way, way->parent, -returned);
	if (x->model->hierarchy->levels[way->parent].rmw_first_update & way->bit)
		exact_sum_more(x, &parent->reads, first_updates);
	if (way->child >= 0) {
		exact_sum_more(x, &count_at(x, way, way->child)->fills, returned);
		exact_drain(x, way, way->child, returned);
	}
	for (int i = way->child + 1; i < way->parent; i++)
		if (exact_passes(x, way, i)) {
			exact_sum_more(x, &count_at(x, way, i)->fills, returned);
			exact_sum_more(x, &count_at(x, way, i)->reads, returned);
		}
}

/* Sums on their way out, which all levels read that they come to, but those that stay at the home. */
static void exact_update(
	struct exact *x, const struct way *way, int level, int64_t words, int64_t empty)
{
	exact_sum_more(x, &count_at(x, way, level)->updates, words);
	exact_drain(x, way, level, level == x->loops->home[way->space] ? words - empty : words);
}

static void write_plain(struct exact *x, const struct way *way)
{
	int64_t above = way->moves * nest_instances(x->loops, way->parent);
	int64_t indices = indices_of(x, way, way->child);
	/* Groups that spatial no_reuse keeps apart find one sum among them; multipliers find the one
	 * that the group before has left. */
	int64_t groups = above * groups_below(x, way, way->parent, way->child < 0);
	int64_t empty = empty_indices(x, way, way->parent, pace_of(x, way)) / indices;
	/* If the child outlasts the parent's stays, it updates the last before it moves. */
	int64_t updated = exact_outlasts(x, way)
				  ? way->moves * empty_again(x, way, way->parent) / indices
				  : empty;
	write_back(x, way, exact_mul(x, groups - empty, way->words),
		exact_mul(x, updated, way->words));
	for (int i = way->child + 1; i <= way->parent; i++)
		if (i == way->parent || exact_passes(x, way, i))
			exact_update(x, way, i,
				exact_mul(x, way->words,
					way->moves * nest_instances(x->loops, i) *
						groups_below(x, way, i, true)),
				exact_mul(x, empty, way->words));
}

/* E(level), of the words that tiles of the child cover, where one of such a pace moves. */
static int64_t empty_words(struct exact *x, const struct way *way, int level, int pace)
{
	int home = x->loops->home[way->space];
	struct nest_passage passage = passage_of(x, way);
	if (level == home && x->model->hierarchy->resumes)
		return 0;
	if (level == home)
		return nest_imperfect_elements(&passage, home);
	struct way into = way_into(x, way, level);
	/* If tiles of the child may stay at some of its own moves, its stays and those of a level that
	 * keeps nothing look alike. */
	if (!nest_resets(x->model, way->child, way->space) &&
		nest_resets(x->model, level, way->space) && nest_imperfect_stays(&passage))
		x->countable = false;
	passage = passage_of(x, &into);
	passage.pace = pace = outer_pace(x, &into, pace);
	int64_t entering = nest_imperfect_moved(&passage, ENTERING, 0, false, way->child);
	int64_t groups = nest_imperfect_moved(&passage, GROUPS, into.parent, false, way->child);
	return entering - groups + empty_words(x, way, into.parent, pace);
}

static void write_imperfect(struct exact *x, const struct way *way)
{
	struct nest_passage passage = passage_of(x, way);
	int64_t empty = empty_words(x, way, way->parent, pace_of(x, way));
	int64_t groups =
		nest_imperfect_moved(&passage, GROUPS, way->parent, way->child < 0, way->child);
	if (x->model->hierarchy->levels[way->parent].rmw_first_update & way->bit &&
		exact_outlasts(x, way))
		x->countable = false;
	write_back(x, way, groups - empty, empty);
	for (int i = way->child + 1; i <= way->parent; i++)
		if (i == way->parent || exact_passes(x, way, i))
			exact_update(x, way, i,
				nest_imperfect_moved(&passage, DRAINS, i, true, way->child), empty);
}

/* --- the whole way */

static void count_space(struct exact *x, int t)
{
	const struct dataspace *space = &x->model->shape->spaces[t];
	const struct nest_loops *loops = x->loops;
	struct way way = {
		.space = t,
		.bit = (uint8_t)(1u << t),
		.relevant = space->relevant,
		.written = space->written,
		.slides = dataspace_slides(space),
		.parent = loops->home[t],
	};
	if (way.written && way.slides) {
		x->countable = false;
		return;
	}
	for (int i = 0; i < x->model->hierarchy->level_count; i++)
		x->counts->at[i][t] = (struct nest_count){.capacity = x->counts->at[i][t].capacity};
	for (way.child = way.parent - 1; way.child >= -1; way.child--) {
		if (way.child >= 0 && !nest_holds(x->model, loops, way.child, t))
			continue;
		way.words = way.child < 0 ? 1 : count_at(x, &way, way.child)->capacity;
		if (loops->perfect)
			way.moves = x->rounds[pace_of(x, &way)];
		if (way.written)
			(loops->perfect ? write_plain : write_imperfect)(x, &way);
		else if (way.slides)
			(loops->perfect ? read_sliding : read_imperfect_sliding)(x, &way);
		else
			(loops->perfect ? read_plain : read_imperfect)(x, &way);
		way.parent = way.child;
	}
}

static void count_work(struct exact *x)
{
	const struct nest_loops *loops = x->loops;
	struct nest_counts *counts = x->counts;
	int levels = x->model->hierarchy->level_count;
	if (!loops->perfect) {
		nest_imperfect_work(x->model, loops, counts);
		return;
	}
	counts->compute_cycles = x->rounds[0];
	counts->utilized_computes = loops->multipliers;
	for (int i = 0; i < levels; i++)
		counts->utilized[i] = loops->instances[i];
}

enum nest_verdict nest_exact_counts(const struct nest_model *model, const struct nest_loops *loops,
	uint32_t spaces, struct nest_counts *counts, struct nest_score *score)
{
	struct exact x;
	x.model = model;
	x.loops = loops;
	x.counts = counts;
	x.fits = x.countable = true;
	/* The bounds of perfect factors multiply to the multiply-adds, which fit. */
	x.rounds[loops->count] = 1;
	for (int k = loops->count - 1; k >= 0 && loops->perfect; k--)
		x.rounds[k] = x.rounds[k + 1] * (loops->at[k].spatial ? 1 : loops->at[k].bound);
	count_work(&x);
	for (int t = 0; t < model->shape->space_count; t++) {
		if (!(spaces >> t & 1))
			continue;
		count_space(&x, t);
		score->space = t;
		if (!x.countable)
			return NEST_UNCOUNTABLE;
		if (!x.fits)
			return NEST_OVERFLOW;
	}
	score->space = -1;
	return NEST_FITS;
}
