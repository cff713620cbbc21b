#include "base/array.h"

#include "base/arena.h"
#include "base/fatal.h"
#include "base/text.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>

uint64_t hash_bytes(const char *bytes, size_t length)
{
	uint64_t hash = HASH_START;
	for (size_t i = 0; i < length; i++)
		hash = hash_add(hash, (unsigned char)bytes[i]);
	return hash;
}

/* The name's slot, or the free one where it belongs; there is always a free one. */
static struct name_slot *find_slot(const struct names *names, const char *name)
{
	size_t i = hash_bytes(name, strlen(name)) & (names->capacity - 1);
	while (names->slots[i].name && !text_equal(names->slots[i].name, name))
		i = (i + 1) & (names->capacity - 1);
	return &names->slots[i];
}

static void names_grow(struct arena *arena, struct names *names)
{
	struct names grown = {.capacity = names->capacity ? 2 * names->capacity : 16};
	grown.slots = arena_array(arena, struct name_slot, grown.capacity);
	for (size_t i = 0; i < names->capacity; i++) {
		if (names->slots[i].name)
			*find_slot(&grown, names->slots[i].name) = names->slots[i];
	}
	grown.count = names->count;
	*names = grown;
}

int names_find(const struct names *names, const char *name)
{
	if (names->count == 0)
		return -1;
	const struct name_slot *slot = find_slot(names, name);
	return slot->name ? slot->number : -1;
}

void names_add(struct arena *arena, struct names *names, const char *name, int number)
{
	if (2 * (names->count + 1) > names->capacity)
		names_grow(arena, names);
	struct name_slot *slot = find_slot(names, name);
	if (slot->name)
		BUG("name '%s' is added twice", name);
	*slot = (struct name_slot){name, number};
	names->count++;
}

const char *names_add_like(struct arena *arena, struct names *names, const char *hint)
{
	char *name = arena_format(arena, "%s%s", isalpha((unsigned char)*hint) ? "" : "v", hint);
	for (char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c))
			*c = '_';
	const char *unique = name;
	for (int i = 2; names_find(names, unique) >= 0; i++)
		unique = arena_format(arena, "%s_%d", name, i);
	names_add(arena, names, unique, 0);
	return unique;
}

enum { BITS = 64 };

struct ranks ranks_open(struct arena *arena, size_t limit)
{
	struct ranks ranks = {.limit = limit};
	size_t words = limit;
	do {
		words = (words + BITS - 1) / BITS;
		ranks.levels[ranks.level_count++] = arena_array(arena, uint64_t, words);
	} while (words > 1);
	return ranks;
}

void ranks_add(struct ranks *ranks, size_t rank)
{
	for (int level = 0; level < ranks->level_count; level++, rank /= BITS)
		ranks->levels[level][rank / BITS] |= UINT64_C(1) << rank % BITS;
}

void ranks_remove(struct ranks *ranks, size_t rank)
{
	for (int level = 0; level < ranks->level_count; level++, rank /= BITS) {
		uint64_t *word = &ranks->levels[level][rank / BITS];
		*word &= ~(UINT64_C(1) << rank % BITS);
		if (*word)
			return;
	}
}

/* From a level's word that is not empty down to the member, least or greatest. */
static size_t ranks_descend(
	const struct ranks *ranks, int level, size_t word, uint64_t bits, bool least)
{
	for (;; level--) {
		int bit = least ? __builtin_ctzll(bits) : BITS - 1 - __builtin_clzll(bits);
		word = word * BITS + (size_t)bit;
		if (level == 0)
			return word;
		bits = ranks->levels[level - 1][word];
	}
}

size_t ranks_from(const struct ranks *ranks, size_t rank)
{
	if (rank >= ranks->limit)
		return SIZE_MAX;
	uint64_t bits = ranks->levels[0][rank / BITS] & ~UINT64_C(0) << rank % BITS;
	for (int level = 0;;) {
		if (bits)
			return ranks_descend(ranks, level, rank / BITS, bits, true);
		rank /= BITS;
		if (++level == ranks->level_count)
			return SIZE_MAX;
		size_t bit = rank % BITS;
		bits = bit == BITS - 1
			       ? 0
			       : ranks->levels[level][rank / BITS] & ~UINT64_C(0) << (bit + 1);
	}
}

size_t ranks_up_to(const struct ranks *ranks, size_t rank)
{
	if (!ranks->limit)
		return SIZE_MAX;
	rank = rank < ranks->limit ? rank : ranks->limit - 1;
	uint64_t bits = ranks->levels[0][rank / BITS] & ~UINT64_C(0) >> (BITS - 1 - rank % BITS);
	for (int level = 0;;) {
		if (bits)
			return ranks_descend(ranks, level, rank / BITS, bits, false);
		rank /= BITS;
		if (++level == ranks->level_count)
			return SIZE_MAX;
		bits = ranks->levels[level][rank / BITS] & ((UINT64_C(1) << rank % BITS) - 1);
	}
}
