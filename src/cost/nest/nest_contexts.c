#include "cost/nest/nest_count.h"

#include "base/number.h"

struct nest_digits nest_digits_make(
	const struct nest_model *model, const struct nest_loops *loops, int dimension, int level)
{
	struct nest_digits digits;
	int64_t last = model->shape->dimensions[dimension].extent - 1;
	bool below = false; /* spatial indices at 0 are below the tail already */
	digits.count = 0;
	digits.width = level < 0 ? 1 : loops->tile[level][dimension];
	digits.rest = last % digits.width + 1;
	for (int k = loops->count - 1; k >= loops->block[level + 1]; k--) {
		const struct nest_loop *loop = &loops->at[k];
		if (loop->dimension != dimension)
			continue;
		int64_t tail = last / loop->stride % loop->bound;
		digits.at[digits.count++] = (struct nest_digit){
			.loop = k,
			.spatial = loop->spatial,
			.level = loop->level,
			.bound = loop->bound,
			.tail = tail,
			.end = below ? loop->bound - 1 : tail,
		};
		below |= loop->spatial && tail > 0;
	}
	return digits;
}

struct nest_tally nest_digits_count(const struct nest_digits *digits, uint32_t free)
{
	/* Outermost digit first: numbers that equal the tail so far, and those below it. */
	struct nest_tally tally = {0, true};
	for (int i = 0; i < digits->count; i++) {
		const struct nest_digit *digit = &digits->at[i];
		bool is_free = free >> i & 1;
		tally.count *= is_free ? digit->bound : 1;
		if (tally.tail)
			tally.count += is_free ? digit->tail : digit->tail > 0;
		tally.tail = tally.tail && (is_free || digit->tail == 0);
	}
	tally.count += tally.tail;
	return tally;
}

struct finder {
	const struct nest_passage *passage;
	const struct nest_digits *digits;
	uint32_t spread;
	bool relevant;
	const struct nest_turn *turn;
	int64_t extent;
	struct nest_contexts *contexts;
	bool enough;
};

/* Digits so far, at each of the times. */
struct prefix {
	int64_t count;
	int64_t base[NEST_TIMES];
	bool at_end[NEST_TIMES];  /* temporal digits stand at their ends */
	bool at_tail[NEST_TIMES]; /* all but the children's stand as in the tail */
};

int64_t nest_indices_from(const struct nest_digits *digits, int64_t extent, int64_t index)
{
	return number_max(0, number_min(digits->width, extent - index));
}

/* Children of one dimension whose tiles exist, and the indices of the last of them. */
static void contexts_describe(const struct finder *finder, int time, struct nest_context *context)
{
	const struct nest_digits *digits = finder->digits;
	int64_t room = finder->extent - 1 - context->base[time], last = 0;
	context->children[time] = context->last[time] = 0;
	if (room < 0)
		return;
	/* The highest digits whose sum has room: one too high makes all inner ones free. */
	bool below = false;
	for (int i = 0; i < digits->count; i++) {
		if (!(finder->spread >> i & 1))
			continue;
		int64_t stride = finder->passage->loops->at[digits->at[i].loop].stride;
		int64_t digit = below ? digits->at[i].bound - 1
				      : number_min(digits->at[i].bound - 1, room / stride);
		below |= digit < room / stride;
		room -= digit * stride;
		last += digit * stride;
		context->children[time] = context->children[time] * digits->at[i].bound + digit;
	}
	context->children[time]++;
	context->last[time] = nest_indices_from(digits, finder->extent, context->base[time] + last);
}

static bool finder_same(
	const struct finder *finder, const struct nest_context *a, const struct nest_context *b)
{
	for (int time = 0; time < finder->turn->times; time++) {
		if (a->children[time] != b->children[time])
			return false;
		if (!finder->relevant)
			continue;
		if (a->last[time] != b->last[time] ||
			a->base[time] - a->base[0] != b->base[time] - b->base[0])
			return false;
	}
	return true;
}

static void finder_note(struct finder *finder, const struct prefix *prefix)
{
	struct nest_contexts *contexts = finder->contexts;
	struct nest_context context = {.count = prefix->count};
	for (int time = 0; time < finder->turn->times; time++) {
		context.base[time] = prefix->base[time];
		contexts_describe(finder, time, &context);
	}
	for (int i = 0; i < contexts->count; i++)
		if (finder_same(finder, &contexts->at[i], &context)) {
			contexts->at[i].count += context.count;
			return;
		}
	if (contexts->count == NEST_CONTEXTS_MOST) {
		finder->enough = false;
		return;
	}
	contexts->at[contexts->count++] = context;
}

static void finder_run(struct finder *finder, int i, const struct prefix *prefix);

/* Digit i stands so at the times, in `count` ways; goes on with the next. */
static void finder_place_digit(struct finder *finder, int i, const struct prefix *prefix,
	const int64_t *value, int64_t count)
{
	const struct nest_digit *digit = &finder->digits->at[i];
	struct prefix next = *prefix;
	next.count *= count;
	for (int time = 0; time < finder->turn->times; time++) {
		if (!digit->spatial &&
			value[time] > (prefix->at_end[time] ? digit->end : digit->bound - 1))
			return;
		next.base[time] += value[time] * finder->passage->loops->at[digit->loop].stride;
		next.at_tail[time] = prefix->at_tail[time] && value[time] == digit->tail;
		if (!digit->spatial)
			next.at_end[time] = prefix->at_end[time] && value[time] == digit->end;
	}
	finder_run(finder, i + 1, &next);
}

/* Digit i may stand anywhere in [from, to], `ahead` further at this step and `behind` less at
 * the earliest.  Where it meets the tail or its end it counts by itself. */
static void stand_anywhere(struct finder *finder, int i, const struct prefix *prefix, int64_t from,
	int64_t to, int ahead, int behind)
{
	const struct nest_digit *digit = &finder->digits->at[i];
	bool near = false;
	for (int time = 0; time < finder->turn->times; time++)
		near |= prefix->at_tail[time] || (!digit->spatial && prefix->at_end[time]);
	for (int64_t at = from, next; at <= to; at = next) {
		next = to + 1;
		const int64_t marks[] = {digit->tail, digit->end};
		for (int m = 0; near && m < 2; m++)
			for (int64_t mark = marks[m] - ahead; mark <= marks[m] + behind + 1; mark++)
				if (mark > at && mark < next)
					next = mark;
		const int64_t value[] = {at + ahead, at, at - behind};
		finder_place_digit(finder, i, prefix, value, next - at);
	}
}

static void finder_run(struct finder *finder, int i, const struct prefix *prefix)
{
	const struct nest_turn *turn = finder->turn;
	static const int64_t zeros[NEST_TIMES];
	if (i == finder->digits->count) {
		finder_note(finder, prefix);
		return;
	}
	const struct nest_digit *digit = &finder->digits->at[i];
	if (digit->spatial) {
		if (finder->spread >> i & 1)
			/* The children's digits: the tail's own, where the rest may meet it. */
			finder_run(finder, i + 1, prefix);
		else
			stand_anywhere(finder, i, prefix, 0, digit->bound - 1, 0, 0);
		return;
	}
	if (digit->loop < finder->passage->pace) {
		finder_place_digit(finder, i, prefix, zeros, 1);
		return;
	}
	/* Loops inside the one that goes on were at their ends before, and are at 0. */
	int64_t ends[NEST_TIMES];
	for (int time = 0; time < turn->times; time++)
		ends[time] = prefix->at_end[time] ? digit->end : digit->bound - 1;
	bool was_reset = turn->times > 2 && digit->loop < turn->before;
	bool is_reset = turn->times > 1 && digit->loop < turn->now;
	int ahead = turn->times > 1 && digit->loop == turn->now;
	int behind = turn->times > 2 && digit->loop == turn->before;
	int64_t value[NEST_TIMES] = {0};
	if (turn->start) {
		if (is_reset && ends[NEST_BEFORE] > 0)
			return;
		value[NEST_NOW] = ahead;
		finder_place_digit(finder, i, prefix, value, 1);
	} else if (was_reset && is_reset) {
		if (ends[NEST_BEFORE] > 0)
			return;
		value[NEST_EARLIER] = ends[NEST_EARLIER];
		finder_place_digit(finder, i, prefix, value, 1);
	} else if (was_reset) {
		value[NEST_NOW] = ahead;
		value[NEST_EARLIER] = ends[NEST_EARLIER];
		finder_place_digit(finder, i, prefix, value, 1);
	} else if (is_reset) {
		value[NEST_BEFORE] = ends[NEST_BEFORE];
		value[NEST_EARLIER] = value[NEST_BEFORE] - behind;
		if (value[NEST_EARLIER] >= 0)
			finder_place_digit(finder, i, prefix, value, 1);
	} else {
		stand_anywhere(finder, i, prefix, behind, digit->bound - 1 - ahead, ahead, behind);
	}
}

bool nest_contexts_find(const struct nest_passage *passage, const struct nest_digits *digits,
	uint32_t spread, bool relevant, const struct nest_turn *turn, struct nest_contexts *out)
{
	const struct nest_loops *loops = passage->loops;
	struct finder finder = {
		.passage = passage,
		.digits = digits,
		.spread = spread,
		.relevant = relevant,
		.turn = turn,
		.contexts = out,
		.enough = true,
	};
	struct prefix prefix = {.count = 1};
	/* The last tile begins at the tail's digits and has the rest. */
	finder.extent = digits->rest;
	for (int i = 0; i < digits->count; i++)
		finder.extent += digits->at[i].tail * loops->at[digits->at[i].loop].stride;
	for (int time = 0; time < NEST_TIMES; time++)
		prefix.at_end[time] = prefix.at_tail[time] = true;
	out->count = 0;
	finder_run(&finder, 0, &prefix);
	return finder.enough;
}

/*
 * From one move step to the next one temporal loop, j, goes on; those inside it, down
 * to the pace, go from their ends to 0 (`reset`).  A tile stays where it is if j is
 * of no relevant dimension and all reset loops of relevant ones have ended at 0, which
 * happens in the tail alone.  At every other move step each instance with work
 * enters a whole tile.  Where the tile stays, an instance enters it that works now
 * and did not at the step before, and leaves it that worked then and does not now.
 *
 * Children in one instance that differ in irrelevant spatial digits alone (`shared`) form a
 * group; the one whose shared digits are 0 works whenever one of them does.  Those that work come
 * first in each dimension.  So a group stays where in no dimension more of them work than before
 * (what drains: fewer).
 */
struct sum {
	const struct nest_passage *passage;
	const struct dataspace *space;
	enum moving moving;
	int level;  /* groups and drains: in each instance of this level */
	bool split; /* spatial no_reuse counts */
	int cover;
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

/* Is this loop reset when j goes on? */
static bool is_reset(const struct sum *sum, const struct nest_digit *digit, int j)
{
	return !digit->spatial && digit->loop < j && digit->loop >= sum->passage->pace;
}

static int64_t sum_mul(const struct sum *sum, int64_t a, int64_t b)
{
	return checked_mul(sum->passage->fits, a, b);
}

static int64_t contexts_sum(const struct sum *sum, int64_t a, int64_t b)
{
	return checked_add(sum->passage->fits, a, b);
}

/* --- one dimension */

/* Words of a box of this many indices of dimension d: its part of the product. */
static int64_t sum_box(const struct sum *sum, int d, int64_t indices)
{
	int64_t words = 1;
	for (int r = 0; r < sum->space->rank_count; r++) {
		int64_t coefficient = sum->space->ranks[r].coefficient[d];
		if (coefficient)
			words = sum_mul(sum, words,
				contexts_sum(sum, 1, sum_mul(sum, coefficient, indices - 1)));
	}
	return words;
}

/* The same of the cover's boxes in this many indices. */
static int64_t sum_covered(const struct sum *sum, int d, int64_t indices)
{
	int64_t width = sum->cover < 0 ? 1 : sum->passage->loops->tile[sum->cover][d];
	int64_t words = sum_mul(sum, indices / width, sum_box(sum, d, width));
	return indices % width ? contexts_sum(sum, words, sum_box(sum, d, indices % width)) : words;
}

/* Digits in which the children of one group differ. */
static uint32_t spread_of(const struct sum *sum, int d, const struct nest_digits *digits)
{
	uint32_t spread = 0;
	for (int i = 0; i < digits->count && !is_relevant(sum, d); i++)
		spread |= (uint32_t)is_shared(sum, &digits->at[i]) << i;
	return spread;
}

/* One dimension's part of what would move, over all move steps, if tiles never stayed. */
static int64_t part_of_all(const struct sum *sum, int d, const struct nest_digits *digits)
{
	uint32_t still = spread_of(sum, d, digits);
	for (int i = 0; i < digits->count; i++)
		if (!digits->at[i].spatial && digits->at[i].loop < sum->passage->pace)
			still |= 1u << i;
	struct nest_tally tally = nest_digits_count(digits, ~still);
	if (!is_relevant(sum, d))
		return tally.count;
	int64_t words = sum_mul(sum, tally.count - tally.tail, sum_covered(sum, d, digits->width));
	return tally.tail ? contexts_sum(sum, words, sum_covered(sum, d, digits->rest)) : words;
}

/* Words of a relevant dimension that stay in one context, or of another the instances or groups that
 * do not move. */
static int64_t sum_stay(const struct sum *sum, int d, const struct nest_context *context)
{
	int64_t now = context->children[NEST_NOW], before = context->children[NEST_BEFORE];
	bool still = context->base[NEST_NOW] == context->base[NEST_BEFORE];
	if (is_relevant(sum, d))
		return now && still ? sum_covered(sum, d, context->last[NEST_NOW]) : 0;
	if (sum->moving == DRAINS)
		return before && before <= now;
	return now && now <= before;
}

/* One dimension's part of the tiles that stay when loop j goes on. */
static int64_t part_that_stays(
	const struct sum *sum, int d, const struct nest_digits *digits, int j)
{
	struct nest_turn turn = {.times = 2, .now = j};
	struct nest_contexts contexts;
	int64_t part = 0;
	*sum->passage->countable &= nest_contexts_find(sum->passage, digits,
		spread_of(sum, d, digits), is_relevant(sum, d), &turn, &contexts);
	for (int i = 0; i < contexts.count; i++)
		part = contexts_sum(sum, part,
			sum_mul(sum, contexts.at[i].count, sum_stay(sum, d, &contexts.at[i])));
	return part;
}

/* --- all dimensions */

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

static void find_digits(const struct nest_passage *passage, struct nest_digits *digits)
{
	for (int d = 0; d < passage->model->shape->dimension_count; d++)
		digits[d] = nest_digits_make(passage->model, passage->loops, d, passage->child);
}

static int64_t sum_moved(const struct sum *sum)
{
	const struct nest_passage *passage = sum->passage;
	int dimensions = passage->model->shape->dimension_count;
	struct nest_digits digits[SHAPE_DIMENSIONS_MOST];
	int64_t words = 1;
	find_digits(passage, digits);
	for (int d = 0; d < dimensions; d++)
		words = sum_mul(sum, words, part_of_all(sum, d, &digits[d]));
	if (nest_resets(passage->model, passage->child, passage->space))
		return words;
	for (int j = passage->pace; (j = next_to_stay(sum, digits, j)) < passage->loops->count;) {
		int64_t stay = 1;
		for (int d = 0; d < dimensions && stay; d++)
			stay = sum_mul(sum, stay, part_that_stays(sum, d, &digits[d], j));
		words -= stay;
	}
	return words;
}

static struct sum sum_of(const struct nest_passage *passage, enum moving moving, int cover)
{
	return (struct sum){
		.passage = passage,
		.space = &passage->model->shape->spaces[passage->space],
		.moving = moving,
		.cover = cover,
	};
}

bool nest_imperfect_stays(const struct nest_passage *passage)
{
	struct sum sum = sum_of(passage, ENTERING, passage->child);
	struct nest_digits digits[SHAPE_DIMENSIONS_MOST];
	find_digits(passage, digits);
	return next_to_stay(&sum, digits, passage->pace) < passage->loops->count;
}

int64_t nest_imperfect_moved(
	const struct nest_passage *passage, enum moving moving, int level, bool split, int cover)
{
	struct sum sum = sum_of(passage, moving, cover);
	sum.level = level;
	sum.split = split;
	return sum_moved(&sum);
}

/* Indices of the spatial loops from a level outwards that exist, the others at 0; with `steps`
 * those of the temporal loops instead. */
static int64_t count_work(const struct nest_digits *digits, int level, bool steps)
{
	uint32_t free = 0;
	for (int i = 0; i < digits->count; i++) {
		const struct nest_digit *digit = &digits->at[i];
		bool is_free = steps ? !digit->spatial : digit->spatial && digit->level > level;
		free |= (uint32_t)is_free << i;
	}
	return nest_digits_count(digits, free).count;
}

int64_t nest_imperfect_elements(const struct nest_passage *passage, int home)
{
	struct nest_passage every_step = *passage;
	every_step.pace = 0;
	struct sum sum = sum_of(&every_step, ENTERING, passage->child);
	struct nest_digits digits[SHAPE_DIMENSIONS_MOST];
	int64_t words = 1;
	find_digits(passage, digits);
	for (int d = 0; d < passage->model->shape->dimension_count; d++)
		words = sum_mul(&sum, words,
			is_relevant(&sum, d) ? part_of_all(&sum, d, &digits[d])
					     : count_work(&digits[d], home, false));
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
