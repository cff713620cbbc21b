#include "solvers/place/pack/boundary.h"

#include "base/bisect.h"
#include "base/number.h"
#include "solvers/place/pack/conflict.h"
#include "solvers/place/pack/options.h"

#include <string.h>

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

struct boundaries *boundaries_open(const struct room *room, struct arena *arena)
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
		out[count++] = next;
	}
	memcpy(sums, out, (size_t)count * sizeof *sums);
	side->sum_count = count;
	return true;
}

static void update(
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
static int64_t reach(const struct boundary_side *side, int64_t height, int64_t slack)
{
	if (!side->sum_count)
		return height;
	size_t above; /* the first sum above the height */
	bisect(above, 0, side->sum_count, side->sums[above] <= height);
	if (height - side->sums[above - 1] <= slack)
		return height;
	return (int)above < side->sum_count ? side->sums[above] : PLACED;
}

bool boundary_settle(struct state *state, int t)
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
	update(state->boundaries, &sides[0], state);
	update(state->boundaries, &sides[1], state);
	for (int64_t before = -1; before != height;) {
		before = height;
		int64_t more = reach(&sides[0], height - left, left_slack);
		if (more < PLACED)
			height = left + more, more = reach(&sides[1], height - right, right_slack);
		if (more == PLACED) {
			state->weight[t - 1] += 0.5;
			state->weight[t] += 0.5;
			conflict_clear(state->conflict);
			conflict_add(state->conflict, because_boundary(t));
			return false;
		}
		height = right + more;
	}
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
