#include "search/packing/unfit.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "model/packing/buffer.h"

#include <stdlib.h>
#include <string.h>

/*
 * Bounds of addresses while some pairs are decided, and the rules by which more follows.  Everything that a proof
 * rests on is here:
 *
 *   bounds     the first and the last address that each may have: inside the capacity, aligned,
 *              fixed.  i below j: j begins no lower than i's end.  At one address: one bound for
 *              both, a multiple of both alignments.  Bounds that still move after more rounds
 *              than there are buffers go in a circle: a contradiction.
 *   room       at each step, those that must lie between a and b take no more than b - a bytes;
 *              a child that may still share its parent's address does not count in its
 *              first step.
 *   pairs      two that live at once lie one below the other, or lawfully at one address.  What
 *              the bounds exclude is out; if one is left, it holds.
 *
 * Reserved ranges are buffers that are fixed and always live.  Those of no bytes are left out.
 */
struct arena;

enum unfit_relation { PAIR_OPEN, PAIR_BELOW, PAIR_ABOVE, PAIR_SAME, PAIR_APART };

struct unfit_item {
	int64_t size, start, end, alignment;
	bool must; /* be at the address of one of its parents */
};

struct unfit_state {
	int count; /* buffers, then reserved ranges */
	int64_t capacity;
	const struct unfit_item *items;
	const bool *lawful;      /* [child * count + parent] */
	unsigned char *relation; /* [i * count + j]: what i is to j */
	int64_t *low, *high;     /* first and last address */
	int *leader;             /* of those at one address */
};

static bool live_at_once(const struct unfit_item *a, const struct unfit_item *b)
{
	return a->size && b->size && a->start < b->end && b->start < a->end;
}

static void add_item(struct unfit_state *state, struct unfit_item *items, int i,
	struct unfit_item item, bool is_fixed, int64_t address)
{
	items[i] = item;
	state->low[i] = is_fixed ? address : 0;
	state->high[i] = is_fixed ? address : state->capacity - item.size;
	if (is_fixed && address > state->capacity - item.size)
		state->high[i] = -1;
	state->leader[i] = i;
}

static struct unfit_state unfit_open(struct arena *arena, const struct packing *packing)
{
	size_t range_count;
	const struct byte_range *ranges =
		packing_reserved(arena, packing, packing->capacity, &range_count);
	size_t count = packing->count + range_count;
	struct unfit_item *items = arena_array(arena, struct unfit_item, count);
	bool *lawful = arena_array(arena, bool, count *count);
	struct unfit_state state = {
		.count = (int)count,
		.capacity = packing->capacity,
		.items = items,
		.lawful = lawful,
		.relation = arena_array(arena, unsigned char, count *count),
		.low = arena_array(arena, int64_t, count),
		.high = arena_array(arena, int64_t, count),
		.leader = arena_array(arena, int, count),
	};
	for (size_t i = 0; i < packing->count; i++) {
		const struct buffer *buffer = &packing->buffers[i];
		int64_t alignment = buffer->alignment ? buffer->alignment : packing->alignment;
		struct unfit_item item = {buffer->size, buffer->start, buffer->end, alignment,
			buffer->must_take_over};
		add_item(&state, items, (int)i, item, buffer->is_fixed, buffer->address);
		for (size_t k = 0; k < buffer->parent_count; k++) {
			size_t parent = (size_t)buffer->parents[k];
			lawful[i * count + parent] = packing_may_take(packing, i, parent);
		}
	}
	for (size_t r = 0; r < range_count; r++)
		add_item(&state, items, (int)(packing->count + r),
			(struct unfit_item){
				ranges[r].to - ranges[r].from, INT64_MIN, INT64_MAX, 1, false},
			true, ranges[r].from);
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < count; j++)
			state.relation[i * count + j] =
				i != j && live_at_once(&items[i], &items[j]) &&
						(i < packing->count || j < packing->count)
					? PAIR_OPEN
					: PAIR_APART;
	return state;
}

static int unfit_state_relation(const struct unfit_state *state, int i, int j)
{
	return state->relation[i * state->count + j];
}

static struct unfit_state unfit_copy(struct arena *arena, const struct unfit_state *state)
{
	size_t count = (size_t)state->count;
	struct unfit_state copy = *state;
	copy.relation = arena_copy(arena, state->relation, count * count);
	copy.low = arena_copy(arena, state->low, count * sizeof *copy.low);
	copy.high = arena_copy(arena, state->high, count * sizeof *copy.high);
	copy.leader = arena_copy(arena, state->leader, count * sizeof *copy.leader);
	return copy;
}

static bool may_be_child(const struct unfit_state *state, int i, int j)
{
	return state->lawful[i * state->count + j];
}

/* The child must lie on this parent: it lies on none, and on no other can it. */
static bool must_be_same(const struct unfit_state *state, int child, int parent)
{
	if (!state->items[child].must || !may_be_child(state, child, parent))
		return false;
	for (int p = 0; p < state->count; p++)
		if (p != parent && may_be_child(state, child, p) &&
			(unfit_state_relation(state, child, p) == PAIR_SAME ||
				unfit_state_relation(state, child, p) == PAIR_OPEN))
			return false;
	return true;
}

/* Bits 1 << relation of what i may still be to j, two of an open pair. */
static int unfit_options(const struct unfit_state *state, int i, int j)
{
	const int64_t *low = state->low, *high = state->high;
	int options = 0;
	if (low[i] + state->items[i].size <= high[j])
		options |= 1 << PAIR_BELOW;
	if (low[j] + state->items[j].size <= high[i])
		options |= 1 << PAIR_ABOVE;
	if (must_be_same(state, i, j) || must_be_same(state, j, i))
		options = 0;
	if ((may_be_child(state, i, j) || may_be_child(state, j, i)) &&
		number_max(low[i], low[j]) <= number_min(high[i], high[j]))
		options |= 1 << PAIR_SAME;
	return options;
}

/* Decides an open pair. */
static void unfit_decide(struct unfit_state *state, int i, int j, enum unfit_relation decided)
{
	static const unsigned char other[] = {
		[PAIR_BELOW] = PAIR_ABOVE, [PAIR_ABOVE] = PAIR_BELOW, [PAIR_SAME] = PAIR_SAME};
	state->relation[i * state->count + j] = (unsigned char)decided;
	state->relation[j * state->count + i] = other[decided];
	if (decided != PAIR_SAME)
		return;
	int from = state->leader[j], to = state->leader[i];
	for (int k = 0; k < state->count; k++)
		if (state->leader[k] == from)
			state->leader[k] = to;
}

/* One bound for all at one address.  Answers whether a bound moved. */
static bool share_bounds(struct unfit_state *state, int64_t *low, int64_t *high, int64_t *step)
{
	bool moved = false;
	for (int i = 0; i < state->count; i++) {
		low[i] = 0;
		high[i] = INT64_MAX;
		step[i] = 1;
	}
	for (int i = 0; i < state->count; i++) {
		int leader = state->leader[i];
		low[leader] = number_max(low[leader], state->low[i]);
		high[leader] = number_min(high[leader], state->high[i]);
		step[leader] = number_min(PACKING_BYTES_MOST,
			number_lcm(step[leader], state->items[i].alignment, PACKING_BYTES_MOST));
	}
	for (int i = 0; i < state->count; i++) {
		int leader = state->leader[i];
		int64_t first = number_align_up(low[leader], step[leader]);
		int64_t last = high[leader] < 0 ? -1 : high[leader] - high[leader] % step[leader];
		moved |= first != state->low[i] || last != state->high[i];
		state->low[i] = first;
		state->high[i] = last;
	}
	return moved;
}

static bool settle_bounds(struct unfit_state *state, struct arena *arena)
{
	size_t count = (size_t)state->count;
	struct arena_mark mark = arena_mark(arena);
	int64_t *bounds = arena_array(arena, int64_t, 3 * count);
	bool moved = true, good = true;
	for (int round = 0; moved && good; round++) {
		moved = share_bounds(state, bounds, bounds + count, bounds + 2 * count);
		good = round <= state->count + 1;
		for (int i = 0; i < state->count && good; i++) {
			good = !state->items[i].size || state->low[i] <= state->high[i];
			for (int j = 0; j < state->count && good; j++) {
				if (unfit_state_relation(state, i, j) != PAIR_BELOW)
					continue;
				int64_t low = state->low[i] + state->items[i].size;
				int64_t high = state->high[j] - state->items[i].size;
				moved |= low > state->low[j] || high < state->high[i];
				state->low[j] = number_max(low, state->low[j]);
				state->high[i] = number_min(high, state->high[i]);
			}
		}
	}
	arena_release(arena, mark);
	return good;
}

/* True if it takes room of its own at a step. */
static bool counts_at(const struct unfit_state *state, int i, int64_t step)
{
	const struct unfit_item *item = &state->items[i];
	if (!item->size || step < item->start || step >= item->end)
		return false;
	if (step > item->start)
		return true;
	for (int p = 0; p < state->count; p++)
		if (may_be_child(state, i, p) &&
			(unfit_state_relation(state, i, p) == PAIR_OPEN ||
				unfit_state_relation(state, i, p) == PAIR_SAME))
			return false;
	return true;
}

/* True if the buffers that must lie from a on have room, by the end of their ranges. */
static bool has_room_at(const struct unfit_state *state, int64_t step, int *live)
{
	int count = 0;
	for (int i = 0; i < state->count; i++) {
		if (!counts_at(state, i, step))
			continue;
		int at = count++;
		int64_t end = state->high[i] + state->items[i].size;
		for (; at > 0 && state->high[live[at - 1]] + state->items[live[at - 1]].size > end;
			at--)
			live[at] = live[at - 1];
		live[at] = i;
	}
	for (int k = 0; k < count; k++) {
		int64_t from = state->low[live[k]], bytes = 0;
		for (int m = 0; m < count; m++) {
			int i = live[m];
			if (state->low[i] < from)
				continue;
			bytes += state->items[i].size;
			if (bytes > state->high[i] + state->items[i].size - from)
				return false;
		}
	}
	return true;
}

static bool unfit_state_has_room(const struct unfit_state *state, struct arena *arena)
{
	struct arena_mark mark = arena_mark(arena);
	int *live = arena_array(arena, int, state->count);
	bool good = true;
	for (int i = 0; i < state->count && good; i++) {
		int64_t start = state->items[i].start;
		if (!state->items[i].size || start == INT64_MIN)
			continue;
		good = has_room_at(state, start, live) && has_room_at(state, start + 1, live);
	}
	arena_release(arena, mark);
	return good;
}

/* Decides pairs that have one way left.  False: one has none; *more: one was decided. */
static bool settle_pairs(struct unfit_state *state, bool *more)
{
	*more = false;
	for (int i = 0; i < state->count; i++)
		for (int j = i + 1; j < state->count; j++) {
			if (unfit_state_relation(state, i, j) != PAIR_OPEN)
				continue;
			int options = unfit_options(state, i, j);
			if (!options)
				return false;
			if (options & (options - 1))
				continue;
			unfit_decide(
				state, i, j, (enum unfit_relation)__builtin_ctz((unsigned)options));
			*more = true;
		}
	return true;
}

/* Applies all rules until nothing follows.  False: a contradiction. */
static bool unfit_settle(struct unfit_state *state, struct arena *arena)
{
	for (bool more = true; more;)
		if (!settle_bounds(state, arena) || !settle_pairs(state, &more))
			return false;
	return unfit_state_has_room(state, arena);
}

struct proving {
	const struct unfit_limits *limits;
	struct arena *arena; /* for the nodes */
	size_t forks;
	struct array(struct unfit_node) nodes;
};

struct packing packing_of_some(
	struct arena *arena, const struct packing *packing, size_t count, const int *buffers)
{
	struct packing some = *packing;
	int *place = arena_array(arena, int, packing->count);
	struct buffer *copies = arena_array(arena, struct buffer, count);
	for (size_t i = 0; i < packing->count; i++)
		place[i] = -1;
	for (size_t i = 0; i < count; i++)
		place[buffers[i]] = (int)i;
	for (size_t i = 0; i < count; i++) {
		copies[i] = packing->buffers[buffers[i]];
		int *parents = arena_array(arena, int, copies[i].parent_count);
		size_t kept = 0;
		for (size_t k = 0; k < copies[i].parent_count; k++)
			if (place[copies[i].parents[k]] >= 0)
				parents[kept++] = place[copies[i].parents[k]];
		copies[i].must_take_over &= kept == copies[i].parent_count;
		copies[i].parents = parents;
		copies[i].parent_count = kept;
	}
	some.buffers = copies;
	some.count = count;
	return some;
}

/* Returns the slack that the two orders of a pair leave together; pairs of little slack are decided first. */
static int64_t slack_of(const struct unfit_state *state, int i, int j)
{
	int64_t below = state->high[j] - state->low[i] - state->items[i].size;
	int64_t above = state->high[i] - state->low[j] - state->items[j].size;
	return number_max(below, 0) + number_max(above, 0);
}

/* The open pair of least slack; false: none is open. */
static bool find_tight(const struct unfit_state *state, struct unfit_node *out)
{
	int64_t least = INT64_MAX;
	for (int i = 0; i < state->count; i++)
		for (int j = i + 1; j < state->count; j++) {
			if (state->relation[i * state->count + j] != PAIR_OPEN)
				continue;
			int64_t slack = slack_of(state, i, j);
			if (slack >= least)
				continue;
			least = slack;
			*out = (struct unfit_node){i, j};
		}
	return least < INT64_MAX;
}

/* Proves that a state, which is at its end, is none.  False: it was not. */
static bool unfit_search(struct proving *proving, struct unfit_state *state, struct arena *arena)
{
	struct unfit_node pair;
	if (stopper_stops(&proving->limits->stopper))
		return false;
	if (!unfit_settle(state, arena)) {
		*array_add(proving->arena, &proving->nodes) = (struct unfit_node){-1, -1};
		return true;
	}
	if (!find_tight(state, &pair) || proving->forks++ == proving->limits->forks)
		return false;
	int options = unfit_options(state, pair.a, pair.b);
	*array_add(proving->arena, &proving->nodes) = pair;
	bool good = true;
	for (int r = PAIR_BELOW; r <= PAIR_SAME && good; r++) {
		if (!(options & 1 << r))
			continue;
		struct arena_mark mark = arena_mark(arena);
		struct unfit_state next = unfit_copy(arena, state);
		unfit_decide(&next, pair.a, pair.b, (enum unfit_relation)r);
		good = unfit_search(proving, &next, arena);
		arena_release(arena, mark);
	}
	return good;
}

bool unfit_prove(const struct packing *packing, const struct unfit_limits *limits,
	struct arena *arena, struct unfit_proof *out)
{
	if (packing->count + packing->reserved_count > UNFIT_BUFFERS_MOST)
		return false;
	struct proving proving = {.limits = limits, .arena = arena};
	struct arena *scratch = arena_open();
	struct unfit_state state = unfit_open(scratch, packing);
	bool good = unfit_search(&proving, &state, scratch);
	arena_close(scratch);
	*out = (struct unfit_proof){proving.nodes.count, proving.nodes.at};
	return good;
}

size_t unfit_shrink(const struct packing *packing, size_t count, int *buffers,
	const struct unfit_limits *limits)
{
	struct arena *scratch = arena_open();
	int *fewer = arena_array(scratch, int, count);
	for (size_t i = count; i-- > 0;) {
		struct arena_mark mark = arena_mark(scratch);
		struct unfit_proof proof;
		memcpy(fewer, buffers, i * sizeof *fewer);
		memcpy(fewer + i, buffers + i + 1, (count - i - 1) * sizeof *fewer);
		struct packing some = packing_of_some(scratch, packing, count - 1, fewer);
		if (count > 1 && unfit_prove(&some, limits, scratch, &proof))
			memcpy(buffers, fewer, --count * sizeof *fewer);
		arena_release(scratch, mark);
	}
	arena_close(scratch);
	return count;
}

/* Follows the tree of a proof; knows the rules and nothing of how it was found. */
struct reading_proof {
	const struct unfit_proof *proof;
	const struct unfit_limits *limits;
	size_t at, forks;
	bool cut;
};

static const char *check_node(
	struct reading_proof *reading, struct unfit_state *state, struct arena *arena)
{
	if (reading->at == reading->proof->count)
		return "the proof ends too early";
	reading->cut = stopper_stops(&reading->limits->stopper);
	if (reading->cut)
		return NULL;
	struct unfit_node node = reading->proof->nodes[reading->at];
	bool open = unfit_settle(state, arena);
	if (node.a < 0) {
		reading->at++;
		return open ? "no contradiction follows at this leaf" : NULL;
	}
	if (!open)
		return "a fork where nothing is left open";
	if (node.a >= node.b || node.b >= state->count)
		return "a fork between buffers that are none";
	if (state->relation[node.a * state->count + node.b] != PAIR_OPEN)
		return "a fork between two that are decided";
	reading->cut = reading->forks++ == reading->limits->forks;
	reading->at++;
	int options = unfit_options(state, node.a, node.b);
	const char *why = NULL;
	for (int r = PAIR_BELOW; r <= PAIR_SAME && !why && !reading->cut; r++) {
		if (!(options & 1 << r))
			continue;
		struct arena_mark mark = arena_mark(arena);
		struct unfit_state next = unfit_copy(arena, state);
		unfit_decide(&next, node.a, node.b, (enum unfit_relation)r);
		why = check_node(reading, &next, arena);
		arena_release(arena, mark);
	}
	return why;
}

struct unfit_checked unfit_check(const struct packing *packing, const struct unfit_proof *proof,
	const struct unfit_limits *limits)
{
	struct reading_proof reading = {.proof = proof, .limits = limits};
	struct arena *arena = arena_open();
	const char *why = "more buffers than a proof can be about";
	if (packing->count + packing->reserved_count <= UNFIT_BUFFERS_MOST) {
		struct unfit_state state = unfit_open(arena, packing);
		why = check_node(&reading, &state, arena);
	}
	if (!why && !reading.cut && reading.at < proof->count)
		why = "the proof goes on after its end";
	arena_close(arena);
	return (struct unfit_checked){!reading.cut, why, reading.at};
}
