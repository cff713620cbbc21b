#include "solvers/joint/cut_dp/stack_bound.h"

#include "base/arena.h"
#include "base/number.h"
#include "solvers/joint/cut_dp/options.h"
#include "solvers/joint/cut_dp/stack.h"
#include "solvers/joint/cut_dp/toll.h"

#include <stdint.h>

struct sweep {
	struct run *run;
	const struct frame *frame;
	struct ladder *ladder;
	size_t width;               /* states of a cut */
	struct arena *kept, *arena; /* of the stack, of this block */
	int from, to;
	const struct gate *behind; /* NULL: the end */
	int64_t least;             /* of all paths */
};

/* Reduced cost of starting in a state: the cost minus the lower bound of the rest, so that all starts compete equally. */
static struct gate *make_costs(const struct gate *expected, struct arena *arena)
{
	struct gate *costs = arena_copy(arena, expected, sizeof *expected);
	size_t size = gate_size(expected);
	int64_t most = 0;
	for (size_t i = 0; i < size; i++)
		if (expected->tolls[i] < TOLL_NEVER)
			most = number_max(most, expected->tolls[i]);
	costs->tolls = arena_array(arena, int64_t, size);
	for (size_t i = 0; i < size; i++)
		costs->tolls[i] =
			expected->tolls[i] < TOLL_NEVER ? most - expected->tolls[i] : TOLL_NEVER;
	return costs;
}

/*
 * From coarse to fine; one that repeats the last one costs about as much.  The finest one; NULL: the budget is spent.
 */
static struct relaxation *relax_block(struct sweep *sweep, const struct gate *costs, bool repeats)
{
	int64_t expected = repeats ? sweep->least : 0, limit = TOLL_NEVER - 1;
	struct relaxation *relaxation = NULL;
	bool done = true;
	for (int g = 0, is_last = false; done && !is_last; g++) {
		const struct ground *ground = ladder_ground(sweep->ladder, g);
		is_last = ladder_ends(sweep->ladder, g);
		int64_t part = is_last || repeats ? CUT_BLOCK_LAST : CUT_BLOCK_WINDOW;
		if (g)
			limit = number_min(relax_limit(relaxation), expected + expected / part);
		relaxation = relax_open(sweep->run, ground, relaxation, 0, sweep->arena);
		relax_between(relaxation, sweep->from, sweep->to, costs, sweep->behind);
		done = relax_run(relaxation, g ? sweep->width : SIZE_MAX, limit, false);
		sweep->least = relax_least(relaxation);
		expected = repeats ? expected : sweep->least;
	}
	return done ? relaxation : NULL;
}

/* What is still to come before the block: what the relaxation says, or more than its limit. */
static void read_tolls(const struct sweep *sweep, struct relaxation *relaxation,
	const struct gate *costs, struct gate *before)
{
	size_t count = toll_count(sweep->frame);
	int64_t above = relax_limit(relaxation) + 1;
	for (size_t s = 0; s < gate_count(before); s++) {
		const int64_t *tolls = relax_tolls(relaxation, sweep->from, gate_codes(before, s));
		const int64_t *paid = gate_row(costs, s);
		int64_t *row = gate_row(before, s);
		for (size_t i = 0; i < count; i++)
			row[i] = paid[i] >= TOLL_NEVER ? TOLL_NEVER
						       : number_min(tolls ? tolls[i] : TOLL_NEVER,
								 number_max(above - paid[i], 0));
	}
}

/* What a relaxation says that tells no views apart; TOLL_NEVER: no path leads to an end. */
static bool guess(struct sweep *sweep, struct gate *before)
{
	struct gate free = *before;
	free.tolls = arena_array(sweep->arena, int64_t, gate_size(before));
	struct relaxation *relaxation =
		relax_open(sweep->run, ladder_ground(sweep->ladder, 0), NULL, 0, sweep->arena);
	relax_between(relaxation, sweep->from, sweep->to, &free, sweep->behind);
	if (!relax_run(relaxation, SIZE_MAX, TOLL_NEVER - 1, false))
		return false;
	read_tolls(sweep, relaxation, &free, before);
	return true;
}

/* The gate before a block; `expected`: what may be still to come there, NULL: nobody knows. */
static struct gate *sweep_block(struct sweep *sweep, const struct gate *expected)
{
	struct gate *before = gate_open(sweep->frame, sweep->from, SIZE_MAX, sweep->kept);
	if (!guess(sweep, before))
		return NULL;
	for (size_t i = 0; expected && i < gate_size(before); i++)
		if (before->tolls[i] < TOLL_NEVER && expected->tolls[i] < TOLL_NEVER)
			before->tolls[i] = expected->tolls[i];
	const struct gate *costs = make_costs(before, sweep->arena);
	struct relaxation *finest = relax_block(sweep, costs, expected);
	if (!finest)
		return NULL;
	read_tolls(sweep, finest, costs, before);
	return before;
}

/* The least that a block adds; below 0: nobody knows. */
static int64_t least_more(const struct gate *before, const struct gate *behind)
{
	int64_t least = TOLL_NEVER;
	for (size_t i = 0; i < gate_size(before); i++)
		if (before->tolls[i] < TOLL_NEVER)
			least = number_min(
				least, before->tolls[i] - (behind ? behind->tolls[i] : 0));
	return least;
}

/* Takes what is still to come from every state off, so that what differs is left. */
static int64_t take_least(struct gate *gate)
{
	int64_t least = least_more(gate, NULL);
	for (size_t i = 0; i < gate_size(gate); i++)
		if (gate->tolls[i] < TOLL_NEVER)
			gate->tolls[i] -= least;
	return least;
}

/* --- from the last block to the first */

/* All that is known of the blocks behind one. */
struct behind {
	const struct gate *gate; /* NULL: nothing is behind */
	int64_t further;         /* beside what the gate says */
	int64_t each; /* what one more block adds at least, if it is equal to the last one */
	int times;    /* equal blocks, one behind the other */
};

static bool go_before(struct sweep *sweep, struct behind *behind, bool repeats)
{
	struct gate *before = sweep_block(sweep, repeats ? behind->gate : NULL);
	int64_t least = before ? take_least(before) : TOLL_NEVER;
	if (least >= TOLL_NEVER)
		return false; /* no time, or no end to lead to */
	behind->each = repeats ? least + least_more(before, behind->gate) : -1;
	behind->times = repeats ? behind->times + 1 : 0;
	behind->further = cut_add(behind->further, least);
	behind->gate = before;
	return true;
}

/* The block that begins at this cut, the first one to the start. */
static bool look_at_block(struct sweep *sweep, struct behind *behind, bool repeats)
{
	sweep->arena = arena_open();
	sweep->behind = behind->gate;
	bool goes_on = sweep->from ? go_before(sweep, behind, repeats)
				   : relax_block(sweep, NULL, false) != NULL;
	arena_close(sweep->arena);
	return goes_on;
}

void stack_bound(struct run *run, const struct frame *frame, struct ladder *ladder, size_t width,
	int64_t *bound)
{
	struct sweep sweep = {
		.run = run, .frame = frame, .ladder = ladder, .width = width, .kept = arena_open()};
	struct stack stack = stack_find(frame, CUT_GATE_STATES, sweep.kept);
	struct behind behind = {0};
	bool goes_on = stack.count && !frame_relays(frame);
	for (int b = stack.count - 1; b >= 0 && goes_on; b--) {
		bool repeats = stack.repeats[b];
		sweep.from = stack.cuts[b];
		sweep.to = stack.cuts[b + 1];
		if (repeats && b && behind.times >= CUT_BLOCK_TIMES && behind.each >= 0)
			behind.further = cut_add(behind.further, behind.each);
		else
			goes_on = look_at_block(&sweep, &behind, repeats);
	}
	int64_t sum = cut_add(sweep.least, behind.further);
	if (goes_on && sum < TOLL_NEVER)
		*bound = number_max(*bound, sum);
	arena_close(sweep.kept);
}
