#include "solvers/place/pack/conflict.h"

#include "solvers/place/pack/options.h"

#include <string.h>

struct conflict *conflict_open(const struct room *room, struct arena *arena)
{
	size_t words = ((size_t)room->item_count + 63) / 64;
	if (words * (size_t)room->section_count > PACK_CONFLICT_WORDS_MOST)
		return NULL;
	struct conflict *conflict = arena_new(arena, struct conflict);
	*conflict = (struct conflict){.room = room,
		.words = words,
		.set = arena_array(arena, uint64_t, words),
		.sections = arena_array(arena, uint64_t, words * (size_t)room->section_count),
		.around = arena_array(arena, uint64_t, words * (size_t)room->section_count)};
	for (int s = 0; s < room->section_count; s++) {
		uint64_t *lives = conflict->sections + words * (size_t)s;
		for (size_t k = room->section_first[s]; k < room->section_first[s + 1]; k++)
			lives[room->lives[k] / 64] |= UINT64_C(1) << (room->lives[k] % 64);
	}
	for (int s = 0; s < room->section_count; s++) {
		uint64_t *around = conflict->around + words * (size_t)s;
		int first = s, end = s + 1;
		for (size_t k = room->section_first[s]; k < room->section_first[s + 1]; k++) {
			const struct pack_item *item = &room->items[room->lives[k]];
			first = item->first < first ? item->first : first;
			end = item->end > end ? item->end : end;
		}
		for (int t = first; t < end; t++)
			for (size_t w = 0; w < words; w++)
				around[w] |= conflict->sections[words * (size_t)t + w];
	}
	return conflict;
}

void conflict_clear(struct conflict *conflict)
{
	if (conflict)
		memset(conflict->set, 0, conflict->words * sizeof *conflict->set);
}

static void add_all(struct conflict *conflict, const uint64_t *table, int row)
{
	for (size_t w = 0; w < conflict->words; w++)
		conflict->set[w] |= table[conflict->words * (size_t)row + w];
}

void conflict_add(struct conflict *conflict, struct because because)
{
	if (!conflict)
		return;
	switch (because.kind) {
	case BECAUSE_ITEM:
		conflict->set[because.index / 64] |= UINT64_C(1) << (because.index % 64);
		break;
	case BECAUSE_SECTIONS:
		for (int t = because.index; t < because.end; t++)
			add_all(conflict, conflict->sections, t);
		break;
	case BECAUSE_EMPTY:
		add_all(conflict, conflict->around, because.index);
		break;
	}
}
