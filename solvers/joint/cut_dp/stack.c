#include "solvers/joint/cut_dp/stack.h"

#include "base/arena.h"

#include <string.h>

/* --- are two segments equal?
 *
 * What a relaxation asks the frame for is compared; the image of a tensor is found where it is used.
 */
struct comparing {
	const struct frame *frame;
	int a, b, length; /* ops from a on, and from b on */
	int *images;      /* by tensor of the one: that of the other + 1; 0: not known */
	int *origins;     /* and back */
};

static int clamp(int cut, int from, int most)
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
	if (clamp(p->producer, a, most) != clamp(q->producer, b, most) ||
		clamp(frame->hbm_from[t], a, most) != clamp(frame->hbm_from[u], b, most) ||
		clamp(frame->argued_from[t], a, most) != clamp(frame->argued_from[u], b, most))
		return false;
	return same_table(p->bytes, q->bytes, views * sizeof *p->bytes) &&
	       same_table(p->cores, q->cores, views * sizeof *p->cores) &&
	       same_table(p->evict, q->evict, views * sizeof *p->evict) &&
	       same_table(p->serves, q->serves, views * views * sizeof *p->serves) &&
	       same_table(p->relay, q->relay, views * views * sizeof *p->relay);
}

static bool pair(struct comparing *comparing, int t, int u)
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
		if (!pair(comparing, p->tensors[s], q->tensors[s]) ||
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
			!pair(comparing, p->uses[u].tensor, q->uses[u].tensor))
			return false;
	for (int o = 0; o < p->out_count; o++)
		if (p->outs[o].view != q->outs[o].view ||
			p->outs[o].in_place != q->outs[o].in_place ||
			!pair(comparing, p->outs[o].tensor, q->outs[o].tensor))
			return false;
	for (int i = 0; i < p->argument_count; i++)
		if (!pair(comparing, p->arguments[i], q->arguments[i]))
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

/* The fewest states at a cut between segments, and none that an option leads across; 0: there is no such cut. */
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
			const struct gate *gate =
				closed[c] ? gate_open(frame, c, states, scratch) : NULL;
			fits = gate;
			count = gate && gate_count(gate) > count ? gate_count(gate) : count;
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
