#ifndef BASE_RANKS_H
#define BASE_RANKS_H

#include <stddef.h>
#include <stdint.h>

/*
 * A set of numbers below a limit that finds the next and the last member beside a number: words of
 * bits, and above them words that say which of the words below are not empty.  Each question
 * takes a word for each power of 64 in the limit.
 */
struct arena;

enum { RANKS_LEVELS_MOST = 11 };

struct ranks {
	size_t limit;
	int level_count;
	uint64_t *levels[RANKS_LEVELS_MOST];
};

struct ranks ranks_open(struct arena *arena, size_t limit);
void ranks_add(struct ranks *ranks, size_t rank);
void ranks_remove(struct ranks *ranks, size_t rank);

/* The least member >= rank, the greatest <= rank; SIZE_MAX: there is none. */
size_t ranks_from(const struct ranks *ranks, size_t rank);
size_t ranks_up_to(const struct ranks *ranks, size_t rank);

#endif
