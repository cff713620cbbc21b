#ifndef SEARCH_COMPLETIONS_H
#define SEARCH_COMPLETIONS_H

#include "base/number.h"
#include "search/nest/space.h"

/*
 * Which products the temporal bounds of the innermost storage levels can make, perfect
 * factors within the domain: what a walk from outside may leave to the levels inside.
 * Storage levels are numbered from 0, the innermost.
 */
struct completions {
	int count;                    /* storage levels */
	int tiling[ARCH_LEVELS_MOST]; /* of the space: the temporal loops of a storage level */
	int level[ARCH_LEVELS_MOST];  /* of the hierarchy */
	struct divisors divisors[SHAPE_DIMENSIONS_MOST];
	const bool *makes[SHAPE_DIMENSIONS_MOST]; /* [level * divisors + divisor] */
};

struct completions *completions_make(struct arena *arena, const struct space *space);

/* Whether levels 0 .. j together can make `product` of dimension d, a divisor of its extent; with
 * j = -1, whether it is 1. */
bool completions_make_up(const struct completions *completions, int j, int d, int64_t product);

#endif
