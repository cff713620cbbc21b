#ifndef PLACE_PACK_MERGE_H
#define PLACE_PACK_MERGE_H

#include "solvers/place/pack_room.h"

/*
 * Blocks: items of which it is known that they lie together.  Where nothing is to spare on either
 * side of a wall and just one item ends there, those that begin there take its very bytes; if
 * they all end at one time, they and it can be one block.  So can one that begins where several
 * end that began at one time.  Walls at which nothing else happens vanish.
 */
struct block {
	int first, end; /* sections of those that are left */
	int64_t size;
	int lower, upper; /* the blocks it is made of; -1: an item */
	int64_t offset;   /* of the upper one: 0 if it follows in time */
	int item;
	bool is_part; /* of another */
};

struct merged {
	int section_count, block_count;
	struct block *blocks; /* the items first */
	int64_t *spare;       /* by section */
};

/* Of a room all of whose items are alike everywhere and may lie anywhere. */
struct merged pack_merge(const struct room *room, struct arena *arena);

/* Where the items of a block lie if it lies there. */
void merged_lay(const struct merged *merged, int block, int64_t address, int64_t *addresses);

#endif
