#include "sim/nest/nest_groups.h"

#include "base/arena.h"

void nest_groups_open(struct nest_groups *groups, int64_t children, struct arena *arena)
{
	groups->slot_count = 2;
	while (groups->slot_count < 2 * children)
		groups->slot_count *= 2;
	groups->leader = arena_array(arena, int64_t, children);
	groups->behind = arena_array(arena, int64_t, children);
	groups->tail = arena_array(arena, int64_t, children);
	groups->slots = arena_array(arena, int64_t, groups->slot_count);
}

/* The leader of the group that child n joins: itself, if there is none. */
static int64_t find_leader(struct nest_groups *groups, int64_t slot_count, int ranks,
	const struct nest_words *sets, int64_t n, const int64_t *apart)
{
	uint64_t hash = nest_words_hash(ranks, &sets[n]) + (apart ? (uint64_t)apart[n] : 0);
	hash *= UINT64_C(0xd6e8feb86659fd93);
	int64_t slot = (int64_t)(hash >> 32) & (slot_count - 1);
	for (;; slot = (slot + 1) & (slot_count - 1)) {
		int64_t other = groups->slots[slot];
		if (other < 0) {
			groups->slots[slot] = n;
			return n;
		}
		if ((!apart || apart[other] == apart[n]) &&
			nest_words_equal(ranks, &sets[other], &sets[n]))
			return other;
	}
}

void nest_groups_find(struct nest_groups *groups, int ranks, const struct nest_words *sets,
	int64_t children, const int64_t *apart, const bool *without)
{
	int64_t slot_count = 2;
	while (slot_count < 2 * children)
		slot_count *= 2;
	for (int64_t i = 0; i < slot_count; i++)
		groups->slots[i] = -1;
	groups->words = 0;
	for (int64_t n = 0; n < children; n++) {
		groups->leader[n] = groups->behind[n] = -1;
		if (!sets[n].count || (without && without[n]))
			continue;
		int64_t leader = find_leader(groups, slot_count, ranks, sets, n, apart);
		groups->leader[n] = leader;
		groups->tail[n] = n;
		if (leader == n) {
			groups->words += sets[n].count;
			continue;
		}
		groups->behind[groups->tail[leader]] = n;
		groups->tail[leader] = n;
	}
}
