#ifndef PLACE_PACK_PAIRS_H
#define PLACE_PACK_PAIRS_H

#include "base/arena.h"

#include <stdint.h>

/*
 * Parts of two lists of sizes that add up to the same, as bits: of what ends at a wall, and of
 * what begins there.  With many sizes only those pairs in which one part, or all but it, is small.
 */
enum { SIDE_MOST = 60 };

struct pair {
	uint64_t ends, begins;
};

struct pairs {
	struct pair *at;          /* by the lowest bit of `ends`, then those of few sizes first */
	int first[SIDE_MOST + 2]; /* with lowest bit k: at[first[k] .. first[k + 1]) */
};

/* No more than SIDE_MOST sizes each. */
struct pairs pairs_find(const int64_t *ends, int end_count, const int64_t *begins, int begin_count,
	struct arena *arena);

#endif
