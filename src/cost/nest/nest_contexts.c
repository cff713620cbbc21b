#include "cost/nest/nest_contexts.h"

#include "base/number.h"

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
static void describe(const struct finder *finder, int time, struct nest_context *context)
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

static bool same(
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

static void note(struct finder *finder, const struct prefix *prefix)
{
	struct nest_contexts *contexts = finder->contexts;
	struct nest_context context = {.count = prefix->count};
	for (int time = 0; time < finder->turn->times; time++) {
		context.base[time] = prefix->base[time];
		describe(finder, time, &context);
	}
	for (int i = 0; i < contexts->count; i++)
		if (same(finder, &contexts->at[i], &context)) {
			contexts->at[i].count += context.count;
			return;
		}
	if (contexts->count == NEST_CONTEXTS_MOST) {
		finder->enough = false;
		return;
	}
	contexts->at[contexts->count++] = context;
}

static void find(struct finder *finder, int i, const struct prefix *prefix);

/* Digit i stands so at the times, in `count` ways; goes on with the next. */
static void stand(struct finder *finder, int i, const struct prefix *prefix, const int64_t *value,
	int64_t count)
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
	find(finder, i + 1, &next);
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
		stand(finder, i, prefix, value, next - at);
	}
}

static void find(struct finder *finder, int i, const struct prefix *prefix)
{
	const struct nest_turn *turn = finder->turn;
	static const int64_t zeros[NEST_TIMES];
	if (i == finder->digits->count) {
		note(finder, prefix);
		return;
	}
	const struct nest_digit *digit = &finder->digits->at[i];
	if (digit->spatial) {
		if (finder->spread >> i & 1)
			/* The children's digits: the tail's own, where the rest may meet it. */
			find(finder, i + 1, prefix);
		else
			stand_anywhere(finder, i, prefix, 0, digit->bound - 1, 0, 0);
		return;
	}
	if (digit->loop < finder->passage->pace) {
		stand(finder, i, prefix, zeros, 1);
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
		stand(finder, i, prefix, value, 1);
	} else if (was_reset && is_reset) {
		if (ends[NEST_BEFORE] > 0)
			return;
		value[NEST_EARLIER] = ends[NEST_EARLIER];
		stand(finder, i, prefix, value, 1);
	} else if (was_reset) {
		value[NEST_NOW] = ahead;
		value[NEST_EARLIER] = ends[NEST_EARLIER];
		stand(finder, i, prefix, value, 1);
	} else if (is_reset) {
		value[NEST_BEFORE] = ends[NEST_BEFORE];
		value[NEST_EARLIER] = value[NEST_BEFORE] - behind;
		if (value[NEST_EARLIER] >= 0)
			stand(finder, i, prefix, value, 1);
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
	find(&finder, 0, &prefix);
	return finder.enough;
}
