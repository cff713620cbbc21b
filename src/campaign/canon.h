#ifndef CAMPAIGN_CANON_H
#define CAMPAIGN_CANON_H

#include "spec/step.h"

#include <stdint.h>

/*
 * Equality of trees, however and wherever they are written: digests, texts on one line, and trees that differ in sizes
 * of storages alone.  Two trees of equal tags, keys in the same order, and scalars are equal.  A digest is FNV-1a with
 * 128 bits.
 */
struct arena;

__extension__ typedef unsigned __int128 digest;

enum { DIGEST_TEXT = 33 };

digest digest_text(digest seed, const char *text);
void digest_print(digest value, char out[DIGEST_TEXT]);

/* Digests of nodes that stay for as long as it does, each computed once; others, of weight 0, are
 * looked through. */
struct canon;
struct canon *canon_open(struct arena *arena);
digest canon_digest(struct canon *canon, const struct node *node);

/* The same for files together: top-level keys in any order, but for equal ones; `sweep` says nothing. */
digest canon_digest_files(struct canon *canon, const struct node *const *files, size_t count);

/* "[latency, energy]"; a scalar as it is. */
const char *canon_text(struct arena *arena, const struct node *node);

/*
 * Bounds from proven latencies of other points.  Two problems are neighbours if their trees are equal but for the
 * sizes of storages in `architecture` (depth, memory_depth, entries, size, sizeKB), written as numbers above 0.
 *
 *	If no size of A is above that of B, the least latency of B is at most that of A.
 *
 * A size only limits the tiles: each mapping that fits A fits B, and its cycles follow from its counts,
 * fan-outs and bandwidths, which are equal.  It does not hold
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

/* The sizes of a point, and a digest of all else. */
struct neighbour;
const struct neighbour *neighbour_make(
	struct arena *arena, const struct node *const *files, size_t count); /* NULL: it has none */

/* The least that is proven of a point with no size above its own; 0: nothing is. */
double neighbours_ceiling(struct neighbours *neighbours, const struct neighbour *point);

void neighbours_add(struct neighbours *neighbours, const struct neighbour *point, double proven);

#endif
