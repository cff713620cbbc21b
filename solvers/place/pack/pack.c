#include "solvers/place/pack/pack.h"

#include "base/arena.h"
#include "base/number.h"
#include "base/random.h"
#include "solvers/place/packing.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The order in which items are tried first. */
enum pack_order {
	PACK_LONGEST,
	PACK_LARGEST,
	PACK_HIGHEST,
	PACK_LONG_AND_LARGE,
	PACK_DRAWN, /* by a power of the width, and a smaller one of the size */
};

/*
 * States that have failed.  What can still come of some sections depends only on the levels of the
 * items that are left in them, not on how what is below them came there.  Kept from one start to
 * the next; where two states meet, the newer one stays.
 */
struct memo_key {
	uint64_t high, low;
};

struct memo {
	const struct state *state;
	struct arena *arena;
	size_t rows; /* a power of two */
	size_t added;
	struct memo_key *keys;
	uint64_t *conflicts;
	int *first; /* the first item that starts in section s, or later */
};

static struct memo *memo_open(const struct state *state, struct arena *arena)
{
	const struct room *room = state->room;
	struct memo *memo = arena_new(arena, struct memo);
	size_t words = state->conflict ? state->conflict->words : 0;
	memo->state = state;
	memo->arena = arena;
	memo->rows = PACK_MEMO_ROWS_FIRST;
	memo->keys = arena_array(arena, struct memo_key, memo->rows);
	memo->conflicts = arena_array(arena, uint64_t, memo->rows * words);
	memo->first = arena_array(arena, int, room->section_count + 1);
	for (int s = 0, i = 0; s <= room->section_count; s++) {
		while (i < room->item_count && room->items[i].first < s)
			i++;
		memo->first[s] = i;
	}
	return memo;
}

static uint64_t pack_mix(uint64_t z)
{
	z = (z ^ (z >> 32)) * UINT64_C(0xd6e8feb86659fd93);
	return z ^ (z >> 32);
}

/* Returns the key of the items that are left in sections [from, to), none of which reaches out of them. */
static struct memo_key memo_key_of(const struct memo *memo, int from, int to)
{
	const int64_t *level = memo->state->level;
	struct memo_key key = {(uint64_t)from << 32 | (uint64_t)to, 1};
	assert(!memo->state->crossing[from]);
	for (int i = memo->first[from]; i < memo->first[to]; i++) {
		if (level[i] == PLACED)
			continue;
		assert(memo->state->room->items[i].end <= to);
		uint64_t mixed = pack_mix((uint64_t)level[i] * UINT64_C(0x9e3779b97f4a7c15) +
					  (uint64_t)(i + 1) * UINT64_C(0xbf58476d1ce4e5b9));
		key.high += mixed;
		key.low += (mixed ^ (mixed >> 29)) * UINT64_C(0x94d049bb133111eb);
	}
	return key;
}

static size_t memo_row(const struct memo *memo, struct memo_key key)
{
	return (size_t)pack_mix(key.high ^ (key.low >> 7)) & (memo->rows - 1);
}

/* True if this state has failed; then the conflict becomes the one that it failed with. */
static bool memo_find(const struct memo *memo, struct memo_key key)
{
	size_t row = memo_row(memo, key);
	if (memo->keys[row].high != key.high || memo->keys[row].low != key.low)
		return false;
	struct conflict *conflict = memo->state->conflict;
	if (conflict)
		memcpy(conflict->set, memo->conflicts + row * conflict->words,
			conflict->words * sizeof *conflict->set);
	return true;
}

static void memo_put(struct memo *memo, struct memo_key key, const uint64_t *set, size_t words)
{
	size_t row = memo_row(memo, key);
	memo->keys[row] = key;
	memcpy(memo->conflicts + row * words, set, words * sizeof *set);
}

static void memo_grow(struct memo *memo, size_t words)
{
	struct memo old = *memo;
	memo->rows *= 4;
	if (memo->rows * (sizeof *memo->keys + words * sizeof(uint64_t)) > PACK_MEMO_BYTES_MOST) {
		memo->rows = old.rows;
		return;
	}
	memo->keys = arena_array(memo->arena, struct memo_key, memo->rows);
	memo->conflicts = arena_array(memo->arena, uint64_t, memo->rows * words);
	for (size_t row = 0; row < old.rows; row++)
		if (old.keys[row].low)
			memo_put(memo, old.keys[row], old.conflicts + row * words, words);
}

/* Adds a state that has failed, with the conflict that is there now. */
static void memo_add(struct memo *memo, struct memo_key key)
{
	const struct conflict *conflict = memo->state->conflict;
	size_t words = conflict ? conflict->words : 0;
	if (++memo->added == memo->rows)
		memo_grow(memo, words);
	memo_put(memo, key, conflict ? conflict->set : memo->conflicts, words);
}

enum pack_outcome { DONE, FAILED, ENDED };

struct pack_search {
	const struct room *room;
	struct state *state;
	struct memo *memo;
	struct run *run;
	struct random random;
	int *values; /* a stack: what is still to try at each open choice */
	size_t value_count, value_room;
	double *priority;    /* by item */
	int64_t *last;       /* by item: where it was placed last; -1 */
	bool returns;        /* there, if it may */
	uint64_t *conflicts; /* by depth */
	int depth, depth_room;
	uint64_t nodes, nodes_limit, failures, failures_limit, charged;
	bool is_out;
	struct arena *arena;
};

static bool spend_node(struct pack_search *search)
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

/* The section to branch on; -1: all is placed. */
static int choose_items(const struct pack_search *search, int from, int to, int *options)
{
	struct state *state = search->state;
	const int64_t *floor = state->floor;
	int chosen = -1;
	double best = 0;
	for (int a = from, b; a < to; a = b) {
		for (b = a + 1; b < to && floor[b] == floor[a];)
			b++;
		if (floor[a] == PLACED || (a > from && floor[a - 1] < floor[a]) ||
			(b < to && floor[b] < floor[a]))
			continue;
		for (int s = a; s < b; s++) {
			int count = state_choices(state, s) + (state_slack(state, s) > 0);
			double score = (count > 1 ? count : 1e-9) / state->weight[s];
			if (chosen < 0 || score < best) {
				chosen = s;
				best = score;
				*options = count;
			}
		}
	}
	return chosen;
}

static void pack_search_add_value(struct pack_search *search, int value)
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

/* Is item i, which may stand on this floor, tried before j, which may too? */
static bool is_better(const struct pack_search *search, int i, int j, int64_t floor)
{
	bool i_returns = search->returns && search->last[i] == floor;
	bool j_returns = search->returns && search->last[j] == floor;
	return i_returns != j_returns ? i_returns : search->priority[i] >= search->priority[j];
}

/* The best last; -1, to leave the floor empty, is tried last. */
static void pack_search_collect(struct pack_search *search, int s)
{
	const struct room *room = search->room;
	const struct state *state = search->state;
	size_t first = search->value_count;
	if (state_slack(state, s) > 0)
		pack_search_add_value(search, -1), first++;
	for (size_t k = room->section_first[s]; k < room->section_first[s + 1]; k++) {
		int i = room->lives[k];
		if (!state_may_stand(state, i, state->floor[s]))
			continue;
		pack_search_add_value(search, i);
		size_t at = search->value_count - 1;
		for (; at > first && !is_better(search, i, search->values[at - 1], state->floor[s]);
			at--)
			search->values[at] = search->values[at - 1];
		search->values[at] = i;
	}
}

static bool try_value(struct pack_search *search, int s, int value)
{
	if (value < 0)
		return state_leave_empty(search->state, s);
	search->last[value] = search->state->level[value];
	return state_place(search->state, value, s);
}

static enum pack_outcome solve_sections(struct pack_search *search, int from, int to);

/* Parts between which no life is left to reach have nothing to do with each other. */
static enum pack_outcome solve_part(struct pack_search *search, int from, int to)
{
	for (int s = from + 1; s < to; s++)
		if (!search->state->crossing[s]) {
			enum pack_outcome outcome = solve_sections(search, from, s);
			if (outcome != DONE)
				return outcome;
			from = s;
		}
	return solve_sections(search, from, to);
}

/* Returns the conflict of the values tried so far at this depth. */
static uint64_t *conflicts_at(struct pack_search *search, int depth)
{
	size_t words = search->state->conflict->words;
	if (depth >= search->depth_room) {
		uint64_t *old = search->conflicts;
		size_t count = words * (size_t)search->depth_room;
		while (depth >= search->depth_room)
			search->depth_room *= 2;
		search->conflicts =
			arena_array(search->arena, uint64_t, words * (size_t)search->depth_room);
		memcpy(search->conflicts, old, count * sizeof *old);
	}
	return search->conflicts + words * (size_t)depth;
}

/* The conflict of the value just taken back joins the others of this choice; after the last, and
 * with the choice itself, they are the conflict of the choice. */
static void join_conflicts(struct pack_search *search, int s, bool is_first, bool is_last)
{
	struct conflict *conflict = search->state->conflict;
	if (!conflict)
		return;
	uint64_t *all = conflicts_at(search, search->depth - 1);
	for (size_t w = 0; w < conflict->words; w++)
		all[w] = (is_first ? 0 : all[w]) | conflict->set[w];
	if (is_last) {
		memcpy(conflict->set, all, conflict->words * sizeof *all);
		conflict_add(conflict, because_section(s));
	}
}

/* Each value in turn; once one fails without having mattered, so would the others. */
static enum pack_outcome try_values(
	struct pack_search *search, int from, int to, int s, size_t bottom)
{
	size_t mark = search->state->trail_count;
	for (bool is_first = true; search->value_count > bottom; is_first = false) {
		int value = search->values[--search->value_count];
		assert(search->state->trail_count == mark);
		if (!spend_node(search))
			return ENDED;
		if (try_value(search, s, value)) {
			enum pack_outcome outcome = solve_part(search, from, to);
			if (outcome != FAILED)
				return outcome;
		}
		assert(search->value_count >= bottom);
		if (!state_undo(search->state, mark))
			return FAILED;
		join_conflicts(search, s, is_first, search->value_count == bottom);
	}
	return FAILED;
}

static enum pack_outcome pack_search_branch(struct pack_search *search, int from, int to, int s)
{
	size_t bottom = search->value_count;
	if (search->depth == PACK_DEPTH_MOST)
		return ENDED;
	struct memo_key key = memo_key_of(search->memo, from, to);
	if (memo_find(search->memo, key))
		return FAILED;
	search->depth++;
	pack_search_collect(search, s);
	enum pack_outcome outcome = try_values(search, from, to, s, bottom);
	search->value_count = bottom;
	search->depth--;
	if (outcome != FAILED)
		return outcome;
	memo_add(search->memo, key);
	search->state->weight[s] += 0.5;
	search->failures++;
	if (search->failures_limit && search->failures >= search->failures_limit)
		return ENDED;
	return FAILED;
}

static enum pack_outcome solve_sections(struct pack_search *search, int from, int to)
{
	struct conflict *conflict = search->state->conflict;
	for (;;) {
		int options = 0, s = choose_items(search, from, to, &options);
		if (s < 0)
			return DONE;
		if (options > 1)
			return pack_search_branch(search, from, to, s);
		if (options == 0) {
			conflict_clear(conflict);
			conflict_add(conflict, because_section(s));
			search->state->weight[s] += 1;
			return FAILED;
		}
		size_t bottom = search->value_count;
		pack_search_collect(search, s);
		search->value_count = bottom;
		if (!spend_node(search))
			return ENDED;
		if (!try_value(search, s, search->values[bottom]))
			return FAILED;
		for (int t = from + 1; t < to; t++)
			if (!search->state->crossing[t])
				return solve_part(search, from, to);
	}
}

static struct pack_search *pack_search_open(const struct room *room, struct arena *arena)
{
	struct pack_search *search = arena_new(arena, struct pack_search);
	*search = (struct pack_search){.room = room,
		.state = state_open(room, arena),
		.value_room = 1024,
		.priority = arena_array(arena, double, room->item_count),
		.last = arena_array(arena, int64_t, room->item_count),
		.depth_room = 64,
		.arena = arena};
	for (int i = 0; i < room->item_count; i++)
		search->last[i] = -1;
	search->memo = memo_open(search->state, arena);
	if (search->state->conflict)
		search->conflicts =
			arena_array(arena, uint64_t, 64 * search->state->conflict->words);
	search->values = arena_array(arena, int, search->value_room);
	return search;
}

/* Exponents of widths and sizes if they are drawn: widths count more. */
struct powers {
	double width, size;
};

static struct powers draw_powers(struct random *random)
{
	double width = (double)random_below(random, 1 << 20) / (1 << 19);
	double size = (double)random_below(random, 1 << 20) / (1 << 20);
	return (struct powers){1 + width, size};
}

static double pack_item_value(
	const struct pack_item *item, enum pack_order order, struct powers powers)
{
	double width = item->end - item->first, size = (double)item->size;
	switch (order) {
	case PACK_LONGEST:
		return width;
	case PACK_LARGEST:
		return width * size;
	case PACK_HIGHEST:
		return size;
	case PACK_DRAWN:
		return pow(width, powers.width) * pow(size, powers.size);
	case PACK_LONG_AND_LARGE:
		break;
	}
	return width * width * size;
}

static bool pack_search_start(struct pack_search *search, uint64_t seed, enum pack_order order)
{
	const struct room *room = search->room;
	const double spread = PACK_NOISE_PERCENT / 100.0;
	struct powers powers = {0};
	search->random = random_open(seed, 1);
	if (order == PACK_DRAWN)
		powers = draw_powers(&search->random);
	search->value_count = 0;
	search->depth = 0;
	for (int i = 0; i < room->item_count; i++) {
		double noise = (double)random_below(&search->random, 1 << 20) / (1 << 20);
		search->priority[i] = pack_item_value(&room->items[i], order, powers) *
				      (1 - spread + 2 * spread * noise);
	}
	return state_start(search->state);
}

#ifndef NDEBUG
/* Asserts that all items lie apart, in the room and at lawful addresses. */
static bool check_packed(const struct state *state)
{
	for (int i = 0; i < state->room->item_count; i++)
		assert(state->level[i] == PLACED);
	return state_check(state);
}
#endif

/*
 * Goes on, from a new start, until this many failures (0: to the end); nodes are charged to the run
 * and counted.  What it learned is kept from one call to the next.  The order says which items
 * are tried first, the seed how strictly, and what is drawn; before all others, if it returns, one
 * that was placed last where it is to stand now.
 */
static enum verdict pack_search_run(struct pack_search *search, struct run *run, uint64_t failures,
	uint64_t nodes, uint64_t seed, enum pack_order order, bool returns)
{
	search->returns = returns;
	search->run = run;
	search->failures = 0;
	search->failures_limit = failures;
	search->nodes_limit = nodes ? search->nodes + nodes : 0;
	search->is_out = false;
	if (!pack_search_start(search, seed, order))
		return VERDICT_NO;
	enum pack_outcome outcome = solve_part(search, 0, search->room->section_count);
	run_spend(run, search->nodes - search->charged);
	search->charged = search->nodes;
	assert(outcome != DONE || check_packed(search->state));
	return outcome == DONE ? VERDICT_YES : outcome == FAILED ? VERDICT_NO : VERDICT_OPEN;
}

/* All sections weigh the same again. */
static void pack_search_forget(struct pack_search *search)
{
	for (int s = 0; s < search->room->section_count; s++)
		search->state->weight[s] = 1;
}

static uint64_t pack_search_nodes(const struct pack_search *search)
{
	return search->nodes;
}

/* After VERDICT_YES: of item i, in units. */
static int64_t pack_search_address(const struct pack_search *search, int item)
{
	return search->state->low[item];
}

/* Returns the section that failed most: the one with the greatest weight. */
static int pack_search_hardest(const struct pack_search *search)
{
	int hardest = 0;
	for (int s = 1; s < search->room->section_count; s++)
		if (search->state->weight[s] > search->state->weight[hardest])
			hardest = s;
	return hardest;
}

/*
 * Fewer buffers that do not fit: those that live around a step at which it is hardest, of those
 * as few as a proof is soon found for.  Every set of buffers that has them all does not fit
 * either.  `proof` is the answer to the question.  The count is 0 if no such set is known.
 */
struct pack_core {
	size_t count;
	const int *buffers; /* ascending */
};
static struct pack_core pack_core_find(struct run *run, const struct pack_question *question,
	const struct pack_answer *proof, struct arena *arena);

struct reducing {
	struct run *run;
	const struct packing *packing;
	int64_t capacity;
	uint64_t nodes, left; /* for one proof, for all that come */
	bool *set;            /* does not fit */
	bool *trial;
	size_t count;
};

/* In steps; 0: it lives then. */
static uint64_t distance_to(const struct buffer *buffer, int64_t step)
{
	if (buffer->start > step)
		return (uint64_t)buffer->start - (uint64_t)step;
	return buffer->end <= step ? (uint64_t)step - (uint64_t)buffer->end + 1 : 0;
}

/* A child that must take over can be kept if a parent comes in; a set that must not fit with
 * all else that comes has it only together with all of them. */
static void drop_orphans(const struct reducing *reducing, bool *set)
{
	const struct packing *packing = reducing->packing;
	for (bool again = true; again;) {
		again = false;
		for (size_t i = 0; i < packing->count; i++) {
			const struct buffer *child = &packing->buffers[i];
			if (!set[i] || !child->must_take_over)
				continue;
			for (size_t k = 0; k < child->parent_count && set[i]; k++)
				set[i] = set[child->parents[k]] ||
					 !packing_may_take(packing, i, (size_t)child->parents[k]);
			again |= !set[i];
		}
	}
}

/* If the trial still does not fit, it is the set. */
static bool try_set(struct reducing *reducing)
{
	struct arena *arena = arena_open();
	struct pack_question question = {.packing = reducing->packing,
		.chosen = reducing->trial,
		.capacity = reducing->capacity,
		.nodes = reducing->nodes};
	drop_orphans(reducing, reducing->trial);
	struct pack_answer answer = pack(reducing->run, &question, arena);
	arena_close(arena);
	reducing->left -= reducing->left < answer.nodes + 1 ? reducing->left : answer.nodes + 1;
	if (answer.status != VERDICT_NO)
		return false;
	memcpy(reducing->set, reducing->trial, reducing->count * sizeof *reducing->set);
	return true;
}

/* The smallest window around the step, doubling, whose buffers do not fit. */
static bool find_window(struct reducing *reducing, const bool *chosen, int64_t step)
{
	for (uint64_t reach = 1; reducing->left; reach = reach * 2 + 1) {
		bool all = true;
		for (size_t i = 0; i < reducing->count; i++) {
			bool is_chosen = !chosen || chosen[i];
			reducing->trial[i] =
				is_chosen &&
				distance_to(&reducing->packing->buffers[i], step) <= reach;
			all &= reducing->trial[i] == is_chosen;
		}
		if (try_set(reducing))
			return true;
		if (all)
			return false;
	}
	return false;
}

struct far {
	uint64_t distance;
	int64_t size;
	int buffer;
};

/* The farthest first, of those the smallest. */
static int compare_far(const void *left, const void *right)
{
	const struct far *a = left, *b = right;
	if (a->distance != b->distance)
		return a->distance > b->distance ? -1 : 1;
	if (a->size != b->size)
		return a->size < b->size ? -1 : 1;
	return (a->buffer > b->buffer) - (a->buffer < b->buffer);
}

/* One after the other is left out, as long as the rest does not fit; first in large groups. */
static void reducing_leave_out(struct reducing *reducing, int64_t step, struct arena *arena)
{
	struct far *far = arena_array(arena, struct far, reducing->count);
	size_t count = 0;
	for (size_t i = 0; i < reducing->count; i++) {
		const struct buffer *buffer = &reducing->packing->buffers[i];
		if (reducing->set[i])
			far[count++] =
				(struct far){distance_to(buffer, step), buffer->size, (int)i};
	}
	if (count)
		qsort(far, count, sizeof *far, compare_far);
	for (size_t group = count / 4 + 1;; group /= 2) {
		for (size_t k = 0; k < count && reducing->left; k += group) {
			bool changes = false;
			memcpy(reducing->trial, reducing->set, reducing->count * sizeof(bool));
			for (size_t m = k; m < k + group && m < count; m++) {
				changes |= reducing->trial[far[m].buffer];
				reducing->trial[far[m].buffer] = false;
			}
			if (changes)
				try_set(reducing);
		}
		if (group == 1)
			return;
	}
}

static struct pack_core pack_core_find(struct run *run, const struct pack_question *question,
	const struct pack_answer *proof, struct arena *arena)
{
	size_t count = question->packing->count;
	struct arena *scratch = arena_open();
	struct reducing reducing = {run, question->packing, question->capacity,
		PACK_CORE_NODES_LEAST + 2 * proof->nodes, 0, arena_array(scratch, bool, count),
		arena_array(scratch, bool, count), count};
	reducing.left = reducing.nodes * PACK_CORE_PROOFS_MOST;
	struct pack_core core = {0, NULL};
	if (find_window(&reducing, question->chosen, proof->hardest)) {
		int *buffers = arena_array(arena, int, count);
		reducing_leave_out(&reducing, proof->hardest, scratch);
		for (size_t i = 0; i < count; i++)
			if (reducing.set[i])
				buffers[core.count++] = (int)i;
		core.buffers = buffers;
	}
	arena_close(scratch);
	return core;
}

/*
 * A child that may take a parent's slot is left open at first: its first step does not count.  If
 * what is found shares bytes there, each choice of that child is tried.
 */
struct pack_attempt {
	struct run *run;
	const struct pack_question *question;
	struct arena *arena;
	int *takes;
	struct pack_answer answer;
	struct placement *placement;
};

static bool is_chosen(const struct pack_attempt *attempt, int i)
{
	return !attempt->question->chosen || attempt->question->chosen[i];
}

static bool may_take(const struct pack_attempt *attempt, int child, int parent)
{
	return is_chosen(attempt, parent) &&
	       packing_may_take(attempt->question->packing, (size_t)child, (size_t)parent);
}

static bool is_over(struct pack_attempt *attempt)
{
	uint64_t limit = attempt->question->nodes;
	return (limit && attempt->answer.nodes >= limit) || !run_spend(attempt->run, 0);
}

/* When the items of the section that failed most live together. */
static int64_t hardest_step(
	const struct shapes *shapes, const struct room *room, const struct pack_search *search)
{
	int section = pack_search_hardest(search);
	int64_t step = INT64_MIN;
	for (size_t k = room->section_first[section]; k < room->section_first[section + 1]; k++) {
		int shape = room->items[room->lives[k]].shape;
		if (shape >= 0)
			step = number_max(
				step, shapes->pieces[shapes->at[shape].piece_first].start);
	}
	return step;
}

/* The orders in which items are tried, by start: long lives first serve best. */
static const enum pack_order orders[] = {
	PACK_LONGEST, PACK_LARGEST, PACK_LONGEST, PACK_HIGHEST, PACK_LONGEST, PACK_LONG_AND_LARGE};
enum { ORDERS = sizeof orders / sizeof *orders, GUIDED_ORDERS = PACK_DRAWN };

/* A search and its restarts, in rounds of growing patience, so that it stays complete. */
struct restarts {
	struct pack_search *search;
	bool guided, drawn; /* every start by the last solution; every order is drawn */
	uint64_t start;
	double first, failures; /* of the first start in this round, of the next */
	double most;            /* that a round begins with */
};

static struct restarts open_restarts(
	const struct room *room, bool guided, bool drawn, double most, struct arena *arena)
{
	return (struct restarts){pack_search_open(room, arena), guided, drawn, 0,
		PACK_FIRST_FAILURES, PACK_FIRST_FAILURES, most};
}

static enum pack_order order_of(const struct restarts *restarts)
{
	uint64_t start = restarts->start;
	if (restarts->drawn || (restarts->guided && start / PACK_RETURN_STARTS % 2))
		return PACK_DRAWN;
	return restarts->guided
		       ? (enum pack_order)(start / (2 * PACK_RETURN_STARTS) % GUIDED_ORDERS)
		       : orders[start % ORDERS];
}

static void begin_round(struct restarts *restarts)
{
	uint64_t starts = restarts->guided ? PACK_RETURN_ROUND_STARTS : PACK_ROUND_STARTS;
	int percent = restarts->guided ? PACK_RETURN_ROUND_PERCENT : PACK_ROUND_PERCENT;
	if (!restarts->start || restarts->start % starts)
		return;
	restarts->first = fmin(restarts->first * (percent / 100.0), restarts->most);
	restarts->failures = restarts->first;
	pack_search_forget(restarts->search);
}

static enum verdict next_start(struct pack_attempt *attempt, struct restarts *restarts)
{
	struct pack_search *search = restarts->search;
	uint64_t limit = attempt->question->nodes, before = pack_search_nodes(search);
	begin_round(restarts);
	bool returns =
		restarts->guided || restarts->start % PACK_RETURN_STARTS == PACK_RETURN_STARTS - 1;
	enum verdict status = pack_search_run(search, attempt->run, (uint64_t)restarts->failures,
		limit ? limit - attempt->answer.nodes : 0, run_random(attempt->run, UINT64_MAX),
		order_of(restarts), returns);
	attempt->answer.nodes += pack_search_nodes(search) - before;
	attempt->answer.restarts++;
	if (restarts->start++ % PACK_PATIENT_STARTS == PACK_PATIENT_STARTS - 1 && !restarts->guided)
		restarts->failures *= PACK_PATIENT_PERCENT / 100.0;
	return status;
}

/* A second search, guided and drawn, joins one without a limit, and gets as many nodes: a
 * layout that is not found by then it often finds sooner.  That there is none, the first proves. */
static enum verdict search_room(struct pack_attempt *attempt, const struct shapes *shapes,
	const struct room *room, struct arena *arena, int64_t *addresses)
{
	const struct pack_question *question = attempt->question;
	struct restarts plain =
		open_restarts(room, question->returns, question->varied, INFINITY, arena);
	struct restarts joined = {0}, *turn = &plain;
	enum verdict status = VERDICT_OPEN;
	while (status == VERDICT_OPEN && !is_over(attempt)) {
		uint64_t nodes = pack_search_nodes(plain.search);
		turn = &plain;
		if (!question->nodes && !question->returns && nodes >= PACK_JOIN_NODES) {
			if (!joined.search)
				joined = open_restarts(
					room, true, true, PACK_JOINED_FAILURES_MOST, arena);
			if (pack_search_nodes(joined.search) < nodes)
				turn = &joined;
		}
		status = next_start(attempt, turn);
	}
	if (status != VERDICT_YES)
		attempt->answer.hardest = hardest_step(shapes, room, plain.search);
	for (int i = 0; status == VERDICT_YES && i < room->item_count; i++)
		if (room->items[i].shape >= 0)
			addresses[room->items[i].shape] = pack_search_address(turn->search, i);
	return status;
}

/* A child whose open choice the placement does not keep, or the head of its shape; -1: it is lawful. */
static int find_unlawful(const struct pack_attempt *attempt)
{
	const struct packing *packing = attempt->question->packing;
	struct packing_fault fault = packing_check(packing, attempt->placement);
	int buffers[] = {fault.a, fault.b};
	for (int k = 0; k < 2; k++) {
		int head =
			buffers[k] < 0 ? -1 : pack_head(attempt->takes, packing->count, buffers[k]);
		if (head >= 0 && attempt->takes[head] == TAKES_OPEN)
			return head;
	}
	return -1;
}

static enum verdict solve_choices(struct pack_attempt *attempt);

/* Every choice of one child. */
static enum verdict pack_attempt_decide(struct pack_attempt *attempt, int child)
{
	const struct buffer *buffer = &attempt->question->packing->buffers[child];
	enum verdict all = VERDICT_NO;
	for (size_t k = 0; k <= buffer->parent_count; k++) {
		bool is_parent = k < buffer->parent_count;
		if (is_parent ? !may_take(attempt, child, buffer->parents[k])
			      : buffer->must_take_over)
			continue;
		attempt->takes[child] = is_parent ? buffer->parents[k] : TAKES_NOBODYS;
		enum verdict status = solve_choices(attempt);
		if (status == VERDICT_YES)
			return status;
		if (status == VERDICT_OPEN)
			all = status;
		if (is_over(attempt))
			return VERDICT_OPEN;
	}
	attempt->takes[child] = TAKES_OPEN;
	return all;
}

static void write_placement(
	struct pack_attempt *attempt, const struct shapes *shapes, const int64_t *addresses)
{
	const struct packing *packing = attempt->question->packing;
	for (size_t i = 0; i < packing->count; i++) {
		int shape = shapes->of[i];
		attempt->placement->addresses[i] =
			shape < 0 ? shapes->addresses[i] : addresses[shape] * shapes->unit;
	}
	for (size_t i = 0; i < packing->count; i++) {
		int64_t address = attempt->placement->addresses[i];
		const struct buffer *buffer = &packing->buffers[i];
		attempt->placement->in_place_of[i] = -1;
		for (size_t k = 0; k < buffer->parent_count && address != UNPLACED; k++)
			if (attempt->placement->addresses[buffer->parents[k]] == address &&
				may_take(attempt, (int)i, buffer->parents[k]))
				attempt->placement->in_place_of[i] = buffer->parents[k];
	}
}

static enum verdict solve_choices(struct pack_attempt *attempt)
{
	struct arena *arena = arena_open();
	enum verdict status = VERDICT_YES;
	struct shapes shapes = pack_shapes(attempt->question->packing, attempt->question->chosen,
		attempt->question->capacity, attempt->takes, arena);
	struct rooms rooms = {0};
	if (shapes.culprit >= 0) {
		status = VERDICT_NO;
		attempt->answer.hardest = attempt->question->packing->buffers[shapes.culprit].start;
	} else {
		rooms = pack_rooms(&shapes, arena);
	}
	if (rooms.too_large) {
		status = VERDICT_OPEN;
		attempt->answer.is_too_large = true;
	}
	int64_t *addresses = arena_array(arena, int64_t, shapes.count);
	for (size_t r = 0; status == VERDICT_YES && r < rooms.count; r++)
		status = search_room(attempt, &shapes, &rooms.at[r], arena, addresses);
	int child = -1;
	if (status == VERDICT_YES) {
		write_placement(attempt, &shapes, addresses);
		child = find_unlawful(attempt);
	}
	arena_close(arena);
	return child < 0 ? status : pack_attempt_decide(attempt, child);
}

/* False if some child can take no slot that it must take. */
static bool open_choices(struct pack_attempt *attempt)
{
	const struct packing *packing = attempt->question->packing;
	for (size_t i = 0; i < packing->count; i++) {
		const struct buffer *child = &packing->buffers[i];
		int lawful = 0, last = TAKES_NOBODYS;
		attempt->takes[i] = TAKES_NOBODYS;
		if (!is_chosen(attempt, (int)i))
			continue;
		for (size_t k = 0; k < child->parent_count; k++)
			if (may_take(attempt, (int)i, child->parents[k])) {
				lawful++;
				last = child->parents[k];
			}
		if (child->must_take_over) {
			if (!lawful)
				return false;
			attempt->takes[i] = lawful == 1 ? last : TAKES_OPEN;
		} else if (lawful && child->size && child->start < child->end) {
			attempt->takes[i] = TAKES_OPEN;
		}
	}
	return true;
}

struct pack_answer pack(struct run *run, const struct pack_question *question, struct arena *arena)
{
	size_t count = question->packing->count;
	struct pack_attempt attempt = {
		run, question, arena, arena_array(arena, int, count), {0}, NULL};
	attempt.placement = arena_new(arena, struct placement);
	attempt.placement->count = count;
	attempt.placement->addresses = arena_array(arena, int64_t, count);
	attempt.placement->in_place_of = arena_array(arena, int, count);
	attempt.answer.status = open_choices(&attempt) ? solve_choices(&attempt) : VERDICT_NO;
	if (attempt.answer.status == VERDICT_YES)
		attempt.answer.placement = attempt.placement;
	if (attempt.answer.status == VERDICT_NO && question->explain) {
		struct pack_core core = pack_core_find(run, question, &attempt.answer, arena);
		attempt.answer.core_count = core.count;
		attempt.answer.core = core.buffers;
	}
	return attempt.answer;
}
