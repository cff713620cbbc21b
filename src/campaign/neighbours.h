#ifndef CAMPAIGN_NEIGHBOURS_H
#define CAMPAIGN_NEIGHBOURS_H

#include "spec/step.h"

/*
 * What proven latencies of points say of others.  Two problems are neighbours when their trees are equal but for the
 * sizes of storages in `architecture` (depth, memory_depth, entries, size, sizeKB), written as numbers above 0.
 *
 *	If no size of A is above that of B, the least latency of B is at most that of A.
 *
 * For a size says only which tiles fit: each mapping that fits A fits B, and its cycles are made of its counts,
 * of fan-outs and of bandwidths, which are equal.  It does not hold
 *
 *	- of energies, which the built-in tables make of the sizes;
 *	- where a tile must fill a part of a storage (min_utilization), or constraints look for large tiles
 *	  (maximize_dims): such trees have no neighbours;
 *	- of more instances: mappings must fill them as well as constraints say;
 *	- of graphs, whose proofs are of a space that the planner makes from the size of LX; of networks, whose sums
 *	  are over two objectives as a rule; of recurrences and broadcasts, which have no sizes.
 *
 * All functions may be called by several threads.
 */
struct neighbours;
struct neighbours *neighbours_open(void);
void neighbours_close(struct neighbours *neighbours); /* NULL is fine */

/* What the sizes of a point are, and all else of it. */
struct neighbour;
struct arena;
const struct neighbour *neighbour_make(
	struct arena *arena, const struct node *const *files, size_t count); /* NULL: it has none */

/* The least that is proven of a point with no size above its own; 0: nothing is. */
double neighbours_ceiling(struct neighbours *neighbours, const struct neighbour *point);

void neighbours_add(struct neighbours *neighbours, const struct neighbour *point, double proven);

#endif
