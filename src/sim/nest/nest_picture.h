#ifndef SIM_NEST_PICTURE_H
#define SIM_NEST_PICTURE_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/*
 * A picture of all that a machine's future depends on, as bytes: two states have equal pictures exactly
 * if the machine goes on alike from both.  Its parts are added in the same order every time.
 */
struct nest_picture {
	struct arena *arena;
	uint8_t *at;
	size_t count, room;
};

/* Numbers that grow by as much in each period as in the one before. */
struct nest_numbers {
	int64_t *at;
	size_t count;
};

static inline void nest_picture_add(struct nest_picture *picture, const void *bytes, size_t size)
{
	if (picture->count + size > picture->room) {
		size_t room = 2 * (picture->count + size);
		uint8_t *grown = arena_array(picture->arena, uint8_t, room);
		if (picture->count)
			memcpy(grown, picture->at, picture->count);
		picture->at = grown;
		picture->room = room;
	}
	memcpy(picture->at + picture->count, bytes, size);
	picture->count += size;
}

static inline void nest_picture_number(struct nest_picture *picture, int64_t number)
{
	nest_picture_add(picture, &number, sizeof number);
}

static inline bool nest_picture_equal(const struct nest_picture *a, const struct nest_picture *b)
{
	return a->count == b->count && memcmp(a->at, b->at, a->count) == 0;
}

#endif
