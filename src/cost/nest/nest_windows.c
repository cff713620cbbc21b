#include "cost/nest/nest_windows.h"

#include "base/checked.h"
#include "cost/nest/nest_contexts.h"
#include "cost/nest/nest_entering.h"

#include <string.h>

enum { SLOTS = 2 * NEST_CHILDREN_MOST, NEIGHBOURS_MOST = 4 };

struct crowd {
	const struct nest_passage *passage;
	const struct dataspace *space;
	int dimension_count, level;
	bool links;
	bool *fits;
	struct nest_windows out;
	int64_t looks;

	struct nest_digits digits[SHAPE_DIMENSIONS_MOST];
	uint32_t spread[SHAPE_DIMENSIONS_MOST]; /* digits that children differ in */
	int64_t alike;                          /* children that do what the one looked at does */

	/* Children by their own digits, and who is beside them; -1: nobody. */
	int count;
	int64_t index[SHAPE_DIMENSIONS_MOST][NEST_CHILDREN_MOST];
	int neighbours[NEST_CHILDREN_MOST][NEIGHBOURS_MOST];

	struct nest_turn turn;
	struct nest_contexts contexts[SHAPE_DIMENSIONS_MOST];
	const struct nest_context *context[SHAPE_DIMENSIONS_MOST];
	struct nest_entering now[NEST_CHILDREN_MOST], before[NEST_CHILDREN_MOST];
	int slots[SLOTS];
};

/* --- children */

static bool is_spread(const struct crowd *crowd, int d, const struct nest_digit *digit)
{
	const struct nest_passage *passage = crowd->passage;
	const struct hierarchy *hierarchy = passage->model->hierarchy;
	if (!digit->spatial || digit->level > crowd->level ||
		hierarchy->levels[digit->level].no_spatial_reuse >> passage->space & 1)
		return false;
	bool slides = false;
	for (int r = 0; r < crowd->space->rank_count; r++) {
		uint32_t dimensions = shape_rank_dimensions(&crowd->space->ranks[r]);
		slides |= dimensions >> d & 1 && dimensions & (dimensions - 1);
	}
	return slides || !(crowd->space->relevant >> d & 1);
}

static bool is_perfect(const struct nest_digits *digits)
{
	for (int i = 0; i < digits->count; i++)
		if (digits->at[i].tail < digits->at[i].bound - 1)
			return false;
	return digits->rest == digits->width;
}

/* A spatial loop that children looked at differ in. */
struct apart {
	int loop, dimension;
};

/* Who is beside whom in the block above the child, as far as they may share. */
static void find_neighbours(struct crowd *crowd, const struct apart *aparts, int apart_count)
{
	const struct nest_loops *loops = crowd->passage->loops;
	int block = crowd->passage->child + 1;
	for (int n = 0; n < crowd->count; n++)
		for (int side = 0; side < NEIGHBOURS_MOST; side++)
			crowd->neighbours[n][side] = -1;
	for (int axis = 0; axis < 2; axis++) {
		/* Numbers of children along the axis; one more on the way may change a loop that
		 * keeps children apart, and then nothing is shared. */
		for (int n = 0; n < crowd->count; n++) {
			int64_t step = 1, next = n;
			bool found = false, lost = false;
			for (int k = loops->block[block]; k < loops->own[block] && !found && !lost;
				k++) {
				if (loops->at[k].y != (axis == 1))
					continue;
				int64_t place = 1;
				int i = 0;
				while (i < apart_count && aparts[i].loop != k)
					place *= loops->at[aparts[i++].loop].bound;
				lost = i == apart_count;
				step = place;
				if (lost)
					continue;
				found = n / step % loops->at[k].bound < loops->at[k].bound - 1;
				next += found ? step : -step * (loops->at[k].bound - 1);
			}
			if (!found)
				continue;
			crowd->neighbours[n][2 * axis] = (int)next;
			crowd->neighbours[next][2 * axis + 1] = n;
		}
	}
}

static bool find_children(struct crowd *crowd)
{
	const struct nest_loops *loops = crowd->passage->loops;
	struct apart aparts[NEST_DIGITS_MOST];
	int apart_count = 0;
	crowd->count = 1;
	crowd->alike = 1;
	for (int d = 0; d < crowd->dimension_count; d++) {
		struct nest_digits *digits = &crowd->digits[d];
		*digits = nest_digits_make(crowd->passage->model, loops, d, crowd->passage->child);
		bool alike =
			!(crowd->space->relevant >> d & 1) && !crowd->links && is_perfect(digits);
		crowd->spread[d] = 0;
		memset(crowd->index[d], 0, sizeof crowd->index[d]);
		for (int i = 0; i < digits->count; i++) {
			if (!is_spread(crowd, d, &digits->at[i]))
				continue;
			crowd->spread[d] |= 1u << i;
			if (alike) {
				crowd->alike *= digits->at[i].bound;
				continue;
			}
			if (digits->at[i].bound > NEST_CHILDREN_MOST / crowd->count)
				return false;
			crowd->count *= (int)digits->at[i].bound;
			aparts[apart_count++] = (struct apart){digits->at[i].loop, d};
		}
	}
	for (int n = 0; n < crowd->count; n++) {
		int64_t left = n;
		for (int i = 0; i < apart_count; i++) {
			const struct nest_loop *loop = &loops->at[aparts[i].loop];
			crowd->index[aparts[i].dimension][n] += left % loop->bound * loop->stride;
			left /= loop->bound;
		}
	}
	if (crowd->links)
		find_neighbours(crowd, aparts, apart_count);
	return true;
}

/* --- sets */

/* The tile of a child at one of the times; false if it has no work there. */
static bool find_tile(const struct crowd *crowd, int n, int time, struct tile_box *tile)
{
	int ranks = crowd->space->rank_count;
	if (time >= crowd->turn.times)
		return false;
	for (int r = 0; r < ranks; r++) {
		tile->low[r] = 0;
		tile->width[r] = 1;
	}
	for (int d = 0; d < crowd->dimension_count; d++) {
		int64_t index = crowd->context[d]->base[time] + crowd->index[d][n];
		int64_t indices = nest_indices_from(&crowd->digits[d],
			crowd->passage->model->shape->dimensions[d].extent, index);
		if (indices == 0)
			return false;
		for (int r = 0; r < ranks; r++) {
			int64_t coefficient = crowd->space->ranks[r].coefficient[d];
			if (!coefficient)
				continue;
			tile->low[r] = checked_add(crowd->fits, tile->low[r],
				checked_mul(crowd->fits, coefficient, index));
			tile->width[r] = checked_add(crowd->fits, tile->width[r],
				checked_mul(crowd->fits, coefficient, indices - 1));
		}
	}
	return true;
}

static void find_sets(struct crowd *crowd)
{
	int ranks = crowd->space->rank_count;
	for (int n = 0; n < crowd->count; n++) {
		struct tile_box tile[NEST_TIMES];
		bool works[NEST_TIMES];
		for (int time = 0; time < NEST_TIMES; time++)
			works[time] = find_tile(crowd, n, time, &tile[time]);
		crowd->now[n].any = crowd->now[n].hole = crowd->before[n].any = false;
		if (works[NEST_NOW])
			crowd->now[n] = nest_entering_of(ranks, &tile[NEST_NOW],
				works[NEST_BEFORE] ? &tile[NEST_BEFORE] : NULL);
		if (crowd->links && works[NEST_BEFORE])
			crowd->before[n] = nest_entering_of(ranks, &tile[NEST_BEFORE],
				works[NEST_EARLIER] ? &tile[NEST_EARLIER] : NULL);
	}
}

static bool is_served(const struct crowd *crowd, int n)
{
	for (int side = 0; side < NEIGHBOURS_MOST; side++) {
		int from = crowd->neighbours[n][side];
		if (from >= 0 && nest_entering_equal(crowd->space->rank_count, &crowd->before[from],
					 &crowd->now[n]))
			return true;
	}
	return false;
}

static int slot_of(struct crowd *crowd, int n)
{
	const struct nest_entering *set = &crowd->now[n];
	uint64_t key = 0;
	for (int r = 0; r < crowd->space->rank_count; r++)
		key = (key ^ (uint64_t)set->low[r]) * 0x9e3779b97f4a7c15u + (uint64_t)set->width[r];
	int slot = (int)(key >> 40) % SLOTS;
	while (crowd->slots[slot] >= 0 && !nest_entering_equal(crowd->space->rank_count,
						  &crowd->now[crowd->slots[slot]], set))
		slot = (slot + 1) % SLOTS;
	return slot;
}

/* Words of different sets; with `rest` those that no neighbour has. */
static int64_t words_of_groups(struct crowd *crowd, const bool *served)
{
	int64_t words = 0;
	memset(crowd->slots, -1, sizeof crowd->slots);
	for (int n = 0; n < crowd->count; n++) {
		if (!crowd->now[n].any || (served && served[n]))
			continue;
		int slot = slot_of(crowd, n);
		if (crowd->slots[slot] >= 0)
			continue;
		crowd->slots[slot] = n;
		words = checked_add(crowd->fits, words,
			nest_entering_words(crowd->space->rank_count, &crowd->now[n], crowd->fits));
	}
	return words;
}

static void add_times(struct crowd *crowd, int64_t *sum, int64_t times, int64_t words)
{
	*sum = checked_add(crowd->fits, *sum, checked_mul(crowd->fits, times, words));
}

/* One context of all dimensions, and how often it is met. */
static void look(struct crowd *crowd, int64_t times)
{
	bool served[NEST_CHILDREN_MOST];
	int64_t entering = 0, handed_on = 0;
	find_sets(crowd);
	for (int n = 0; n < crowd->count; n++) {
		int64_t words =
			nest_entering_words(crowd->space->rank_count, &crowd->now[n], crowd->fits);
		entering = checked_add(crowd->fits, entering, words);
		served[n] = crowd->links && words && is_served(crowd, n);
		if (served[n])
			handed_on = checked_add(crowd->fits, handed_on, words);
	}
	int64_t groups = words_of_groups(crowd, NULL);
	if (handed_on) {
		int64_t rest = words_of_groups(crowd, served);
		if (rest < groups) {
			add_times(crowd, &crowd->out.links, times, handed_on);
			groups = rest;
		}
	}
	add_times(crowd, &crowd->out.groups, times, groups);
	add_times(crowd, &crowd->out.entering, times,
		checked_mul(crowd->fits, entering, crowd->alike));
}

/* --- steps */

static bool look_at_turn(struct crowd *crowd, struct nest_turn turn)
{
	int chosen[SHAPE_DIMENSIONS_MOST] = {0};
	crowd->turn = turn;
	int64_t looks = crowd->count;
	for (int d = 0; d < crowd->dimension_count; d++) {
		if (!nest_contexts_find(crowd->passage, &crowd->digits[d], crowd->spread[d],
			    crowd->space->relevant >> d & 1, &turn, &crowd->contexts[d]))
			return false;
		if (crowd->contexts[d].count == 0)
			return true;
		looks *= crowd->contexts[d].count;
		if (looks > NEST_LOOKS_MOST)
			return false;
	}
	crowd->looks += looks;
	if (crowd->looks > NEST_LOOKS_MOST)
		return false;
	int d;
	do {
		int64_t times = 1;
		for (d = 0; d < crowd->dimension_count; d++) {
			crowd->context[d] = &crowd->contexts[d].at[chosen[d]];
			times = checked_mul(crowd->fits, times, crowd->context[d]->count);
		}
		look(crowd, times);
		for (d = 0; d < crowd->dimension_count; d++) {
			if (++chosen[d] < crowd->contexts[d].count)
				break;
			chosen[d] = 0;
		}
	} while (d < crowd->dimension_count);
	return true;
}

static bool look_at_all_turns(struct crowd *crowd)
{
	const struct nest_loops *loops = crowd->passage->loops;
	int pace = crowd->passage->pace;
	if (nest_resets(crowd->passage->model, crowd->passage->child, crowd->passage->space))
		return look_at_turn(crowd, (struct nest_turn){.times = 1});
	if (!look_at_turn(crowd, (struct nest_turn){.times = 1, .start = true}))
		return false;
	if (crowd->links &&
		!look_at_turn(crowd, (struct nest_turn){.times = 2, .start = true, .now = pace}))
		return false;
	for (int now = pace; now < loops->count; now++) {
		if (loops->at[now].spatial)
			continue;
		if (!crowd->links) {
			if (!look_at_turn(crowd, (struct nest_turn){.times = 2, .now = now}))
				return false;
			continue;
		}
		for (int before = pace; before < loops->count; before++)
			if (!loops->at[before].spatial &&
				!look_at_turn(
					crowd, (struct nest_turn){
						       .times = 3, .now = now, .before = before}))
				return false;
	}
	return true;
}

struct nest_windows nest_windows_count(const struct nest_passage *passage, int level, bool links)
{
	struct crowd crowd;
	crowd.passage = passage;
	crowd.space = &passage->model->shape->spaces[passage->space];
	crowd.dimension_count = passage->model->shape->dimension_count;
	crowd.level = level;
	crowd.links = links;
	crowd.fits = passage->fits;
	crowd.out = (struct nest_windows){0};
	crowd.looks = 0;
	*passage->countable &= find_children(&crowd) && look_at_all_turns(&crowd);
	return crowd.out;
}
