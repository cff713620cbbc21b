#ifndef COST_GRAPH_FOOTPRINT_H
#define COST_GRAPH_FOOTPRINT_H

#include "cost/nest/nest.h"
#include "model/graph/box_nest.h"
#include "model/graph/op_mapping.h"
#include "model/graph/plan.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * An op's loops as a mapping divides and tiles them.  Loop l is cut into
 * split * tiles chunks of `chunk` elements (the last may be ragged); chunk
 * number q = slot * tiles + tile, where `slot` comes from the core and `tile`
 * from the temporal loop at LX.
 */
enum { LOOPNEST_CORES_MOST = 64 }; /* what a core mask can name */

struct loopnest_loop {
	int64_t extent, grain, units;
	int64_t split, tiles, chunk;
	int64_t divisor; /* slot on core c: c / divisor mod split */
	bool reduction;
};

struct loopnest {
	int loop_count;
	struct loopnest_loop loops[OP_LOOPS_MOST];
	int order[OP_LOOPS_MOST]; /* of the tile loops, innermost first */
	int64_t cores;
	int64_t copies; /* cores that hold the same slice without a loop in which they differ */
	uint32_t all, reductions; /* masks of loops */
};

/* The nest of a mapping; BUG when a factor does not divide the units it is meant for. */
struct loopnest loopnest_make(const struct arch *arch, const struct workload *workload,
	const struct op *op, const struct mapping *mapping);

/* Hands the slices of a move to the cores of its output's view. */
struct move;
void loopnest_move(struct loopnest *nest, const struct move *move);

/* Changes the tiles of loop l: `tiles` divides its units on one core. */
void loopnest_tile(struct loopnest *nest, int l, int64_t tiles);

/* First and last element of chunk q. */
static inline int64_t loopnest_first(const struct loopnest_loop *loop, int64_t q)
{
	return q * loop->chunk;
}

static inline int64_t loopnest_last(const struct loopnest_loop *loop, int64_t q)
{
	return number_min(loop->extent, (q + 1) * loop->chunk) - 1;
}

/* The slot of every loop on one core. */
void loopnest_slots(const struct loopnest *nest, int64_t core, int64_t *slots);

/* Products over the loops of a mask; false when they do not fit. */
int64_t loopnest_tiles(const struct loopnest *nest, uint32_t mask, bool *fits);
int64_t loopnest_splits(const struct loopnest *nest, uint32_t mask);

/* Scalar operations of the cores together, or with these slots. */
int64_t loopnest_computes(const struct loopnest *nest, const int64_t *slots, bool *fits);

/*
 * The inner nest of an op (model/graph/box_nest.h), counted by cost/nest: once, since all tiles on all
 * cores have one shape.
 */
struct inner_cost {
	struct inner_nest nest;
	const struct nest_model *model;
	int home, scratchpad;           /* levels of the hierarchy; -1: it does not reach so far */
	int64_t tiles;                  /* times that a core carries it out; 1 for a whole op */
	struct nest_counts counts, all; /* of one time; of all tiles and cores */
	struct nest_score score;        /* of one time */
	const char *why;                /* what stands against it; NULL */
};

/* NULL if the computes of the op are not nests.  Counts are 0 without a model, and with a verdict that
 * has none. */
struct arena;
const struct inner_cost *inner_cost_make(
	const struct inner_question *question, struct arena *arena);

/* Words of the output's tile in the scratchpad, and its updates and reads there. */
struct inner_sums {
	int64_t words, updates, reads;
};
struct inner_sums inner_cost_sums(const struct inner_cost *inner);

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

/* True if a box can change from tile to tile. */
bool footprint_moves(const struct footprint *footprint);

/* No tiling of the nest fetches fewer sticks than this. */
int64_t footprint_least(const struct footprint *footprint, bool *fits);

/*
 * Broadcasts of a graph, in closed form (cost/transfer/broadcast.h): the two queues of the root load and
 * store chunk by chunk.  A rate is the least of that of the queue, of HBM, of LX's fill port and,
 * between ranks, of a link.
 */

/* Cycles of the step of a broadcast `op` with these tiles; false when they cannot be counted. */
bool staging_cycles(const struct arch *arch, const struct workload *workload, const struct op *op,
	const struct staging *staging, struct arena *arena, int64_t *cycles);

/* Links that a byte crosses on its ways from the root to all ranks, added up. */
int64_t staging_hops(const struct arch *arch, int root);

/*
 * The price of a relayout (point 13 of model/graph/plan.h), from the two views alone.  A sender and a
 * receiver have one box in common, the sticks that are in both their slices.  A sender sends it up to the
 * receivers of the same slice that are at most half of the ring away that way, itself among them, and
 * down to the others; on its way it is read once, crosses every link up to the last of them once, and is
 * written once at each.
 *
 *	cycles = max(busiest link and direction, busiest read or write port of LX) + runs x time of a run
 *
 * A run is a row of sticks that follow each other both where they come from and where they go.  Every
 * core sets up those that it sends and those that it receives, both at the same time, before anything
 * moves; the busiest core counts.  How long one takes depends on how many boxes a slice is cut
 * into, the larger of the two sides.  (R2 of the published compiler has this form, with a link that is busy
 * for split / 4 of what a core has, as in a shuffle among `split` neighbours.)
 *
 * Simulated cycles are never below these.
 */
struct relayout_price {
	struct step_count counts;  /* operand 0: LX_DRAIN; 1: LX_FILL and DATA_RING */
	int64_t cycles;            /* of the phase */
	int64_t link, port, setup; /* of its parts */
	int64_t runs;              /* of the busiest core */
	int64_t parts;
	double energy_pj;
	bool fits; /* else it cannot be done, or not be counted, and the rest has no meaning */
};

/* Returns `fits`: false if the machine has no data ring, if no core holds a slice that is needed, or if a count
 * does not fit. */
bool relayout_price(const struct arch *arch, const struct layout *layout, const struct view *from,
	const struct view *to, struct relayout_price *out);

#endif
