#include "solvers/place/pack_search.h"

#include "base/number.h"
#include "base/random.h"

#include <stdlib.h>

#define NEVER INT64_MAX /* the level of an item that is placed, the floor where all are */

/* Open choices at a time; the stack holds no more. */
enum { DEPTH_MOST = 10000 };

enum outcome { DONE, FAILED, ENDED };

/* What was before a change: of an item's level (index), or of a section's floor (-1 - index). */
struct change {
	int index, choices;
	int64_t before;
};

struct pack_search {
	const struct room *room;
	struct run *run;
	struct random random;
	int64_t *level;   /* of each item: it cannot lie below; NEVER: it is placed */
	int64_t *address; /* of each item that is placed */
	int64_t *floor;   /* of each section: nothing more goes below */
	int64_t *rest;    /* heights not placed yet */
	int *choices;     /* items that may stand on the floor, twins counted once */
	int *crossing;    /* items not placed that live before section s and in it */
	double *weight;
	int *dirty; /* sections to look at again */
	bool *is_dirty;
	int dirty_count;
	struct change *trail;
	size_t trail_count, trail_room;
	int *values; /* a stack: what is still to try at each open choice */
	size_t value_count, value_room;
	double *priority; /* by item */
	int depth;
	uint64_t nodes, nodes_limit, failures, failures_limit, charged;
	bool is_out;
	struct arena *arena;
};

static bool spend(struct pack_search *search)
{
	search->nodes++;
	if (search->nodes - search->charged >= 64 || search->is_out) {
		uint64_t ticks = search->nodes - search->charged;
		search->charged = search->nodes;
		if (search->is_out || !run_spend(search->run, ticks))
			search->is_out = true;
	}
	if (search->nodes_limit && search->nodes >= search->nodes_limit)
		search->is_out = true;
	return !search->is_out;
}

static void note(struct pack_search *search, int index, int choices, int64_t before)
{
	if (search->trail_count == search->trail_room) {
		struct change *old = search->trail;
		search->trail_room *= 2;
		search->trail = arena_array(search->arena, struct change, search->trail_room);
		for (size_t i = 0; i < search->trail_count; i++)
			search->trail[i] = old[i];
	}
	search->trail[search->trail_count++] = (struct change){index, choices, before};
}

static void soil(struct pack_search *search, int section)
{
	if (!search->is_dirty[section]) {
		search->is_dirty[section] = true;
		search->dirty[search->dirty_count++] = section;
	}
}

static bool raise(struct pack_search *search, int i, int64_t level)
{
	const struct item *item = &search->room->items[i];
	if (level <= search->level[i])
		return true;
	level = level > item->high ? level : item_align(item, level);
	note(search, i, 0, search->level[i]);
	search->level[i] = level;
	for (int s = item->first; s < item->end; s++)
		soil(search, s);
	if (level <= item->high)
		return true;
	for (int s = item->first; s < item->end; s++)
		search->weight[s] += 1.0 / (item->end - item->first);
	return false;
}

/* The floor rises to the lowest item that is left; who could stand there is counted anew. */
static bool look_again(struct pack_search *search, int s)
{
	const struct room *room = search->room;
	int64_t lowest = NEVER;
	int choices = 0;
	for (size_t k = room->section_first[s]; k < room->section_first[s + 1]; k++) {
		int i = room->lives[k];
		int64_t level = search->level[i];
		if (level < lowest) {
			lowest = level;
			choices = 0;
		}
		int twin = room->items[i].twin;
		choices += level == lowest && (twin < 0 || search->level[twin] == NEVER);
	}
	if (lowest == search->floor[s] && choices == search->choices[s])
		return true;
	note(search, -1 - s, search->choices[s], search->floor[s]);
	search->floor[s] = lowest;
	search->choices[s] = choices;
	if (lowest == NEVER || lowest + search->rest[s] <= room->height)
		return true;
	search->weight[s] += 1;
	return false;
}

static bool settle(struct pack_search *search)
{
	bool good = true;
	while (search->dirty_count) {
		int s = search->dirty[--search->dirty_count];
		search->is_dirty[s] = false;
		good = good && look_again(search, s);
	}
	return good;
}

static bool place(struct pack_search *search, int i)
{
	const struct room *room = search->room;
	const struct item *item = &room->items[i];
	int64_t base = search->level[i];
	bool good = true;
	note(search, i, 1, base);
	search->level[i] = NEVER;
	search->address[i] = base;
	for (int s = item->first; s < item->end; s++) {
		search->rest[s] -= item_height(item, s);
		soil(search, s);
	}
	for (int s = item->first + 1; s < item->end; s++)
		search->crossing[s]--;
	for (size_t k = room->meet_first[i]; good && k < room->meet_first[i + 1]; k++) {
		int j = room->meets[k];
		good = raise(search, j, base + item_height_beside(item, &room->items[j]));
	}
	return settle(search) && good;
}

static void undo(struct pack_search *search, size_t mark)
{
	const struct room *room = search->room;
	while (search->trail_count > mark) {
		struct change change = search->trail[--search->trail_count];
		if (change.index < 0) {
			search->floor[-1 - change.index] = change.before;
			search->choices[-1 - change.index] = change.choices;
			continue;
		}
		search->level[change.index] = change.before;
		if (!change.choices)
			continue;
		const struct item *item = &room->items[change.index];
		for (int s = item->first; s < item->end; s++)
			search->rest[s] += item_height(item, s);
		for (int s = item->first + 1; s < item->end; s++)
			search->crossing[s]++;
	}
}

/* The lowest that something outside section s could lift the item to. */
static int64_t lifted(const struct pack_search *search, int i, int s)
{
	const struct room *room = search->room;
	const struct item *item = &room->items[i];
	int64_t lowest = NEVER;
	for (size_t k = room->meet_first[i]; k < room->meet_first[i + 1]; k++) {
		int j = room->meets[k];
		const struct item *other = &room->items[j];
		if (search->level[j] == NEVER || (other->first <= s && s < other->end))
			continue;
		lowest = number_min(lowest, search->level[j] + item_height_beside(other, item));
	}
	return lowest;
}

/* Nothing stands on the floor of section s: where can what is there lie instead?  If one of them
 * could still slide down to the floor, this is no loss. */
static bool leave_empty(struct pack_search *search, int s)
{
	const struct room *room = search->room;
	int64_t floor = search->floor[s], next = NEVER, least = NEVER, second = NEVER;
	for (size_t k = room->section_first[s]; k < room->section_first[s + 1]; k++) {
		int i = room->lives[k];
		if (search->level[i] == NEVER)
			continue;
		int64_t low = search->level[i] == floor ? lifted(search, i, s) : search->level[i];
		next = number_min(next, low);
		int64_t height = item_height(&room->items[i], s);
		second = number_min(second, number_max(height, least));
		least = number_min(least, height);
	}
	if (next == NEVER)
		return false;
	bool good = true;
	for (size_t k = room->section_first[s]; good && k < room->section_first[s + 1]; k++) {
		int i = room->lives[k];
		const struct item *item = &room->items[i];
		if (search->level[i] != floor)
			continue;
		int64_t low = lifted(search, i, s);
		if (next >= floor + item->clear && item->low < item->high) {
			bool could_slide = true;
			for (size_t m = room->meet_first[i];
				could_slide && m < room->meet_first[i + 1]; m++) {
				int j = room->meets[m];
				const struct item *other = &room->items[j];
				could_slide = (other->first <= s && s < other->end) ||
					      search->level[j] >= floor + item->clear;
			}
			if (could_slide)
				good = false;
		}
		int64_t other = item_height(item, s) == least ? second : least;
		int64_t above = other == NEVER ? NEVER : next + other;
		good = good && raise(search, i, number_min(low, above));
	}
	return settle(search) && good;
}

/* The section to branch on; -1: all is placed. */
static int choose(const struct pack_search *search, int from, int to, int *options)
{
	const int64_t *floor = search->floor;
	int chosen = -1;
	double best = 0;
	for (int a = from, b; a < to; a = b) {
		for (b = a + 1; b < to && floor[b] == floor[a];)
			b++;
		if (floor[a] == NEVER || (a > from && floor[a - 1] < floor[a]) ||
			(b < to && floor[b] < floor[a]))
			continue;
		for (int s = a; s < b; s++) {
			int count = search->choices[s] +
				    (floor[s] + search->rest[s] < search->room->height);
			double score = (count > 1 ? count : 1e-9) / search->weight[s];
			if (chosen < 0 || score < best) {
				chosen = s;
				best = score;
				*options = count;
			}
		}
	}
	return chosen;
}

static void add_value(struct pack_search *search, int value)
{
	if (search->value_count == search->value_room) {
		int *old = search->values;
		search->value_room *= 2;
		search->values = arena_array(search->arena, int, search->value_room);
		for (size_t i = 0; i < search->value_count; i++)
			search->values[i] = old[i];
	}
	search->values[search->value_count++] = value;
}

/* By priority, the best last; -1, to leave the floor empty, is tried last. */
static void collect(struct pack_search *search, int s)
{
	const struct room *room = search->room;
	size_t first = search->value_count;
	if (search->floor[s] + search->rest[s] < room->height)
		add_value(search, -1), first++;
	for (size_t k = room->section_first[s]; k < room->section_first[s + 1]; k++) {
		int i = room->lives[k], twin = room->items[i].twin;
		if (search->level[i] != search->floor[s] ||
			(twin >= 0 && search->level[twin] != NEVER))
			continue;
		add_value(search, i);
		size_t at = search->value_count - 1;
		for (; at > first && search->priority[search->values[at - 1]] > search->priority[i];
			at--)
			search->values[at] = search->values[at - 1];
		search->values[at] = i;
	}
}

static bool try_value(struct pack_search *search, int s, int value)
{
	return value < 0 ? leave_empty(search, s) : place(search, value);
}

static enum outcome solve_sections(struct pack_search *search, int from, int to);

/* Parts between which no life is left to reach have nothing to do with each other. */
static enum outcome solve_part(struct pack_search *search, int from, int to)
{
	for (int s = from + 1; s < to; s++)
		if (!search->crossing[s]) {
			enum outcome outcome = solve_sections(search, from, s);
			if (outcome != DONE)
				return outcome;
			from = s;
		}
	return solve_sections(search, from, to);
}

static enum outcome branch(struct pack_search *search, int from, int to, int s)
{
	size_t bottom = search->value_count, mark = search->trail_count;
	if (search->depth == DEPTH_MOST)
		return ENDED;
	search->depth++;
	collect(search, s);
	while (search->value_count > bottom) {
		int value = search->values[--search->value_count];
		if (!spend(search)) {
			search->value_count = bottom;
			return ENDED;
		}
		if (try_value(search, s, value)) {
			enum outcome outcome = solve_part(search, from, to);
			if (outcome != FAILED) {
				search->value_count = bottom;
				search->depth--;
				return outcome;
			}
		}
		undo(search, mark);
	}
	search->depth--;
	search->weight[s] += 0.5;
	search->failures++;
	if (search->failures_limit && search->failures >= search->failures_limit)
		return ENDED;
	return FAILED;
}

static enum outcome solve_sections(struct pack_search *search, int from, int to)
{
	for (;;) {
		int options = 0, s = choose(search, from, to, &options);
		if (s < 0)
			return DONE;
		if (options > 1)
			return branch(search, from, to, s);
		size_t bottom = search->value_count;
		collect(search, s);
		bool good = search->value_count > bottom && spend(search) &&
			    try_value(search, s, search->values[bottom]);
		search->value_count = bottom;
		if (search->is_out)
			return ENDED;
		if (!good)
			return FAILED;
		for (int t = from + 1; t < to; t++)
			if (!search->crossing[t])
				return solve_part(search, from, to);
	}
}

struct pack_search *pack_search_open(const struct room *room, struct arena *arena)
{
	struct pack_search *search = arena_new(arena, struct pack_search);
	int n = room->item_count, m = room->section_count;
	*search = (struct pack_search){.room = room,
		.level = arena_array(arena, int64_t, n),
		.address = arena_array(arena, int64_t, n),
		.floor = arena_array(arena, int64_t, m),
		.rest = arena_array(arena, int64_t, m),
		.choices = arena_array(arena, int, m),
		.crossing = arena_array(arena, int, m + 1),
		.weight = arena_array(arena, double, m),
		.dirty = arena_array(arena, int, m),
		.is_dirty = arena_array(arena, bool, m),
		.trail_room = 1024,
		.value_room = 1024,
		.priority = arena_array(arena, double, n),
		.arena = arena};
	search->trail = arena_array(arena, struct change, search->trail_room);
	search->values = arena_array(arena, int, search->value_room);
	for (int s = 0; s < m; s++)
		search->weight[s] = 1;
	return search;
}

static double value_of(const struct item *item, uint64_t order)
{
	double width = item->end - item->first, size = (double)item->size;
	switch (order % 4) {
	case 0:
		return width;
	case 1:
		return width * size;
	case 2:
		return size;
	default:
		return width * width * size;
	}
}

static bool start(struct pack_search *search, uint64_t order)
{
	const struct room *room = search->room;
	bool good = true;
	search->random = random_open(order, 1);
	search->trail_count = search->value_count = 0;
	search->depth = 0;
	for (int s = 0; s < room->section_count; s++) {
		search->floor[s] = search->rest[s] = 0;
		search->crossing[s] = search->choices[s] = 0;
		soil(search, s);
	}
	for (int i = 0; i < room->item_count; i++) {
		const struct item *item = &room->items[i];
		double noise = (double)random_below(&search->random, 1 << 20) / (1 << 20);
		search->priority[i] = value_of(item, order) * (0.8 + 0.4 * noise);
		search->level[i] = item->low;
		good = good && item->low <= item->high;
		for (int s = item->first; s < item->end; s++)
			good &= !__builtin_add_overflow(
				search->rest[s], item_height(item, s), &search->rest[s]);
		for (int s = item->first + 1; s < item->end; s++)
			search->crossing[s]++;
	}
	for (int s = 0; s < room->section_count; s++)
		good = good && search->rest[s] <= room->height;
	return settle(search) && good;
}

enum pack_status pack_search_run(struct pack_search *search, struct run *run, uint64_t failures,
	uint64_t nodes, uint64_t order)
{
	search->run = run;
	search->failures = 0;
	search->failures_limit = failures;
	search->nodes_limit = nodes ? search->nodes + nodes : 0;
	search->is_out = false;
	if (!start(search, order))
		return PACK_NEVER;
	enum outcome outcome = solve_part(search, 0, search->room->section_count);
	run_spend(run, search->nodes - search->charged);
	search->charged = search->nodes;
	return outcome == DONE ? PACK_FITS : outcome == FAILED ? PACK_NEVER : PACK_UNKNOWN;
}

uint64_t pack_search_nodes(const struct pack_search *search)
{
	return search->nodes;
}

int64_t pack_search_address(const struct pack_search *search, int item)
{
	return search->address[item];
}

int pack_search_hardest(const struct pack_search *search)
{
	int hardest = 0;
	for (int s = 1; s < search->room->section_count; s++)
		if (search->weight[s] > search->weight[hardest])
			hardest = s;
	return hardest;
}
