#ifndef PLACE_SPILL_TALLY_H
#define PLACE_SPILL_TALLY_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * How often sets were asked about.  A set goes by its hash, the exclusive or of the keys of its
 * items; two that share theirs count as one.
 */
struct spill_tally {
	struct arena *arena;
	uint64_t *keys; /* by item */
	int item_count;
	struct spill_tally_entry {
		uint64_t hash;
		int count; /* 0: nothing is here */
	} * entries;
	size_t room, used; /* the room is a power of two, at least twice what is used */
};

struct spill_tally spill_tally_make(struct arena *arena, int item_count);
uint64_t spill_tally_hash(const struct spill_tally *tally, const bool *kept);
void spill_tally_add(struct spill_tally *tally, uint64_t hash);
int spill_tally_of(const struct spill_tally *tally, uint64_t hash);

#endif
