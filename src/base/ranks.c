#include "base/ranks.h"

#include "base/arena.h"

#include <stdbool.h>

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
static size_t descend(const struct ranks *ranks, int level, size_t word, uint64_t bits, bool least)
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
			return descend(ranks, level, rank / BITS, bits, true);
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
			return descend(ranks, level, rank / BITS, bits, false);
		rank /= BITS;
		if (++level == ranks->level_count)
			return SIZE_MAX;
		bits = ranks->levels[level][rank / BITS] & ((UINT64_C(1) << rank % BITS) - 1);
	}
}
