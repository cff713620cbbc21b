#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Containers in an arena: growing arrays, binary search and heaps in them, tables of names, sets of numbers; and the
 * hash of all tables.
 *
 * A growing array of any type:
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

/* One step of FNV-1a, 64 bits (Fowler, Noll, Vo), from HASH_START on. */
#define HASH_START UINT64_C(0xcbf29ce484222325)
static inline uint64_t hash_add(uint64_t hash, uint64_t word)
{
	return (hash ^ word) * UINT64_C(0x100000001b3);
}

/* The same of bytes, one after the other. */
uint64_t hash_bytes(const char *bytes, size_t length);

/*
 * Binary search.  Sets `at` to the first index in [from, end) for which `before`, an expression of `at`, is false,
 * or to `end` if it is true for all.  Once false, it is false for all later indices:
 *
 *	size_t at;
 *	bisect(at, 0, count, names[at].number < number);
 */
#define bisect(at, from, end, before)                                                              \
	do {                                                                                       \
		size_t bisect_low = (size_t)(from), bisect_high = (size_t)(end);                   \
		while (bisect_low < bisect_high) {                                                 \
			(at) = bisect_low + (bisect_high - bisect_low) / 2;                        \
			if (before)                                                                \
				bisect_low = (at) + 1;                                             \
			else                                                                       \
				bisect_high = (at);                                                \
		}                                                                                  \
		(at) = bisect_low;                                                                 \
	} while (0)

/*
 * Heaps in arrays of any type; the first element comes before all others.  `before` is an expression of the pointers
 * a and b to two elements, true if *a comes before *b.  Each node has four children, which share a cache line.
 *
 *	heap_put(heap, count, item, a->time < b->time);   with room for one more
 *	heap_sink(heap, count, a->time < b->time);        after the first element was replaced
 *
 * To take the first away, replace it by the last, heap[--count], and let that sink.
 */
#define heap_put(heap, count, item, before)                                                        \
	do {                                                                                       \
		size_t heap_at = (count)++;                                                        \
		__typeof__(*(heap)) heap_item = (item), *a = &heap_item, *b;                       \
		while (heap_at && (b = &(heap)[(heap_at - 1) / 4], before)) {                      \
			(heap)[heap_at] = *b;                                                      \
			heap_at = (heap_at - 1) / 4;                                               \
		}                                                                                  \
		(heap)[heap_at] = heap_item;                                                       \
	} while (0)

#define heap_sink(heap, count, before)                                                             \
	do {                                                                                       \
		size_t heap_at = 0, heap_child;                                                    \
		__typeof__(*(heap)) heap_item = (heap)[0], *a, *b;                                 \
		while ((heap_child = 4 * heap_at + 1) < (count)) {                                 \
			size_t heap_end = heap_child + 4 < (count) ? heap_child + 4 : (count);     \
			b = &(heap)[heap_child];                                                   \
			for (a = b + 1; a < (heap) + heap_end; a++)                                \
				if (before)                                                        \
					b = a;                                                     \
			a = b;                                                                     \
			b = &heap_item;                                                            \
			if (!(before))                                                             \
				break;                                                             \
			(heap)[heap_at] = *a;                                                      \
			heap_at = (size_t)(a - (heap));                                            \
		}                                                                                  \
		(heap)[heap_at] = heap_item;                                                       \
	} while (0)

/*
 * A table from names to numbers, a hash table with linear probing; all zero is an empty table.
 * Names are kept by pointer and must live as long as the table.
 */
struct name_slot {
	const char *name; /* NULL: free */
	int number;
};

struct names {
	struct name_slot *slots;
	size_t count, capacity; /* capacity is 0 or a power of two */
};

/* The number of a name; -1 when it is unknown. */
int names_find(const struct names *names, const char *name);

/* Gives an unknown name a number >= 0.  Adding a name twice is a bug. */
void names_add(struct arena *arena, struct names *names, const char *name, int number);

/* Adds a name made from `hint` and returns it: of letters, digits and underscores, with "v" in front unless it begins with
 * a letter, and a number behind if it is known already. */
const char *names_add_like(struct arena *arena, struct names *names, const char *hint);

/*
 * A set of numbers below a limit that finds the members nearest to a number: words of bits, and above them words
 * with a bit for each word below that is not empty.  Each query reads a word for each power of 64 in the limit.
 */
enum { RANKS_LEVELS_MOST = 11 };

struct ranks {
	size_t limit;
	int level_count;
	uint64_t *levels[RANKS_LEVELS_MOST];
};

struct ranks ranks_open(struct arena *arena, size_t limit);
void ranks_add(struct ranks *ranks, size_t rank);
void ranks_remove(struct ranks *ranks, size_t rank);

/* The least member >= rank, the greatest <= rank; SIZE_MAX if there is none. */
size_t ranks_from(const struct ranks *ranks, size_t rank);
size_t ranks_up_to(const struct ranks *ranks, size_t rank);

#endif
