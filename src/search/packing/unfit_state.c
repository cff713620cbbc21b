#include "search/packing/unfit_state.h"

#include "base/arena.h"
#include "base/number.h"
#include "base/wide.h"
#include "model/packing/packing_sums.h"

#include <stdlib.h>

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

struct unfit_state unfit_open(struct arena *arena, const struct packing *packing)
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

struct unfit_state unfit_copy(struct arena *arena, const struct unfit_state *state)
{
	size_t count = (size_t)state->count;
	struct unfit_state copy = *state;
	copy.relation = arena_copy(arena, state->relation, count * count);
	copy.low = arena_copy(arena, state->low, count * sizeof *copy.low);
	copy.high = arena_copy(arena, state->high, count * sizeof *copy.high);
	copy.leader = arena_copy(arena, state->leader, count * sizeof *copy.leader);
	return copy;
}

static int relation(const struct unfit_state *state, int i, int j)
{
	return state->relation[i * state->count + j];
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
			(relation(state, child, p) == PAIR_SAME ||
				relation(state, child, p) == PAIR_OPEN))
			return false;
	return true;
}

int unfit_options(const struct unfit_state *state, int i, int j)
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

void unfit_decide(struct unfit_state *state, int i, int j, enum unfit_relation decided)
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

/* What both divide; no more than addresses go. */
static int64_t common_multiple(int64_t a, int64_t b)
{
	wide product = (wide)(a / number_gcd(a, b)) * b;
	return product > PACKING_BYTES_MOST ? PACKING_BYTES_MOST : (int64_t)product;
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
		step[leader] = common_multiple(step[leader], state->items[i].alignment);
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
				if (relation(state, i, j) != PAIR_BELOW)
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

/* Whether it takes room of its own at a step. */
static bool counts_at(const struct unfit_state *state, int i, int64_t step)
{
	const struct unfit_item *item = &state->items[i];
	if (!item->size || step < item->start || step >= item->end)
		return false;
	if (step > item->start)
		return true;
	for (int p = 0; p < state->count; p++)
		if (may_be_child(state, i, p) &&
			(relation(state, i, p) == PAIR_OPEN || relation(state, i, p) == PAIR_SAME))
			return false;
	return true;
}

/* Those that must lie from a on, by the end of where they must lie. */
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

static bool has_room(const struct unfit_state *state, struct arena *arena)
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
			if (relation(state, i, j) != PAIR_OPEN)
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

bool unfit_settle(struct unfit_state *state, struct arena *arena)
{
	for (bool more = true; more;)
		if (!settle_bounds(state, arena) || !settle_pairs(state, &more))
			return false;
	return has_room(state, arena);
}
