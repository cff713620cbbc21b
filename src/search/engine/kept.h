#ifndef SEARCH_KEPT_H
#define SEARCH_KEPT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Answers that threads share, by question: what one of them has found out no other need find out again
 * (memoisation; Michie, Nature 218, 1968).  Keys and values are bytes; equal keys must have equal values.  Two
 * threads may answer the same question at once: the first answer stays, and since it is that of the other, too,
 * nothing depends on the number of threads, the tally included.
 */
struct kept;

struct kept *kept_open(void);
void kept_close(struct kept *kept); /* NULL is fine */

/* Closes it, but what it holds lives as long as the arena.  NULL is fine. */
struct arena;
void kept_leave(struct kept *kept, struct arena *arena);

/* The value of a key, aligned for any type; it stays where it is until the end.  NULL: there is none. */
const void *kept_find(struct kept *kept, const void *key, size_t size);

/* Keeps a copy of a value, unless the key has one: that one is the answer.  `work`: what it took to find
 * it, in ticks. */
const void *kept_add(struct kept *kept, const void *key, size_t size, const void *value,
	size_t value_size, uint64_t work);

struct kept_tally {
	uint64_t asked;    /* calls of kept_find */
	uint64_t distinct; /* keys: so many questions had to be answered */
	uint64_t work;     /* of these */
};
struct kept_tally kept_tally(struct kept *kept);

#endif
