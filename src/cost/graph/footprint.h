#ifndef COST_FOOTPRINT_H
#define COST_FOOTPRINT_H

#include "cost/graph/loopnest.h"

/*
 * The boxes of sticks that the tiles of a nest touch of one operand: for every
 * device dimension but the stick itself, the interval that its affine index
 * takes over the tile's loop ranges.
 *
 * A dimension is *simple* when one loop alone walks it, that loop walks no
 * other dimension of the operand, and every chunk begins on a new index: then
 * different chunks have different boxes, all but the last of one size, and
 * sums over chunks are products of sums.  A dimension of which tiles leave the tensor is not simple.  The other dimensions that move
 * (2*p + r, or i twice) are *joint*; their chunks are enumerated.
 */
struct footprint_dim {
	const struct affine *host;
	const struct access *access;
	int64_t size; /* elements of the host dimension */
	int64_t per;  /* elements of the host dimension in one index */
	uint32_t loops;
	int loop; /* simple: its loop; else -1 */
};

struct footprint {
	const struct loopnest *nest;
	int dim_count; /* those that no loop walks are left out: their size is 1 */
	struct footprint_dim dims[LAYOUT_RANK_MOST];
	uint32_t simple, joint; /* masks of loops */
};

struct footprint footprint_make(const struct loopnest *nest, const struct workload *workload,
	const struct op *op, int operand);

/*
 * All sums are in sticks.  `slots` picks one core's slice; NULL sums over every
 * slice of the loops concerned.
 */

/* Over every chunk of the loops in `mask`; the box must not depend on others. */
int64_t footprint_sum(
	const struct footprint *footprint, uint32_t mask, const int64_t *slots, bool *fits);

struct footprint_fetch {
	int64_t transfers; /* sticks, an identical box for several cores once */
	int64_t fills;     /* sticks, every core's copy */
};

/* Boxes that differ from the same core's tile before, in tile order. */
struct footprint_fetch footprint_fetch(
	const struct footprint *footprint, const int64_t *slots, bool *fits);

/* The boxes of every core's first tile. */
struct footprint_fetch footprint_first(const struct footprint *footprint, bool *fits);

/* The largest box of any tile on any core. */
int64_t footprint_largest(const struct footprint *footprint, bool *fits);

/* Whether a box can change from tile to tile. */
bool footprint_moves(const struct footprint *footprint);

/* No tiling of the nest fetches fewer sticks than this. */
int64_t footprint_least(const struct footprint *footprint, bool *fits);

#endif
