#include "solvers/place/pack/search.h"

#include "base/random.h"
#include "solvers/place/pack/options.h"
#include "solvers/place/pack/state.h"

#include <math.h>
#include <string.h>

/*
 * States that have failed.  What can still come of some sections depends only on the levels of the
 * items that are left in them, not on how what is below them came there.  Kept from one start to
 * the next; where two states meet, the newer one stays.
 */
struct memo;

struct memo_key {
	uint64_t high, low;
};

static struct memo *memo_open(const struct state *state, struct arena *arena);

/* The key of what is left in sections [from, to), which nothing left reaches out of. */
static struct memo_key memo_key(const struct memo *memo, int from, int to);

/* Has this failed?  Then the conflict is the one it failed with. */
static bool memo_find(const struct memo *memo, struct memo_key key);

/* It has failed, with the conflict that is there now. */
static void memo_add(struct memo *memo, struct memo_key key);

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

static uint64_t mix(uint64_t z)
{
	z = (z ^ (z >> 32)) * UINT64_C(0xd6e8feb86659fd93);
	return z ^ (z >> 32);
}

static struct memo_key memo_key(const struct memo *memo, int from, int to)
{
	const int64_t *level = memo->state->level;
	struct memo_key key = {(uint64_t)from << 32 | (uint64_t)to, 1};
	for (int i = memo->first[from]; i < memo->first[to]; i++) {
		if (level[i] == PLACED)
			continue;
		uint64_t mixed = mix((uint64_t)level[i] * UINT64_C(0x9e3779b97f4a7c15) +
				     (uint64_t)(i + 1) * UINT64_C(0xbf58476d1ce4e5b9));
		key.high += mixed;
		key.low += (mixed ^ (mixed >> 29)) * UINT64_C(0x94d049bb133111eb);
	}
	return key;
}

static size_t row_of(const struct memo *memo, struct memo_key key)
{
	return (size_t)mix(key.high ^ (key.low >> 7)) & (memo->rows - 1);
}

static bool memo_find(const struct memo *memo, struct memo_key key)
{
	size_t row = row_of(memo, key);
	if (memo->keys[row].high != key.high || memo->keys[row].low != key.low)
		return false;
	struct conflict *conflict = memo->state->conflict;
	if (conflict)
		memcpy(conflict->set, memo->conflicts + row * conflict->words,
			conflict->words * sizeof *conflict->set);
	return true;
}

static void put(struct memo *memo, struct memo_key key, const uint64_t *set, size_t words)
{
	size_t row = row_of(memo, key);
	memo->keys[row] = key;
	memcpy(memo->conflicts + row * words, set, words * sizeof *set);
}

static void grow(struct memo *memo, size_t words)
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
			put(memo, old.keys[row], old.conflicts + row * words, words);
}

static void memo_add(struct memo *memo, struct memo_key key)
{
	const struct conflict *conflict = memo->state->conflict;
	size_t words = conflict ? conflict->words : 0;
	if (++memo->added == memo->rows)
		grow(memo, words);
	put(memo, key, conflict ? conflict->set : memo->conflicts, words);
}

enum outcome { DONE, FAILED, ENDED };

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

/* The section to branch on; -1: all is placed. */
static int choose(const struct pack_search *search, int from, int to, int *options)
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

/* Is item i, which may stand on this floor, tried before j, which may too? */
static bool is_better(const struct pack_search *search, int i, int j, int64_t floor)
{
	bool i_returns = search->returns && search->last[i] == floor;
	bool j_returns = search->returns && search->last[j] == floor;
	return i_returns != j_returns ? i_returns : search->priority[i] >= search->priority[j];
}

/* The best last; -1, to leave the floor empty, is tried last. */
static void collect(struct pack_search *search, int s)
{
	const struct room *room = search->room;
	const struct state *state = search->state;
	size_t first = search->value_count;
	if (state_slack(state, s) > 0)
		add_value(search, -1), first++;
	for (size_t k = room->section_first[s]; k < room->section_first[s + 1]; k++) {
		int i = room->lives[k];
		if (!state_may_stand(state, i, state->floor[s]))
			continue;
		add_value(search, i);
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

static enum outcome solve_sections(struct pack_search *search, int from, int to);

/* Parts between which no life is left to reach have nothing to do with each other. */
static enum outcome solve_part(struct pack_search *search, int from, int to)
{
	for (int s = from + 1; s < to; s++)
		if (!search->state->crossing[s]) {
			enum outcome outcome = solve_sections(search, from, s);
			if (outcome != DONE)
				return outcome;
			from = s;
		}
	return solve_sections(search, from, to);
}

/* What the failures of the values tried so far at this depth are about. */
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
static enum outcome try_values(struct pack_search *search, int from, int to, int s, size_t bottom)
{
	size_t mark = search->state->trail_count;
	for (bool is_first = true; search->value_count > bottom; is_first = false) {
		int value = search->values[--search->value_count];
		if (!spend(search))
			return ENDED;
		if (try_value(search, s, value)) {
			enum outcome outcome = solve_part(search, from, to);
			if (outcome != FAILED)
				return outcome;
		}
		if (!state_undo(search->state, mark))
			return FAILED;
		join_conflicts(search, s, is_first, search->value_count == bottom);
	}
	return FAILED;
}

static enum outcome branch(struct pack_search *search, int from, int to, int s)
{
	size_t bottom = search->value_count;
	if (search->depth == PACK_DEPTH_MOST)
		return ENDED;
	struct memo_key key = memo_key(search->memo, from, to);
	if (memo_find(search->memo, key))
		return FAILED;
	search->depth++;
	collect(search, s);
	enum outcome outcome = try_values(search, from, to, s, bottom);
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

static enum outcome solve_sections(struct pack_search *search, int from, int to)
{
	struct conflict *conflict = search->state->conflict;
	for (;;) {
		int options = 0, s = choose(search, from, to, &options);
		if (s < 0)
			return DONE;
		if (options > 1)
			return branch(search, from, to, s);
		if (options == 0) {
			conflict_clear(conflict);
			conflict_add(conflict, because_section(s));
			search->state->weight[s] += 1;
			return FAILED;
		}
		size_t bottom = search->value_count;
		collect(search, s);
		search->value_count = bottom;
		if (!spend(search))
			return ENDED;
		if (!try_value(search, s, search->values[bottom]))
			return FAILED;
		for (int t = from + 1; t < to; t++)
			if (!search->state->crossing[t])
				return solve_part(search, from, to);
	}
}

struct pack_search *pack_search_open(const struct room *room, struct arena *arena)
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

/* What widths and sizes are raised to, where that is drawn: widths are worth more. */
struct powers {
	double width, size;
};

static struct powers draw_powers(struct random *random)
{
	double width = (double)random_below(random, 1 << 20) / (1 << 19);
	double size = (double)random_below(random, 1 << 20) / (1 << 20);
	return (struct powers){1 + width, size};
}

static double value_of(const struct pack_item *item, enum pack_order order, struct powers powers)
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

static bool start(struct pack_search *search, uint64_t seed, enum pack_order order)
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
		search->priority[i] = value_of(&room->items[i], order, powers) *
				      (1 - spread + 2 * spread * noise);
	}
	return state_start(search->state);
}

enum verdict pack_search_run(struct pack_search *search, struct run *run, uint64_t failures,
	uint64_t nodes, uint64_t seed, enum pack_order order, bool returns)
{
	search->returns = returns;
	search->run = run;
	search->failures = 0;
	search->failures_limit = failures;
	search->nodes_limit = nodes ? search->nodes + nodes : 0;
	search->is_out = false;
	if (!start(search, seed, order))
		return VERDICT_NO;
	enum outcome outcome = solve_part(search, 0, search->room->section_count);
	run_spend(run, search->nodes - search->charged);
	search->charged = search->nodes;
	return outcome == DONE ? VERDICT_YES : outcome == FAILED ? VERDICT_NO : VERDICT_OPEN;
}

void pack_search_forget(struct pack_search *search)
{
	for (int s = 0; s < search->room->section_count; s++)
		search->state->weight[s] = 1;
}

uint64_t pack_search_nodes(const struct pack_search *search)
{
	return search->nodes;
}

int64_t pack_search_address(const struct pack_search *search, int item)
{
	return search->state->low[item];
}

int pack_search_hardest(const struct pack_search *search)
{
	int hardest = 0;
	for (int s = 1; s < search->room->section_count; s++)
		if (search->state->weight[s] > search->state->weight[hardest])
			hardest = s;
	return hardest;
}
