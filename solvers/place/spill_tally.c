#include "solvers/place/spill_tally.h"

#include "base/random.h"

enum { ROOM_FIRST = 64 };

struct spill_tally spill_tally_make(struct arena *arena, int item_count)
{
	struct spill_tally tally = {.arena = arena,
		.keys = arena_array(arena, uint64_t, item_count),
		.item_count = item_count,
		.entries = arena_array(arena, struct spill_tally_entry, ROOM_FIRST),
		.room = ROOM_FIRST};
	struct random random = random_open(0, 0);
	for (int i = 0; i < item_count; i++)
		tally.keys[i] = random_next(&random);
	return tally;
}

uint64_t spill_tally_hash(const struct spill_tally *tally, const bool *kept)
{
	uint64_t hash = 0;
	for (int i = 0; i < tally->item_count; i++)
		if (kept[i])
			hash ^= tally->keys[i];
	return hash;
}

/* Where it is, or would be. */
static struct spill_tally_entry *find(const struct spill_tally *tally, uint64_t hash)
{
	size_t at = (size_t)hash & (tally->room - 1);
	while (tally->entries[at].count && tally->entries[at].hash != hash)
		at = (at + 1) & (tally->room - 1);
	return &tally->entries[at];
}

static void grow(struct spill_tally *tally)
{
	struct spill_tally old = *tally;
	tally->room *= 2;
	tally->entries = arena_array(tally->arena, struct spill_tally_entry, tally->room);
	for (size_t at = 0; at < old.room; at++)
		if (old.entries[at].count)
			*find(tally, old.entries[at].hash) = old.entries[at];
}

void spill_tally_add(struct spill_tally *tally, uint64_t hash)
{
	struct spill_tally_entry *entry = find(tally, hash);
	if (!entry->count && 2 * (tally->used + 1) > tally->room) {
		grow(tally);
		entry = find(tally, hash);
	}
	tally->used += !entry->count;
	entry->hash = hash;
	entry->count++;
}

int spill_tally_of(const struct spill_tally *tally, uint64_t hash)
{
	return find(tally, hash)->count;
}
