#include "search/claim/plan_bound.h"

#include "base/arena.h"
#include "base/number.h"
#include "search/claim/plan_state.h"
#include "search/joint/joint_pack.h"

#include <string.h>

enum { PACK_TICKS = 200000, NUMBERS_MOST = 30000 };

/* --- the heap: by least, then those that are further, then the older */

static bool is_before(const struct bounding *bounding, struct bound_open a, struct bound_open b)
{
	uint16_t cut_a = bounding->nodes.at[a.node].state.cut;
	uint16_t cut_b = bounding->nodes.at[b.node].state.cut;
	if (a.least != b.least)
		return a.least < b.least;
	return cut_a != cut_b ? cut_a > cut_b : a.node < b.node;
}

static void push(struct bounding *bounding, struct bound_open open)
{
	array_add(bounding->arena, &bounding->heap);
	struct bound_open *heap = bounding->heap.at;
	size_t i = bounding->heap.count - 1;
	for (; i && is_before(bounding, open, heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = open;
}

static struct bound_open pop(struct bounding *bounding)
{
	struct bound_open *heap = bounding->heap.at, top = heap[0];
	size_t count = --bounding->heap.count, i = 0;
	struct bound_open last = heap[count];
	for (size_t child; (child = 2 * i + 1) < count; i = child) {
		if (child + 1 < count && is_before(bounding, heap[child + 1], heap[child]))
			child++;
		if (!is_before(bounding, heap[child], last))
			break;
		heap[i] = heap[child];
	}
	heap[i] = last;
	return top;
}

/* --- states */

/* The parts of a bundle that are paid for and not used yet. */
static int64_t find_credit(struct bounding *bounding, const struct bound_state *state)
{
	const struct joint_space *space = bounding->space;
	if (!space->bundle_most || state->must_begin)
		return 0;
	return checked_mul(&bounding->fits, space->bundle_most - count_used(state),
		plan_share(space, state->widest));
}

/* The least that is left, times the scale; JOINT_NEVER: nothing leads to an end below the claim. */
static int64_t rest_of(struct bounding *bounding, const struct bound_state *state)
{
	const struct plan_relaxed *relaxed = bounding->relaxed;
	const struct plan_cut *cut = cut_of(bounding, state);
	size_t index = 0;
	for (int k = 0; k < cut->count; k++) {
		bool hbm = state->place[k] & BIT_HBM;
		int view = view_of(state, k), t = cut->tensors[k];
		if (!hbm && view < 0 && is_needed(bounding, t, false, state->cut))
			return JOINT_NEVER;
		index += cut->unit[k] * (size_t)plan_code(relaxed->cuts, t, hbm, view);
	}
	int64_t rest = relaxed->least[state->cut][index];
	return rest == JOINT_NEVER ? rest : number_max(rest - find_credit(bounding, state), 0);
}

/* Where the nodes with the places of a state are listed. */
static uint32_t *places_of(const struct bounding *bounding, const struct bound_state *state)
{
	uint64_t hash = 1469598103934665603u + state->cut;
	for (int k = 0; k < PLAN_CROSSING_MOST; k++)
		hash = (hash ^ state->place[k]) * 1099511628211u;
	hash ^= hash >> 29;
	for (size_t s = (size_t)hash;; s++) {
		uint32_t *first = &bounding->places[s & (bounding->place_count - 1)];
		if (!*first)
			return first;
		const struct bound_state *other = &bounding->nodes.at[*first - 1].state;
		if (other->cut == state->cut &&
			!memcmp(other->place, state->place, sizeof other->place))
			return first;
	}
}

static void list(struct bounding *bounding, uint32_t i)
{
	uint32_t *first = places_of(bounding, &bounding->nodes.at[i].state);
	bounding->nodes.at[i].next = *first;
	*first = i + 1;
}

static void grow_places(struct bounding *bounding)
{
	bounding->place_count = bounding->place_count ? 2 * bounding->place_count : 1 << 12;
	bounding->places = arena_array(bounding->arena, uint32_t, bounding->place_count);
	for (size_t i = 0; i < bounding->nodes.count; i++)
		list(bounding, (uint32_t)i);
}

/* True if all that can follow b can follow a at no more in all: in a bundle that a begins, which costs no
 * more than what b's costs already; or in a's own, which uses no tensor that b's does not, and can be made as
 * wide. */
static bool is_no_worse(
	const struct joint_space *space, const struct bound_node *a, const struct bound_node *b)
{
	int64_t wider = b->state.widest > a->state.widest ? b->state.widest - a->state.widest : 0;
	int64_t saved = b->value - a->value;
	if (b->state.must_begin)
		return saved >= 0;
	if (saved >= space->bundle_value + space->core_value * b->state.widest)
		return true;
	return !a->state.must_begin && !(a->state.used & ~b->state.used) &&
	       a->state.gone <= b->state.gone && saved >= space->core_value * wider;
}

static bool is_beaten(const struct bounding *bounding, const struct bound_node *node)
{
	const struct bound_node *nodes = bounding->nodes.at;
	for (uint32_t i = *places_of(bounding, &node->state); i; i = nodes[i - 1].next)
		if (nodes[i - 1].was_done && &nodes[i - 1] != node &&
			is_no_worse(bounding->space, &nodes[i - 1], node))
			return true;
	return false;
}

/* The number of the node of a state, new or not. */
static uint32_t intern(struct bounding *bounding, const struct bound_state *state)
{
	if (2 * bounding->nodes.count >= bounding->place_count)
		grow_places(bounding);
	for (uint32_t i = *places_of(bounding, state); i; i = bounding->nodes.at[i - 1].next)
		if (!memcmp(&bounding->nodes.at[i - 1].state, state, sizeof *state))
			return i - 1;
	struct bound_node *node = array_add(bounding->arena, &bounding->nodes);
	*node = (struct bound_node){.state = *state, .value = JOINT_NEVER};
	list(bounding, (uint32_t)bounding->nodes.count - 1);
	return (uint32_t)bounding->nodes.count - 1;
}

void bound_reach(struct bounding *bounding, uint32_t from, const struct bound_state *state,
	int64_t value, struct joint_step step)
{
	int64_t rest = rest_of(bounding, state);
	if (rest == JOINT_NEVER)
		return;
	int64_t least = checked_add(&bounding->fits,
		checked_mul(&bounding->fits, value, bounding->relaxed->scale), rest);
	if (least >= bounding->limit)
		return;
	uint32_t i = intern(bounding, state);
	struct bound_node *node = &bounding->nodes.at[i];
	if (node->value <= value)
		return;
	node->value = value;
	node->from = from;
	node->step = step;
	node->done = false;
	push(bounding, (struct bound_open){least, i});
}

/* --- the search */

static bool is_end(const struct bounding *bounding, const struct bound_state *state)
{
	const struct plan_cut *cut = cut_of(bounding, state);
	bool end = state->cut == bounding->space->op_count;
	for (int k = 0; k < cut->count; k++)
		end = end && state->place[k] & BIT_HBM;
	return end;
}

static struct joint_answer trace(const struct bounding *bounding, uint32_t end, struct arena *arena)
{
	struct joint_answer answer = {.value = bounding->nodes.at[end].value};
	for (uint32_t i = end + 1; bounding->nodes.at[i - 1].from;
		i = bounding->nodes.at[i - 1].from)
		answer.count++;
	struct joint_step *steps = arena_array(arena, struct joint_step, answer.count);
	size_t at = answer.count;
	for (uint32_t i = end + 1; at; i = bounding->nodes.at[i - 1].from)
		steps[--at] = bounding->nodes.at[i - 1].step;
	answer.steps = steps;
	return answer;
}

/* An answer below the claim: whether it is one in truth. */
static void judge(
	struct bounding *bounding, uint32_t end, struct arena *arena, struct plan_bound *bound)
{
	const char *why = NULL;
	struct joint_answer answer = trace(bounding, end, arena);
	bound->answer = VERDICT_OPEN;
	int64_t value = joint_value(bounding->space, &answer, arena, &why);
	if (why || value != answer.value) {
		bound->why = arena_format(bounding->arena, "an answer below the claim is none: %s",
			why ? why : "it costs more");
		return;
	}
	bool packed = true;
	if (bounding->space->graph)
		packed = joint_pack(bounding->space, &answer, NULL, PACK_TICKS, arena).status ==
			 VERDICT_YES;
	bound->why = "an answer below the claim fits by its bytes, but no addresses were found";
	bound->witness = answer;
	if (packed)
		bound->answer = VERDICT_NO;
}

static void search(struct bounding *bounding, struct arena *arena, struct plan_bound *bound)
{
	uint64_t most = bounding->question->budget ? bounding->question->budget : PLAN_BOUND_STATES;
	bound->answer = VERDICT_YES;
	while (bounding->heap.count && bounding->fits) {
		struct bound_open open = pop(bounding);
		struct bound_node *node = &bounding->nodes.at[open.node];
		if (node->done || is_beaten(bounding, node))
			continue;
		bound->bound =
			(open.least + bounding->relaxed->scale - 1) / bounding->relaxed->scale;
		bound->states = bounding->nodes.count;
		if (bound->states > most || stopper_stops(&bounding->question->stopper)) {
			bound->answer = VERDICT_OPEN;
			bound->why = bound->states > most ? "the budget of states ended"
							  : "it was asked to stop";
			return;
		}
		node->done = node->was_done = true;
		if (is_end(bounding, &node->state)) {
			judge(bounding, open.node, arena, bound);
			return;
		}
		bound_steps(bounding, open.node);
	}
	bound->bound = bounding->question->claim;
	bound->states = bounding->nodes.count;
}

/* True if all numbers of the space fit into those of a state. */
static bool is_small(const struct joint_space *space)
{
	bool small = space->op_count <= NUMBERS_MOST;
	for (int t = 0; t < space->tensor_count; t++)
		small &= space->tensors[t].view_count <= NUMBERS_MOST;
	for (size_t o = 0; o < space->option_count; o++)
		small &= space->options[o].cores <= NUMBERS_MOST;
	return small;
}

struct plan_bound plan_bound_find(const struct plan_bound_question *question, struct arena *arena)
{
	struct plan_bound bound = {.answer = VERDICT_OPEN};
	struct bounding bounding = {.question = question,
		.space = question->space,
		.arena = arena_open(),
		.fits = true};
	bound.why = "it has more ops, views or cores than the check can number";
	int64_t scale = question->space->bundle_most ? question->space->bundle_most : 1;
	bounding.limit = checked_mul(&bounding.fits, question->claim, scale);
	if (is_small(question->space) && bounding.fits)
		bounding.relaxed = plan_relaxed_make(question->space,
			question->entries ? question->entries : PLAN_ENTRIES_MOST,
			&question->stopper, bounding.arena, &bound.why);
	if (bounding.relaxed) {
		bound.why = NULL;
		struct bound_state start;
		memset(&start, 0, sizeof start);
		start.must_begin = 1;
		bound_reach(&bounding, 0, &start, 0, (struct joint_step){0});
		search(&bounding, arena, &bound);
	}
	if (!bounding.fits)
		bound = (struct plan_bound){
			.answer = VERDICT_OPEN, .why = "a sum does not fit into 64 bits"};
	if (bound.why)
		bound.why = arena_text(arena, bound.why);
	arena_close(bounding.arena);
	return bound;
}
