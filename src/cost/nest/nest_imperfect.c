#include "cost/nest/nest_imperfect.h"

#include "base/checked.h"
#include "cost/nest/nest_digits.h"

/*
 * From one move step to the next one temporal loop, j, goes on; those inside it, down
 * to the pace, go from their ends to 0 (`reset`).  A tile stays where it is if j is
 * of no relevant dimension and all reset loops of relevant ones have ended at 0, which
 * happens in the tail alone.  At every other move step each instance with work
 * enters a whole tile.  Where the tile stays, an instance enters it that works now
 * and did not at the step before, and leaves it that worked then and does not now.
 *
 * An index grows when j goes on and shrinks when loops are reset.  So in j's dimension
 * what exists now existed before, and in the others what existed before exists now.
 *
 * Children in one instance that differ in irrelevant spatial digits alone (`shared`) form a
 * group; the one whose shared digits are 0 works whenever one of them does.
 */
struct sum {
	const struct nest_passage *passage;
	const struct dataspace *space;
	enum moving moving;
	int level;  /* groups and drains: in each instance of this level */
	bool split; /* spatial no_reuse counts */
	int cover;
	bool *fits;
};

static bool is_relevant(const struct sum *sum, int d)
{
	return sum->space->relevant >> d & 1;
}

/* Does the digit make children of one group? */
static bool is_shared(const struct sum *sum, const struct nest_digit *digit)
{
	const struct hierarchy *hierarchy = sum->passage->model->hierarchy;
	return digit->spatial && sum->moving != ENTERING && digit->level <= sum->level &&
	       !(sum->split &&
		       hierarchy->levels[digit->level].no_spatial_reuse >> sum->passage->space & 1);
}

/* --- one dimension */

/* Words of a box of this many indices of dimension d: its part of the product. */
static int64_t box(const struct sum *sum, int d, int64_t indices)
{
	int64_t words = 1;
	for (int r = 0; r < sum->space->rank_count; r++) {
		int64_t coefficient = sum->space->ranks[r].coefficient[d];
		if (coefficient)
			words = checked_mul(sum->fits, words,
				checked_add(sum->fits, 1,
					checked_mul(sum->fits, coefficient, indices - 1)));
	}
	return words;
}

/* The same of the cover's boxes in this many indices. */
static int64_t covered(const struct sum *sum, int d, int64_t indices)
{
	int64_t width = sum->cover < 0 ? 1 : sum->passage->loops->tile[sum->cover][d];
	int64_t words = checked_mul(sum->fits, indices / width, box(sum, d, width));
	if (indices % width)
		words = checked_add(sum->fits, words, box(sum, d, indices % width));
	return words;
}

/* Words of the tiles counted. */
static int64_t weigh(
	const struct sum *sum, int d, const struct nest_digits *digits, struct nest_tally tally)
{
	int64_t words =
		checked_mul(sum->fits, tally.count - tally.tail, covered(sum, d, digits->width));
	if (tally.tail)
		words = checked_add(sum->fits, words, covered(sum, d, digits->rest));
	return words;
}

/* Spatial digits free, or 0 where they make children of one group; temporal ones free down to
 * the pace. */
static void pick_all(
	const struct sum *sum, int d, const struct nest_digits *digits, int64_t *picked)
{
	for (int i = 0; i < digits->count; i++) {
		const struct nest_digit *digit = &digits->at[i];
		bool still = digit->spatial ? !is_relevant(sum, d) && is_shared(sum, digit)
					    : digit->loop < sum->passage->pace;
		picked[i] = still ? 0 : NEST_DIGIT_FREE;
	}
}

/* Is this loop reset when j goes on? */
static bool is_reset(const struct sum *sum, const struct nest_digit *digit, int j)
{
	return !digit->spatial && digit->loop < j && digit->loop >= sum->passage->pace;
}

static void pick_reset(const struct sum *sum, const struct nest_digits *digits, int j, bool to_end,
	bool in_tail, int64_t *picked)
{
	for (int i = 0; i < digits->count; i++) {
		const struct nest_digit *digit = &digits->at[i];
		if (is_reset(sum, digit, j))
			picked[i] = !to_end ? 0 : in_tail ? digit->end : digit->bound - 1;
		else if (in_tail && !digit->spatial && digit->loop > j)
			picked[i] = digit->end;
	}
}

/* Steps before j goes on, loops of the dimension that are reset at their ends: how many tiles
 * exist there. */
static struct nest_tally before_reset(
	const struct sum *sum, int d, const struct nest_digits *digits, int j)
{
	int64_t picked[NEST_DIGITS_MOST];
	bool ends_early = false;
	for (int i = 0; i < digits->count; i++)
		ends_early |= is_reset(sum, &digits->at[i], j) &&
			      digits->at[i].end < digits->at[i].bound - 1;
	pick_all(sum, d, digits, picked);
	pick_reset(sum, digits, j, true, false, picked);
	struct nest_tally tally = nest_digits_count(digits, picked, 0);
	if (ends_early) {
		pick_reset(sum, digits, j, true, true, picked);
		struct nest_tally tail = nest_digits_count(digits, picked, 0);
		tally.count += tail.count;
		tally.tail |= tail.tail;
	}
	return tally;
}

static struct nest_tally after_reset(
	const struct sum *sum, int d, const struct nest_digits *digits, int j)
{
	int64_t picked[NEST_DIGITS_MOST];
	pick_all(sum, d, digits, picked);
	pick_reset(sum, digits, j, false, false, picked);
	return nest_digits_count(digits, picked, 0);
}

/* Numbers from digit `from` on above the tail. */
static int64_t count_above(const struct nest_digits *digits, const int64_t *picked, int from)
{
	int64_t all = 1;
	for (int i = from; i < digits->count; i++)
		if (picked[i] == NEST_DIGIT_FREE)
			all *= digits->at[i].bound;
	return all - nest_digits_count(digits, picked, from).count;
}

/* Shared digits at the top, to ask whether any of a group is above the tail. */
static void raise_shared(const struct sum *sum, const struct nest_digits *digits, int64_t *picked)
{
	for (int i = 0; i < digits->count; i++)
		if (is_shared(sum, &digits->at[i]))
			picked[i] = digits->at[i].bound - 1;
}

/*
 * Groups of which some instance has no index before loops are reset and has one after.
 * Its number is below the tail after and above it before; so it equals the tail in all
 * digits before the first that changes.
 */
static int64_t joining(const struct sum *sum, int d, const struct nest_digits *digits, int j)
{
	int64_t low[NEST_DIGITS_MOST], high[NEST_DIGITS_MOST];
	bool in_tail = true; /* do the outer loops of the tail stand at their ends? */
	for (int i = 0; i < digits->count; i++)
		if (!digits->at[i].spatial && digits->at[i].loop > j)
			in_tail &= digits->at[i].tail == digits->at[i].end;
	pick_all(sum, d, digits, low);
	pick_reset(sum, digits, j, false, false, low);
	pick_all(sum, d, digits, high);
	pick_reset(sum, digits, j, true, in_tail, high);
	raise_shared(sum, digits, high);
	for (int i = 0; i < digits->count; i++) {
		const struct nest_digit *digit = &digits->at[i];
		if (!is_reset(sum, digit, j))
			continue;
		if (high[i] == 0) {
			if (digit->tail > 0)
				return 0;
			continue;
		}
		if (high[i] < digit->tail)
			return 0;
		if (high[i] == digit->tail)
			return count_above(digits, high, i + 1);
		if (digit->tail == 0)
			return nest_digits_count(digits, low, i + 1).count;
		int64_t all = 1;
		for (int k = i + 1; k < digits->count; k++)
			all *= low[k] == NEST_DIGIT_FREE ? digits->at[k].bound : 1;
		return all;
	}
	return 0;
}

/* The dimension of j, as it goes on. */

/* Tiles that exist after. */
static struct nest_tally after_going_on(
	const struct sum *sum, int d, const struct nest_digits *digits, int j)
{
	int64_t picked[NEST_DIGITS_MOST];
	pick_all(sum, d, digits, picked);
	pick_reset(sum, digits, j, false, false, picked);
	struct nest_tally tally = nest_digits_count(digits, picked, 0);
	for (int i = 0; i < digits->count; i++)
		if (digits->at[i].loop == j)
			picked[i] = 0;
	struct nest_tally none = nest_digits_count(digits, picked, 0);
	tally.count -= none.count;
	tally.tail = tally.tail && !none.tail;
	return tally;
}

/* Tiles that exist before, where j does not end there. */
static int64_t before_going_on(
	const struct sum *sum, int d, const struct nest_digits *digits, int j)
{
	int64_t picked[NEST_DIGITS_MOST];
	int at = 0;
	while (digits->at[at].loop != j)
		at++;
	pick_all(sum, d, digits, picked);
	pick_reset(sum, digits, j, true, false, picked);
	int64_t count = nest_digits_count(digits, picked, 0).count;
	picked[at] = digits->at[at].bound - 1;
	count -= nest_digits_count(digits, picked, 0).count;
	if (digits->at[at].end < digits->at[at].bound - 1) {
		for (int i = 0; i <= at; i++)
			if (!digits->at[i].spatial)
				picked[i] = digits->at[i].end;
		count -= nest_digits_count(digits, picked, 0).count;
	}
	return count;
}

/* Groups of which some instance has an index before j goes on and none after: its number
 * equals the tail in all digits before j, and there before or after. */
static int64_t quitting(const struct sum *sum, int d, const struct nest_digits *digits, int j)
{
	int64_t picked[NEST_DIGITS_MOST];
	bool in_tail = true;
	int at = 0;
	for (; digits->at[at].loop != j; at++)
		if (!digits->at[at].spatial)
			in_tail &= digits->at[at].tail == digits->at[at].end;
	const struct nest_digit *digit = &digits->at[at];
	int64_t count = 0;
	pick_all(sum, d, digits, picked);
	pick_reset(sum, digits, j, true, false, picked);
	if (digit->tail < (in_tail ? digit->end : digit->bound - 1))
		count += nest_digits_count(digits, picked, at + 1).count;
	if (digit->tail > 0) {
		pick_reset(sum, digits, j, false, false, picked);
		raise_shared(sum, digits, picked);
		count += count_above(digits, picked, at + 1);
	}
	return count;
}

/* --- all dimensions */

/* One dimension's part of all moves, as if tiles never stayed. */
static int64_t part_of_all(const struct sum *sum, int d, const struct nest_digits *digits)
{
	int64_t picked[NEST_DIGITS_MOST];
	pick_all(sum, d, digits, picked);
	struct nest_tally tally = nest_digits_count(digits, picked, 0);
	return is_relevant(sum, d) ? weigh(sum, d, digits, tally) : tally.count;
}

/* A relevant dimension's part of the tiles that stay when j goes on. */
static int64_t part_that_stays(
	const struct sum *sum, int d, const struct nest_digits *digits, int j)
{
	int64_t picked[NEST_DIGITS_MOST];
	bool resets = false;
	for (int i = 0; i < digits->count; i++)
		resets |= is_reset(sum, &digits->at[i], j);
	pick_all(sum, d, digits, picked);
	if (resets)
		pick_reset(sum, digits, j, true, true, picked);
	return weigh(sum, d, digits, nest_digits_count(digits, picked, 0));
}

/* An irrelevant dimension's part of those that stay and move nothing. */
static int64_t part_that_rests(
	const struct sum *sum, int d, const struct nest_digits *digits, int j)
{
	bool goes_on = sum->passage->loops->at[j].dimension == d;
	switch (sum->moving) {
	case ENTERING:
		return (goes_on ? after_going_on(sum, d, digits, j)
				: before_reset(sum, d, digits, j))
			.count;
	case GROUPS:
		return goes_on ? after_going_on(sum, d, digits, j).count
			       : after_reset(sum, d, digits, j).count - joining(sum, d, digits, j);
	case DRAINS:
		return goes_on ? before_going_on(sum, d, digits, j) - quitting(sum, d, digits, j)
			       : before_reset(sum, d, digits, j).count;
	}
	return 0;
}

/* Loops other than the pace that go on while tiles stay: the next one outwards from j. */
static int next_to_stay(const struct sum *sum, const struct nest_digits *digits, int j)
{
	const struct nest_loops *loops = sum->passage->loops;
	while (++j < loops->count) {
		bool stays = !loops->at[j].spatial && !is_relevant(sum, loops->at[j].dimension);
		for (int d = 0; stays && d < sum->passage->model->shape->dimension_count; d++)
			for (int i = 0; stays && is_relevant(sum, d) && i < digits[d].count; i++)
				stays = !is_reset(sum, &digits[d].at[i], j) ||
					digits[d].at[i].end == 0;
		if (stays)
			break;
	}
	return j;
}

static int64_t moved(const struct sum *sum)
{
	const struct nest_passage *passage = sum->passage;
	const struct nest_loops *loops = passage->loops;
	int dimensions = passage->model->shape->dimension_count;
	struct nest_digits digits[SHAPE_DIMENSIONS_MOST];
	int64_t words = 1;
	for (int d = 0; d < dimensions; d++) {
		digits[d] = nest_digits_make(passage->model, loops, d, passage->child);
		words = checked_mul(sum->fits, words, part_of_all(sum, d, &digits[d]));
	}
	bool keeps = passage->child >= 0 &&
		     !(passage->model->hierarchy->levels[passage->child].no_temporal_reuse >>
				     passage->space &
			     1);
	for (int j = passage->pace; (j = next_to_stay(sum, digits, j)) < loops->count && keeps;) {
		int64_t stay = 1;
		for (int d = 0; d < dimensions && stay; d++)
			if (is_relevant(sum, d))
				stay = checked_mul(
					sum->fits, stay, part_that_stays(sum, d, &digits[d], j));
		for (int d = 0; d < dimensions && stay; d++)
			if (!is_relevant(sum, d))
				stay = checked_mul(
					sum->fits, stay, part_that_rests(sum, d, &digits[d], j));
		words -= stay;
	}
	return words;
}

bool nest_imperfect_stays(const struct nest_passage *passage)
{
	struct sum sum = {
		.passage = passage,
		.space = &passage->model->shape->spaces[passage->space],
	};
	struct nest_digits digits[SHAPE_DIMENSIONS_MOST];
	for (int d = 0; d < passage->model->shape->dimension_count; d++)
		digits[d] = nest_digits_make(passage->model, passage->loops, d, passage->child);
	return next_to_stay(&sum, digits, passage->pace) < passage->loops->count;
}

int64_t nest_imperfect_moved(const struct nest_passage *passage, enum moving moving, int level,
	bool split, int cover, bool *fits)
{
	struct sum sum = {
		.passage = passage,
		.space = &passage->model->shape->spaces[passage->space],
		.moving = moving,
		.level = level,
		.split = split,
		.cover = cover,
		.fits = fits,
	};
	return moved(&sum);
}

/* Indices of the spatial loops from a level outwards that exist, the others at 0; with `steps`
 * those of the temporal loops instead. */
static int64_t count_work(const struct nest_digits *digits, int level, bool steps)
{
	int64_t picked[NEST_DIGITS_MOST];
	for (int i = 0; i < digits->count; i++) {
		const struct nest_digit *digit = &digits->at[i];
		bool is_free = steps ? !digit->spatial : digit->spatial && digit->level > level;
		picked[i] = is_free ? NEST_DIGIT_FREE : 0;
	}
	return nest_digits_count(digits, picked, 0).count;
}

int64_t nest_imperfect_elements(const struct nest_passage *passage, int home, bool *fits)
{
	const struct shape *shape = passage->model->shape;
	struct nest_passage every_step = *passage;
	every_step.pace = 0;
	struct sum sum = {
		.passage = &every_step,
		.space = &shape->spaces[passage->space],
		.moving = ENTERING,
		.cover = passage->child,
		.fits = fits,
	};
	int64_t words = 1;
	for (int d = 0; d < shape->dimension_count; d++) {
		struct nest_digits digits =
			nest_digits_make(passage->model, passage->loops, d, passage->child);
		words = checked_mul(fits, words,
			is_relevant(&sum, d) ? part_of_all(&sum, d, &digits)
					     : count_work(&digits, home, false));
	}
	return words;
}

void nest_imperfect_work(
	const struct nest_model *model, const struct nest_loops *loops, struct nest_counts *counts)
{
	int levels = model->hierarchy->level_count;
	counts->compute_cycles = counts->utilized_computes = 1;
	for (int i = 0; i < levels; i++)
		counts->utilized[i] = 1;
	for (int d = 0; d < model->shape->dimension_count; d++) {
		struct nest_digits digits = nest_digits_make(model, loops, d, -1);
		counts->compute_cycles *= count_work(&digits, -1, true);
		counts->utilized_computes *= count_work(&digits, -1, false);
		for (int i = 0; i < levels; i++)
			counts->utilized[i] *= count_work(&digits, i, false);
	}
}
