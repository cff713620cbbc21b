#include "solvers/place/pack/pack.h"

#include "base/array.h"
#include "base/number.h"

#include <assert.h>
#include <string.h>

/*
 * A boundary in time lies between sections t - 1 and t.  Below the lowest item that crosses it there
 * are, on the left, only items that end there, and on the right only items that start there.  So that
 * item lies at a height that both sides can reach: their floors, and some of their items, and no
 * more unused bytes than the slack of the section.
 */
static struct boundaries *boundaries_open(const struct room *room, struct arena *arena);

/* Raises what crosses boundary t.  False if no height is left for it. */
static bool boundary_settle(struct state *state, int t);

/* Which items of one side are left, and what they can add up to, ascending. */
struct boundary_side {
	int count;
	const int *items;
	const int64_t *heights;
	uint32_t left; /* for which of them the sums are */
	int sum_count; /* 0: too many */
	int64_t *sums;
};

struct boundaries {
	struct boundary_side *sides; /* of boundary t: 2t on the left, 2t + 1 on the right */
	int64_t scratch[PACK_SUMS_MOST];
};

static void open_side(struct boundary_side *side, const struct room *room, struct arena *arena,
	int t, bool is_right)
{
	int s = is_right ? t : t - 1;
	int count = 0;
	for (int pass = 0; pass < 2; pass++) {
		int *items = pass ? arena_array(arena, int, count) : NULL;
		int64_t *heights = pass ? arena_array(arena, int64_t, count) : NULL;
		count = 0;
		for (size_t k = room->section_first[s]; k < room->section_first[s + 1]; k++) {
			const struct pack_item *item = &room->items[room->lives[k]];
			if (is_right ? item->first != t : item->end != t)
				continue;
			if (pass) {
				items[count] = room->lives[k];
				heights[count] = item_height(item, s);
			}
			count++;
		}
		side->items = items;
		side->heights = heights;
	}
	side->count = count;
	side->left = ~UINT32_C(0);
	side->sums = arena_array(arena, int64_t, count <= PACK_SIDE_MOST ? PACK_SUMS_MOST : 1);
}

static struct boundaries *boundaries_open(const struct room *room, struct arena *arena)
{
	struct boundaries *boundaries = arena_new(arena, struct boundaries);
	boundaries->sides = arena_array(arena, struct boundary_side, 2 * room->section_count);
	for (int t = 1; t < room->section_count; t++) {
		open_side(&boundaries->sides[2 * t], room, arena, t, false);
		open_side(&boundaries->sides[2 * t + 1], room, arena, t, true);
	}
	return boundaries;
}

/* Each sum, and each with one more height. */
static bool add_height(struct boundaries *boundaries, struct boundary_side *side, int64_t height)
{
	int64_t *out = boundaries->scratch, *sums = side->sums;
	int count = 0, plain = 0, raised = 0;
	while (raised < side->sum_count) {
		int64_t next = sums[raised] + height;
		if (plain < side->sum_count && sums[plain] <= next)
			next = sums[plain++];
		else
			raised++;
		if (count && out[count - 1] == next)
			continue;
		if (count == PACK_SUMS_MOST)
			return false;
		assert(!count || out[count - 1] < next);
		out[count++] = next;
	}
	memcpy(sums, out, (size_t)count * sizeof *sums);
	side->sum_count = count;
	return true;
}

static void boundaries_update(
	struct boundaries *boundaries, struct boundary_side *side, const struct state *state)
{
	uint32_t left = 0;
	for (int k = 0; k < side->count; k++)
		left |= (uint32_t)(state->level[side->items[k]] != PLACED) << k;
	if (side->count > PACK_SIDE_MOST || left == side->left)
		return;
	side->left = left;
	side->sum_count = 1;
	side->sums[0] = 0;
	for (int k = 0; k < side->count; k++)
		if ((left >> k & 1) && !add_height(boundaries, side, side->heights[k])) {
			side->sum_count = 0;
			return;
		}
}

/* The least height from `height` that is at most `slack` above a sum; PLACED. */
static int64_t boundary_side_reach(const struct boundary_side *side, int64_t height, int64_t slack)
{
	if (!side->sum_count)
		return height;
	size_t above; /* the first sum above the height */
	bisect(above, 0, side->sum_count, side->sums[above] <= height);
	assert(above > 0); /* no item is a sum, and below no height */
	if (height - side->sums[above - 1] <= slack)
		return height;
	return (int)above < side->sum_count ? side->sums[above] : PLACED;
}

static bool boundary_settle(struct state *state, int t)
{
	const struct room *room = state->room;
	int64_t left = state->floor[t - 1], right = state->floor[t], lowest = state->lowest[t];
	if (lowest == PLACED)
		return true;
	int64_t left_slack = state_slack(state, t - 1), right_slack = state_slack(state, t);
	int64_t height = lowest;
	if (height - left <= left_slack && height - right <= right_slack)
		return true;
	struct boundary_side *sides = &state->boundaries->sides[2 * t];
	boundaries_update(state->boundaries, &sides[0], state);
	boundaries_update(state->boundaries, &sides[1], state);
	for (int64_t before = -1; before != height;) {
		before = height;
		int64_t more = boundary_side_reach(&sides[0], height - left, left_slack);
		if (more < PLACED)
			height = left + more,
			more = boundary_side_reach(&sides[1], height - right, right_slack);
		if (more == PLACED) {
			state->weight[t - 1] += 0.5;
			state->weight[t] += 0.5;
			conflict_clear(state->conflict);
			conflict_add(state->conflict, because_boundary(t));
			return false;
		}
		height = right + more;
	}
	assert(height >= lowest);
	bool good = true;
	if (height > lowest)
		for (size_t k = room->section_first[t]; good && k < room->section_first[t + 1];
			k++) {
			int i = room->lives[k];
			if (state->level[i] < height && room->items[i].first < t)
				good = state_raise(state, i, height, because_boundary(t));
		}
	return good;
}

struct conflict *conflict_open(const struct room *room, struct arena *arena)
{
	size_t words = ((size_t)room->item_count + 63) / 64;
	if (words * (size_t)room->section_count > PACK_CONFLICT_WORDS_MOST)
		return NULL;
	struct conflict *conflict = arena_new(arena, struct conflict);
	*conflict = (struct conflict){.room = room,
		.words = words,
		.set = arena_array(arena, uint64_t, words),
		.sections = arena_array(arena, uint64_t, words * (size_t)room->section_count),
		.around = arena_array(arena, uint64_t, words * (size_t)room->section_count)};
	for (int s = 0; s < room->section_count; s++) {
		uint64_t *lives = conflict->sections + words * (size_t)s;
		for (size_t k = room->section_first[s]; k < room->section_first[s + 1]; k++)
			lives[room->lives[k] / 64] |= UINT64_C(1) << (room->lives[k] % 64);
	}
	for (int s = 0; s < room->section_count; s++) {
		uint64_t *around = conflict->around + words * (size_t)s;
		int first = s, end = s + 1;
		for (size_t k = room->section_first[s]; k < room->section_first[s + 1]; k++) {
			const struct pack_item *item = &room->items[room->lives[k]];
			first = item->first < first ? item->first : first;
			end = item->end > end ? item->end : end;
		}
		for (int t = first; t < end; t++)
			for (size_t w = 0; w < words; w++)
				around[w] |= conflict->sections[words * (size_t)t + w];
	}
	return conflict;
}

void conflict_clear(struct conflict *conflict)
{
	if (conflict)
		memset(conflict->set, 0, conflict->words * sizeof *conflict->set);
}

static void add_all(struct conflict *conflict, const uint64_t *table, int row)
{
	for (size_t w = 0; w < conflict->words; w++)
		conflict->set[w] |= table[conflict->words * (size_t)row + w];
}

void conflict_add(struct conflict *conflict, struct because because)
{
	if (!conflict)
		return;
	switch (because.kind) {
	case BECAUSE_ITEM:
		conflict->set[because.index / 64] |= UINT64_C(1) << (because.index % 64);
		break;
	case BECAUSE_SECTIONS:
		for (int t = because.index; t < because.end; t++)
			add_all(conflict, conflict->sections, t);
		break;
	case BECAUSE_EMPTY:
		add_all(conflict, conflict->around, because.index);
		break;
	}
}

static void make_room(struct state *state)
{
	struct change *old = state->trail;
	state->trail_room *= 2;
	state->trail = arena_array(state->arena, struct change, state->trail_room);
	for (size_t i = 0; i < state->trail_count; i++)
		state->trail[i] = old[i];
}

static inline struct change *note_change(struct state *state, int kind, int index, int64_t before)
{
	if (state->trail_count == state->trail_room)
		make_room(state);
	struct change *change = &state->trail[state->trail_count++];
	change->kind = kind;
	change->index = index;
	change->before = before;
	return change;
}

static inline void soil_section(struct state *state, int section)
{
	if (!state->is_dirty[section]) {
		state->is_dirty[section] = true;
		state->dirty[state->dirty_count++] = section;
	}
}

static void soil_risen(struct state *state, int64_t before, int first, int end)
{
	for (int s = first; s < end; s++)
		if (state->floor[s] == before || state->lowest[s] == before)
			soil_section(state, s);
}

/* Some sections, half-open. */
struct stretch {
	int first, end;
};

/* To a level above its own; these sections are dirty already. */
static bool lift_item(
	struct state *state, int i, int64_t level, struct because because, struct stretch dirty)
{
	const struct pack_item *item = &state->room->items[i];
	assert(state->level[i] < level); /* of an item that is not placed */
	level = level > item->high ? level : item_align(item, level);
	if (level > item->high) {
		for (int s = item->first; s < item->end; s++)
			state->weight[s] += 1.0 / (item->end - item->first);
		conflict_clear(state->conflict);
		conflict_add(state->conflict, because);
		return false;
	}
	int64_t before = state->level[i];
	note_change(state, LEVEL_ROSE, i, before)->because = because;
	state->level[i] = state->low[i] = level;
	soil_risen(state, before, item->first, dirty.first < item->end ? dirty.first : item->end);
	soil_risen(state, before, dirty.end > item->first ? dirty.end : item->first, item->end);
	return true;
}

bool state_raise(struct state *state, int i, int64_t level, struct because because)
{
	return level <= state->level[i] ||
	       lift_item(state, i, level, because, (struct stretch){0, 0});
}

static void soil_boundary(struct state *state, int t)
{
	if (t > 0 && t < state->room->section_count && !state->is_boundary_dirty[t]) {
		state->is_boundary_dirty[t] = true;
		state->dirty_boundaries[state->dirty_boundary_count++] = t;
	}
}

static inline int64_t state_least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* The lowest of some items that live in a section: four at a time, which need not wait for each
 * other. */
static inline int64_t find_lowest(
	const struct state *state, int64_t lowest, size_t first, size_t end)
{
	const int *lives = state->room->lives;
	const int64_t *level = state->level;
	int64_t second = PLACED, third = PLACED, fourth = PLACED;
	size_t k = first;
	for (; k + 4 <= end; k += 4) {
		lowest = state_least(level[lives[k]], lowest);
		second = state_least(level[lives[k + 1]], second);
		third = state_least(level[lives[k + 2]], third);
		fourth = state_least(level[lives[k + 3]], fourth);
	}
	for (; k < end; k++)
		lowest = state_least(level[lives[k]], lowest);
	return state_least(state_least(lowest, second), state_least(third, fourth));
}

int state_choices(struct state *state, int s)
{
	const struct room *room = state->room;
	const int *lives = room->lives, *twins = room->twins;
	const int64_t *level = state->level;
	int64_t floor = state->floor[s];
	int count = 0;
	if (state->choices[s] != NOT_COUNTED)
		return state->choices[s];
	for (size_t k = room->section_first[s]; k < room->section_first[s + 1]; k++)
		if (level[lives[k]] == floor)
			count += twins[lives[k]] < 0 || level[twins[lives[k]]] == PLACED;
	return state->choices[s] = floor == PLACED ? 0 : count;
}

/* Raises the floor to the lowest item that is left; the items that could stand there are to be counted again. */
static bool look_again(struct state *state, int s)
{
	const struct room *room = state->room;
	size_t first = room->section_first[s], split = room->section_split[s];
	size_t end = room->section_first[s + 1];
	int64_t crossing = find_lowest(state, PLACED, first, split);
	int64_t lowest = find_lowest(state, crossing, split, end);
	struct change *change = note_change(state, FLOOR_ROSE, s, state->floor[s]);
	change->choices = state->choices[s];
	change->lowest = state->lowest[s];
	assert(lowest >= state->floor[s] && crossing >= state->lowest[s]);
	state->choices[s] = NOT_COUNTED;
	soil_boundary(state, s);
	soil_boundary(state, s + 1);
	if (lowest == state->floor[s] && crossing == state->lowest[s])
		return true;
	state->floor[s] = lowest;
	state->lowest[s] = crossing;
	if (lowest == PLACED || state_slack(state, s) >= 0)
		return true;
	state->weight[s] += 1;
	conflict_clear(state->conflict);
	conflict_add(state->conflict, because_section(s));
	return false;
}

#ifndef NDEBUG
static bool check_item(const struct state *state, int i)
{
	const struct room *room = state->room;
	const struct pack_item *item = &room->items[i];
	bool is_placed = state->level[i] == PLACED;
	int64_t address = state->low[i];
	assert(is_placed || state->level[i] == address);
	assert(item->low <= address && address <= item->high);
	assert(address % item->align == 0);
	for (size_t k = room->meet_first[i]; is_placed && k < room->meet_first[i + 1]; k++) {
		int j = room->meets[k];
		const struct pack_item *other = &room->items[j];
		bool is_below = state->low[j] >= address + item_height_beside(item, other);
		bool is_above = state->level[j] == PLACED &&
				address >= state->low[j] + item_height_beside(other, item);
		assert(is_below || is_above);
	}
	return true;
}

static bool check_section(const struct state *state, int s)
{
	const struct room *room = state->room;
	int64_t floor = PLACED, lowest = PLACED, rest = 0;
	int crossing = 0, choices = 0;
	for (size_t k = room->section_first[s]; k < room->section_first[s + 1]; k++) {
		int i = room->lives[k];
		bool crosses = room->items[i].first < s;
		if (state->level[i] == PLACED)
			continue;
		floor = number_min(floor, state->level[i]);
		lowest = number_min(lowest, crosses ? state->level[i] : PLACED);
		rest += item_height(&room->items[i], s);
		crossing += crosses;
		choices += state_may_stand(state, i, state->floor[s]);
	}
	assert(!state->is_dirty[s] && !state->is_boundary_dirty[s]);
	assert(state->floor[s] == floor);
	assert(state->lowest[s] == lowest);
	assert(state->rest[s] == rest);
	assert(state->crossing[s] == crossing);
	assert(state->choices[s] == NOT_COUNTED || state->choices[s] == choices);
	assert(floor == PLACED || state_slack(state, s) >= 0);
	return true;
}

bool state_check(const struct state *state)
{
	for (int i = 0; i < state->room->item_count; i++)
		check_item(state, i);
	for (int s = 0; s < state->room->section_count; s++)
		check_section(state, s);
	return true;
}

/* Asserts the invariants of all that these entries of the trail changed. */
static bool check_changes(const struct state *state, size_t first, size_t end)
{
	for (size_t t = first; t < end; t++) {
		const struct change *change = &state->trail[t];
		if (change->kind == FLOOR_ROSE) {
			check_section(state, change->index);
			continue;
		}
		check_item(state, change->index);
		const struct pack_item *item = &state->room->items[change->index];
		for (int s = item->first; s < item->end; s++)
			check_section(state, s);
	}
	return true;
}
#endif

bool state_settle(struct state *state, bool good, size_t since)
{
	while (state->dirty_count || state->dirty_boundary_count) {
		if (state->dirty_count) {
			int s = state->dirty[--state->dirty_count];
			state->is_dirty[s] = false;
			good = good && look_again(state, s);
		} else {
			int t = state->dirty_boundaries[--state->dirty_boundary_count];
			state->is_boundary_dirty[t] = false;
			good = good && boundary_settle(state, t);
		}
	}
	assert(!good || check_changes(state, since, state->trail_count));
	return good;
}

bool state_place(struct state *state, int i, int section)
{
	const struct room *room = state->room;
	const struct pack_item *item = &room->items[i];
	int64_t base = state->level[i];
	size_t since = state->trail_count;
	bool good = true;
	struct stretch dirty = {item->first, item->end};
	assert(item->first <= section && section < item->end);
	assert(state_may_stand(state, i, state->floor[section]));
	note_change(state, ITEM_PLACED, i, base)->because = because_section(section);
	state->level[i] = PLACED;
	for (int s = item->first; s < item->end; s++) {
		state->rest[s] -= item_height(item, s);
		soil_section(state, s);
	}
	for (int s = item->first + 1; s < item->end; s++)
		state->crossing[s]--;
	for (size_t k = room->meet_first[i]; good && k < room->meet_first[i + 1]; k++) {
		int j = room->meets[k];
		int64_t top = base + item_height_beside(item, &room->items[j]);
		if (top > state->level[j])
			good = lift_item(state, j, top, because_item(i), dirty);
	}
	return state_settle(state, good, since);
}

/* An item that the conflict is about gives way to those because of which it is as it is. */
static bool conflict_trace(struct conflict *conflict, const struct change *change)
{
	if (!conflict || !conflict_has(conflict, change->index))
		return !conflict;
	conflict->set[change->index / 64] &= ~(UINT64_C(1) << (change->index % 64));
	conflict_add(conflict, change->because);
	return true;
}

bool state_undo(struct state *state, size_t trail_count)
{
	bool mattered = false;
	size_t end = state->trail_count;
	assert(trail_count <= end);
	assert(!state->dirty_count && !state->dirty_boundary_count);
	for (size_t t = end; t > trail_count; t--) {
		struct change change = state->trail[t - 1];
		if (change.kind == FLOOR_ROSE) {
			assert(state->floor[change.index] >= change.before);
			state->floor[change.index] = change.before;
			state->choices[change.index] = change.choices;
			state->lowest[change.index] = change.lowest;
			continue;
		}
		assert(state->level[change.index] > change.before);
		mattered |= conflict_trace(state->conflict, &change);
		state->level[change.index] = change.before;
		state->low[change.index] = change.before;
		if (change.kind == LEVEL_ROSE)
			continue;
		const struct pack_item *item = &state->room->items[change.index];
		for (int s = item->first; s < item->end; s++)
			state->rest[s] += item_height(item, s);
		for (int s = item->first + 1; s < item->end; s++)
			state->crossing[s]++;
	}
	state->trail_count = trail_count;
	assert(check_changes(state, trail_count, end));
	return mattered;
}

static bool lives_in(const struct pack_item *item, int s)
{
	return item->first <= s && s < item->end;
}

/* The lowest that something outside section s could lift the item to. */
static int64_t state_lifted(const struct state *state, int i, int s)
{
	const struct room *room = state->room;
	int64_t lowest = PLACED;
	for (size_t k = room->meet_first[i]; k < room->meet_first[i + 1]; k++) {
		int j = room->meets[k];
		const struct pack_item *other = &room->items[j];
		if (state->level[j] == PLACED || lives_in(other, s))
			continue;
		lowest = number_min(
			lowest, state->level[j] + item_height_beside(other, &room->items[i]));
	}
	return lowest;
}

/* True if nothing is in the way of the item on the floor of section s, if all
 * else there lies above `next`. Then leaving the floor empty gains nothing. */
static bool could_slide(const struct state *state, int i, int s, int64_t next)
{
	const struct room *room = state->room;
	const struct pack_item *item = &room->items[i];
	int64_t top = state->floor[s] + item->clear;
	if (next < top || item->low == item->high)
		return false;
	for (size_t k = room->meet_first[i]; k < room->meet_first[i + 1]; k++) {
		int j = room->meets[k];
		if (!lives_in(&room->items[j], s) && state->level[j] < top)
			return false;
	}
	return true;
}

bool state_leave_empty(struct state *state, int s)
{
	const struct room *room = state->room;
	int64_t floor = state->floor[s], next = PLACED, least = PLACED, second = PLACED;
	size_t since = state->trail_count;
	assert(floor != PLACED && state_slack(state, s) > 0);
	for (size_t k = room->section_first[s]; k < room->section_first[s + 1]; k++) {
		int i = room->lives[k];
		if (state->level[i] == PLACED)
			continue;
		int64_t low =
			state->level[i] == floor ? state_lifted(state, i, s) : state->level[i];
		int64_t height = item_height(&room->items[i], s);
		next = number_min(next, low);
		second = number_min(second, number_max(height, least));
		least = number_min(least, height);
	}
	if (next == PLACED) {
		conflict_clear(state->conflict);
		conflict_add(state->conflict, because_empty(s));
		return false;
	}
	bool good = true;
	for (size_t k = room->section_first[s]; good && k < room->section_first[s + 1]; k++) {
		int i = room->lives[k];
		if (state->level[i] != floor)
			continue;
		/* the item that lifts it lives elsewhere, or stands in s itself, at `next` or above */
		int64_t other = item_height(&room->items[i], s) == least ? second : least;
		int64_t above = other == PLACED ? PLACED : next + other;
		if (could_slide(state, i, s, next)) {
			conflict_clear(state->conflict);
			conflict_add(state->conflict, because_empty(s));
			good = false;
			break;
		}
		good = state_raise(
			state, i, number_min(state_lifted(state, i, s), above), because_empty(s));
	}
	good = state_settle(state, good, since);
	assert(!good || state->floor[s] > floor);
	return good;
}

struct state *state_open(const struct room *room, struct arena *arena)
{
	struct state *state = arena_new(arena, struct state);
	int n = room->item_count, m = room->section_count;
	*state = (struct state){.room = room,
		.arena = arena,
		.level = arena_array(arena, int64_t, n),
		.low = arena_array(arena, int64_t, n),
		.floor = arena_array(arena, int64_t, m),
		.rest = arena_array(arena, int64_t, m),
		.choices = arena_array(arena, int, m),
		.crossing = arena_array(arena, int, m + 1),
		.weight = arena_array(arena, double, m),
		.dirty = arena_array(arena, int, m),
		.is_dirty = arena_array(arena, bool, m),
		.dirty_boundaries = arena_array(arena, int, m),
		.is_boundary_dirty = arena_array(arena, bool, m),
		.lowest = arena_array(arena, int64_t, m),
		.boundaries = boundaries_open(room, arena),
		.conflict = conflict_open(room, arena),
		.trail_room = 1024};
	state->trail = arena_array(arena, struct change, state->trail_room);
	for (int s = 0; s < m; s++)
		state->weight[s] = 1;
	return state;
}

bool state_start(struct state *state)
{
	const struct room *room = state->room;
	bool good = true;
	state->trail_count = 0;
	for (int s = 0; s < room->section_count; s++) {
		state->floor[s] = state->rest[s] = state->lowest[s] = 0;
		state->crossing[s] = 0;
		state->choices[s] = NOT_COUNTED;
		soil_section(state, s);
	}
	for (int i = 0; i < room->item_count; i++) {
		const struct pack_item *item = &room->items[i];
		state->level[i] = state->low[i] = item->low;
		good = good && item->low <= item->high;
		for (int s = item->first; s < item->end; s++)
			good &= !__builtin_add_overflow(
				state->rest[s], item_height(item, s), &state->rest[s]);
		for (int s = item->first + 1; s < item->end; s++)
			state->crossing[s]++;
	}
	for (int s = 0; s < room->section_count; s++)
		good = good && state->rest[s] <= room->height;
	good = state_settle(state, good, 0);
	assert(!good || state_check(state));
	return good;
}
