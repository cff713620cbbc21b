#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include "base/arena.h"

#include <string.h>

/*
 * A growing array of any type in an arena:
 *
 *	struct array(int) numbers = {0};
 *	*array_add(arena, &numbers) = 7;
 *	for (size_t i = 0; i < numbers.count; i++) use(numbers.at[i]);
 *
 * Growing moves the elements; the old place stays allotted until the arena
 * ends.  New elements come zeroed.
 */
#define array(type)                                                                                \
	{                                                                                          \
		type *at;                                                                          \
		size_t count, capacity;                                                            \
	}

#define array_add(arena, array)                                                                    \
	((array)->count == (array)->capacity                                                       \
			? ((array)->at = array_grown((arena), (array)->at, (array)->count,         \
				   &(array)->capacity, sizeof *(array)->at))                       \
			: (array)->at,                                                             \
		&(array)->at[(array)->count++])

static inline void *array_grown(
	struct arena *arena, const void *at, size_t count, size_t *capacity, size_t size)
{
	*capacity = count ? count * 2 : 8;
	void *grown = arena_alloc_array(arena, *capacity, size);
	if (count)
		memcpy(grown, at, count * size);
	return grown;
}

#endif
