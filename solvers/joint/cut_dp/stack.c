#include "solvers/joint/cut_dp/cut_dp.h"

#include "base/arena.h"
#include "base/number.h"

#include <stdint.h>
#include <string.h>

/* --- are two segments equal?  The parts of the frame that a relaxation reads are compared; the image of a tensor
 * is found where it is used.  */
struct comparing {
	const struct frame *frame;
	int a, b, length; /* ops from a on, and from b on */
	int *images;      /* by tensor of the one: that of the other + 1; 0: not known */
	int *origins;     /* and back */
};

static int stack_clamp(int cut, int from, int most)
{
	return cut < from ? -1 : cut - from > most ? most : cut - from;
}

static bool same_table(const void *a, const void *b, size_t size)
{
	return a == b || !size || memcmp(a, b, size) == 0;
}

static bool same_tensors(const struct comparing *comparing, int t, int u)
{
	const struct frame *frame = comparing->frame;
	const struct joint_tensor *p = &frame->space->tensors[t], *q = &frame->space->tensors[u];
	int a = comparing->a, b = comparing->b, most = comparing->length + 1;
	size_t views = (size_t)p->view_count;
	if (p->view_count != q->view_count || p->output != q->output ||
		(p->producer < 0) != (q->producer < 0))
		return false;
	if (stack_clamp(p->producer, a, most) != stack_clamp(q->producer, b, most) ||
		stack_clamp(frame->hbm_from[t], a, most) !=
			stack_clamp(frame->hbm_from[u], b, most) ||
		stack_clamp(frame->argued_from[t], a, most) !=
			stack_clamp(frame->argued_from[u], b, most))
		return false;
	return same_table(p->bytes, q->bytes, views * sizeof *p->bytes) &&
	       same_table(p->cores, q->cores, views * sizeof *p->cores) &&
	       same_table(p->evict, q->evict, views * sizeof *p->evict) &&
	       same_table(p->serves, q->serves, views * views * sizeof *p->serves) &&
	       same_table(p->relay, q->relay, views * views * sizeof *p->relay);
}

static bool comparing_pair(struct comparing *comparing, int t, int u)
{
	if (!comparing->images[t] && !comparing->origins[u] && same_tensors(comparing, t, u)) {
		comparing->images[t] = u + 1;
		comparing->origins[u] = t + 1;
	}
	return comparing->images[t] == u + 1 && comparing->origins[u] == t + 1;
}

static bool same_cuts(struct comparing *comparing, const struct cut *p, const struct cut *q)
{
	if (p->slot_count != q->slot_count || p->mentions != q->mentions)
		return false;
	for (int s = 0; s < p->slot_count; s++) {
		int views = comparing->frame->space->tensors[p->tensors[s]].view_count;
		if (!comparing_pair(comparing, p->tensors[s], q->tensors[s]) ||
			!same_table(p->kept[s], q->kept[s],
				2 * ((size_t)views + 1) * sizeof *p->kept[s]))
			return false;
	}
	return true;
}

static bool same_options(
	struct comparing *comparing, const struct joint_option *p, const struct joint_option *q)
{
	if (p->end - comparing->a != q->end - comparing->b || p->value != q->value ||
		p->room != q->room || p->cores != q->cores || p->ends_bundle != q->ends_bundle ||
		p->alone != q->alone || p->empties != q->empties || p->use_count != q->use_count ||
		p->out_count != q->out_count || p->argument_count != q->argument_count)
		return false;
	for (int u = 0; u < p->use_count; u++)
		if (p->uses[u].mode != q->uses[u].mode || p->uses[u].view != q->uses[u].view ||
			!comparing_pair(comparing, p->uses[u].tensor, q->uses[u].tensor))
			return false;
	for (int o = 0; o < p->out_count; o++)
		if (p->outs[o].view != q->outs[o].view ||
			p->outs[o].in_place != q->outs[o].in_place ||
			!comparing_pair(comparing, p->outs[o].tensor, q->outs[o].tensor))
			return false;
	for (int i = 0; i < p->argument_count; i++)
		if (!comparing_pair(comparing, p->arguments[i], q->arguments[i]))
			return false;
	return true;
}

static bool same_ops(struct comparing *comparing, int p, int q)
{
	const struct joint_space *space = comparing->frame->space;
	const size_t *first = space->first_option;
	if (first[p + 1] - first[p] != first[q + 1] - first[q])
		return false;
	for (size_t i = 0; i < first[p + 1] - first[p]; i++)
		if (!same_options(comparing, &space->options[first[p] + i],
			    &space->options[first[q] + i]))
			return false;
	return true;
}

static bool same_segments(const struct frame *frame, int a, int b, int length)
{
	struct arena *scratch = arena_open();
	struct comparing comparing = {.frame = frame,
		.a = a,
		.b = b,
		.length = length,
		.images = arena_array(scratch, int, frame->space->tensor_count),
		.origins = arena_array(scratch, int, frame->space->tensor_count)};
	bool same = true;
	for (int i = 0; i <= length && same; i++)
		same = same_cuts(&comparing, &frame->cuts[a + i], &frame->cuts[b + i]) &&
		       (i == length || same_ops(&comparing, a + i, b + i));
	arena_close(scratch);
	return same;
}

/* --- where segments may begin */

/* Equal ops have equal marks. */
static uint64_t *mark_ops(const struct joint_space *space, struct arena *arena)
{
	uint64_t *marks = arena_array(arena, uint64_t, space->op_count + 1);
	for (size_t i = 0; i < space->option_count; i++) {
		const struct joint_option *option = &space->options[i];
		const int64_t numbers[] = {option->end - option->first, option->value, option->room,
			option->cores, option->use_count, option->out_count,
			option->argument_count};
		uint64_t *mark = &marks[option->first];
		for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
			*mark = (*mark ^ (uint64_t)numbers[k]) * UINT64_C(0xd6e8feb86659fd93);
			*mark ^= *mark >> 32;
		}
	}
	return marks;
}

/* Each cut: has no option ops on both of its sides? */
static bool *find_closed(const struct joint_space *space, struct arena *arena)
{
	bool *closed = arena_array(arena, bool, space->op_count + 1);
	memset(closed, true, (size_t)space->op_count + 1);
	for (size_t i = 0; i < space->option_count; i++)
		for (int c = space->options[i].first + 1; c < space->options[i].end; c++)
			closed[c] = false;
	return closed;
}

/* Ops from `from` to `to` that are like those `length` before them. */
struct period {
	int length, from, to;
};

/* The most ops, then the shortest period. */
static struct period find_period(const uint64_t *marks, int count)
{
	struct period best = {0};
	for (int length = 1; length <= count / 2; length++)
		for (int from = length, to; from < count; from = to + 1) {
			for (to = from; to < count && marks[to] == marks[to - length];)
				to++;
			if (2 * (to - from) >= length && to - from > best.to - best.from)
				best = (struct period){length, from, to};
		}
	return best;
}

/* Returns the cut of fewest states between segments that no option leads across; 0: none. */
static int choose_cut(
	const struct frame *frame, const struct period *period, size_t states, struct arena *arena)
{
	const bool *closed = find_closed(frame->space, arena);
	int best = 0;
	for (int cut = period->from - period->length + 1; cut <= period->from; cut++) {
		bool fits = true;
		size_t count = 0;
		for (int c = cut; c < period->to && fits; c += period->length) {
			struct arena *scratch = arena_open();
			const struct potential *potential =
				closed[c] ? potential_open(frame, c, states, scratch) : NULL;
			fits = potential;
			count = potential && potential_count(potential) > count
					? potential_count(potential)
					: count;
			arena_close(scratch);
		}
		if (!fits || !count || count > states)
			continue;
		states = count - 1;
		best = cut;
	}
	return best;
}

struct stack stack_find(const struct frame *frame, size_t states, struct arena *arena)
{
	int ops = frame->space->op_count, count = 0;
	struct period period = find_period(mark_ops(frame->space, arena), ops);
	int first = period.length ? choose_cut(frame, &period, states, arena) : 0;
	int *cuts = arena_array(arena, int, ops + 2);
	bool *repeats = arena_array(arena, bool, ops + 1);
	for (int c = first; c && c < period.to; c += period.length)
		cuts[++count] = c;
	if (!count)
		return (struct stack){0};
	cuts[++count] = ops;
	for (int i = 0; i + 1 < count; i++)
		repeats[i] = cuts[i + 1] - cuts[i] == cuts[i + 2] - cuts[i + 1] &&
			     same_segments(frame, cuts[i], cuts[i + 1], cuts[i + 1] - cuts[i]);
	return (struct stack){count, cuts, repeats};
}

struct stack_sweep {
	struct run *run;
	const struct frame *frame;
	struct relaxations *relaxations;
	size_t width;               /* states of a cut */
	struct arena *kept, *arena; /* of the stack, of this block */
	int from, to;
	const struct potential *behind; /* NULL: the end */
	int64_t least;                  /* of all paths */
};

/* Reduced cost of starting in a state: the cost minus the lower bound of the rest, so that all starts compete
 * equally. */
static struct potential *make_costs(const struct potential *expected, struct arena *arena)
{
	struct potential *costs = arena_copy(arena, expected, sizeof *expected);
	size_t size = potential_size(expected);
	int64_t most = 0;
	for (size_t i = 0; i < size; i++)
		if (expected->bounds[i] < BOUND_NEVER)
			most = number_max(most, expected->bounds[i]);
	costs->bounds = arena_array(arena, int64_t, size);
	for (size_t i = 0; i < size; i++)
		costs->bounds[i] = expected->bounds[i] < BOUND_NEVER ? most - expected->bounds[i]
								     : BOUND_NEVER;
	return costs;
}

/*
 * From coarse to fine; one that repeats the last one costs about as much.  The finest one; NULL: the budget is spent.
 */
static struct relaxation *relax_block(
	struct stack_sweep *sweep, const struct potential *costs, bool repeats)
{
	int64_t expected = repeats ? sweep->least : 0, limit = BOUND_NEVER - 1;
	struct relaxation *relaxation = NULL;
	bool done = true;
	for (int g = 0, is_last = false; done && !is_last; g++) {
		const struct state_space *states = relaxations_space(sweep->relaxations, g);
		is_last = relaxations_ends(sweep->relaxations, g);
		int64_t part = is_last || repeats ? CUT_BLOCK_LAST : CUT_BLOCK_WINDOW;
		if (g)
			limit = number_min(relax_limit(relaxation), expected + expected / part);
		relaxation = relax_open(sweep->run, states, relaxation, 0, sweep->arena);
		relax_between(relaxation, sweep->from, sweep->to, costs, sweep->behind);
		done = relax_run(relaxation, g ? sweep->width : SIZE_MAX, limit, false);
		sweep->least = relax_least(relaxation);
		expected = repeats ? expected : sweep->least;
	}
	return done ? relaxation : NULL;
}

/* Reads the completion bounds before the block from the relaxation, or its limit. */
static void read_bounds(const struct stack_sweep *sweep, struct relaxation *relaxation,
	const struct potential *costs, struct potential *before)
{
	size_t count = condition_count(sweep->frame);
	int64_t above = relax_limit(relaxation) + 1;
	for (size_t s = 0; s < potential_count(before); s++) {
		const int64_t *bounds =
			relax_bounds(relaxation, sweep->from, potential_codes(before, s));
		const int64_t *paid = potential_row(costs, s);
		int64_t *row = potential_row(before, s);
		for (size_t i = 0; i < count; i++)
			row[i] = paid[i] >= BOUND_NEVER
					 ? BOUND_NEVER
					 : number_min(bounds ? bounds[i] : BOUND_NEVER,
						   number_max(above - paid[i], 0));
	}
}

/* Estimates the potential by a relaxation that joins all views; BOUND_NEVER: no path leads to an end. */
static bool stack_sweep_guess(struct stack_sweep *sweep, struct potential *before)
{
	struct potential free = *before;
	free.bounds = arena_array(sweep->arena, int64_t, potential_size(before));
	struct relaxation *relaxation = relax_open(
		sweep->run, relaxations_space(sweep->relaxations, 0), NULL, 0, sweep->arena);
	relax_between(relaxation, sweep->from, sweep->to, &free, sweep->behind);
	if (!relax_run(relaxation, SIZE_MAX, BOUND_NEVER - 1, false))
		return false;
	read_bounds(sweep, relaxation, &free, before);
	return true;
}

/* The potential before a block; `expected`: an estimate of its values; NULL: none. */
static struct potential *sweep_block(struct stack_sweep *sweep, const struct potential *expected)
{
	struct potential *before = potential_open(sweep->frame, sweep->from, SIZE_MAX, sweep->kept);
	if (!stack_sweep_guess(sweep, before))
		return NULL;
	for (size_t i = 0; expected && i < potential_size(before); i++)
		if (before->bounds[i] < BOUND_NEVER && expected->bounds[i] < BOUND_NEVER)
			before->bounds[i] = expected->bounds[i];
	const struct potential *costs = make_costs(before, sweep->arena);
	struct relaxation *finest = relax_block(sweep, costs, expected);
	if (!finest)
		return NULL;
	read_bounds(sweep, finest, costs, before);
	return before;
}

/* Returns the least value that a block adds; below 0: not known. */
static int64_t least_more(const struct potential *before, const struct potential *behind)
{
	int64_t least = BOUND_NEVER;
	for (size_t i = 0; i < potential_size(before); i++)
		if (before->bounds[i] < BOUND_NEVER)
			least = number_min(
				least, before->bounds[i] - (behind ? behind->bounds[i] : 0));
	return least;
}

/* Takes what is still to come from every state off, so that what differs is left. */
static int64_t take_least(struct potential *potential)
{
	int64_t least = least_more(potential, NULL);
	for (size_t i = 0; i < potential_size(potential); i++)
		if (potential->bounds[i] < BOUND_NEVER)
			potential->bounds[i] -= least;
	return least;
}

/* --- from the last block to the first */

/* All that is known of the blocks behind one. */
struct behind {
	const struct potential *potential; /* NULL: nothing is behind */
	int64_t further;                   /* beside what the potential says */
	int64_t each; /* what one more block adds at least, if it is equal to the last one */
	int times;    /* equal blocks, one behind the other */
};

static bool go_before(struct stack_sweep *sweep, struct behind *behind, bool repeats)
{
	struct potential *before = sweep_block(sweep, repeats ? behind->potential : NULL);
	int64_t least = before ? take_least(before) : BOUND_NEVER;
	if (least >= BOUND_NEVER)
		return false; /* no time, or no end to lead to */
	behind->each = repeats ? least + least_more(before, behind->potential) : -1;
	behind->times = repeats ? behind->times + 1 : 0;
	behind->further = cut_add(behind->further, least);
	behind->potential = before;
	return true;
}

/* The block that begins at this cut, the first one to the start. */
static bool look_at_block(struct stack_sweep *sweep, struct behind *behind, bool repeats)
{
	sweep->arena = arena_open();
	sweep->behind = behind->potential;
	bool goes_on = sweep->from ? go_before(sweep, behind, repeats)
				   : relax_block(sweep, NULL, false) != NULL;
	arena_close(sweep->arena);
	return goes_on;
}

void stack_bound(struct run *run, const struct frame *frame, struct relaxations *relaxations,
	size_t width, int64_t *bound)
{
	struct stack_sweep sweep = {.run = run,
		.frame = frame,
		.relaxations = relaxations,
		.width = width,
		.kept = arena_open()};
	struct stack stack = stack_find(frame, CUT_POTENTIAL_STATES, sweep.kept);
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
	if (goes_on && sum < BOUND_NEVER)
		*bound = number_max(*bound, sum);
	arena_close(sweep.kept);
}
