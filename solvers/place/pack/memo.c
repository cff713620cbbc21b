#include "solvers/place/pack/memo.h"

#include "solvers/place/pack/options.h"

#include <string.h>

struct memo {
	const struct state *state;
	struct arena *arena;
	size_t rows; /* a power of two */
	size_t added;
	struct memo_key *keys;
	uint64_t *conflicts;
	int *first; /* the first item that starts in section s, or later */
};

struct memo *memo_open(const struct state *state, struct arena *arena)
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

struct memo_key memo_key(const struct memo *memo, int from, int to)
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

bool memo_find(const struct memo *memo, struct memo_key key)
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

void memo_add(struct memo *memo, struct memo_key key)
{
	const struct conflict *conflict = memo->state->conflict;
	size_t words = conflict ? conflict->words : 0;
	if (++memo->added == memo->rows)
		grow(memo, words);
	put(memo, key, conflict ? conflict->set : memo->conflicts, words);
}
