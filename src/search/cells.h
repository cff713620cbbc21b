#ifndef SEARCH_CELLS_H
#define SEARCH_CELLS_H

#include "search/space.h"

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

int cell_bounds_count(const struct space *space);

/* The cell of a mapping, in the arena. */
struct cell cell_of(struct arena *arena, const struct space *space, const struct mapping *mapping);

/* Its residency and spatial bounds; temporal bounds 1, orders as in space->blank. */
void cell_set(const struct space *space, const struct cell *cell, struct mapping *out);

/* By spatial bounds, then residency. */
int cell_compare(const struct space *space, const struct cell *a, const struct cell *b);

/*
 * Calls visit with every cell, in the order of cell_compare, until it says no: spatial bounds
 * within the domain, no more of them in a block than it has instances, divisors of the extents
 * that temporal bounds of the domain can complete.  False if it was stopped, or if there are
 * more residencies than a uint64_t can count.
 */
bool cells_each(
	const struct space *space, bool (*visit)(const struct cell *cell, void *user), void *user);

#endif
