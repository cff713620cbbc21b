#ifndef SEARCH_CELLS_H
#define SEARCH_CELLS_H

#include "search/nest/feasible.h"

#include <stddef.h>

/*
 * The outer choices of a mapspace of perfect factors: which levels keep what, and the
 * spatial bounds of every fan-out.  Each choice is a cell: all mappings that have it.
 * Together the cells are the whole space, and no mapping is in two of them.
 */
struct cell {
	uint64_t residency;      /* bits of space->free */
	const uint32_t *spatial; /* by spatial tiling level of the space, then dimension */
};

/* Its residency and spatial bounds; temporal bounds 1, orders as in space->blank. */
void cell_set(const struct space *space, const struct cell *cell, struct mapping *out);

/*
 * Which cells there are: spatial bounds within the domain, no more of them in a block than it has
 * instances, divisors of the extents that temporal bounds of the domain can complete; any residency.
 */
struct cells {
	const struct space *space;
	const struct completions *completions;
};
struct cells cells_make(struct arena *arena, const struct space *space);

/* UINT64_MAX: that many or more. */
uint64_t cells_count(const struct cells *cells);

/* Calls visit with every cell, those of the same spatial bounds together, until it says no; false
 * then.  There must be fewer than UINT64_MAX. */
bool cells_each(
	const struct cells *cells, bool (*visit)(const struct cell *cell, void *user), void *user);

#endif
