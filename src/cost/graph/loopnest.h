#ifndef COST_GRAPH_LOOPNEST_H
#define COST_GRAPH_LOOPNEST_H

#include "cost/nest/nest.h"
#include "model/graph/box_nest.h"
#include "model/graph/op_mapping.h"

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
	int64_t copies; /* cores that hold the same slice without a loop that tells them apart */
	uint32_t all, reductions; /* masks of loops */
};

/* The nest of a mapping; BUG when a factor does not divide the units it is meant for. */
struct loopnest loopnest_make(const struct arch *arch, const struct workload *workload,
	const struct op *op, const struct mapping *mapping);

/* Hands the slices of a move to the cores of its output's view. */
struct move;
void loopnest_move(struct loopnest *nest, const struct move *move);

/* Tiles loop l anew: `tiles` divides its units on one core. */
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

/* NULL where the computes of the op are no nests.  Counts are 0 where there is no model, and with
 * a verdict that has none. */
struct arena;
const struct inner_cost *inner_cost_make(
	const struct inner_question *question, struct arena *arena);

/* Words of the output's tile in the scratchpad, and its updates and reads there. */
struct inner_sums {
	int64_t words, updates, reads;
};
struct inner_sums inner_cost_sums(const struct inner_cost *inner);

#endif
