#ifndef COST_GRAPH_TRAFFIC_H
#define COST_GRAPH_TRAFFIC_H

#include "cost/graph/footprint.h"
#include "model/graph/plan.h"

/*
 * The enumerating part of footprints: the joint dimensions of an operand, by
 * visiting every chunk of the loops that walk them.
 */
struct walk_interval {
	int64_t first, count;
};

/* The interval of a dimension in the tile whose loops have the chunk numbers given. */
struct walk_interval walk_interval(
	const struct loopnest *nest, const struct footprint_dim *dim, const int64_t *chunks);

/* Tiles [from, to) of a loop. */
struct walk_range {
	int64_t from, to;
};

/* The joint part of footprint_sum, and its largest box. */
int64_t walk_sum(
	const struct footprint *footprint, const int64_t *slots, int64_t *largest, bool *fits);

/*
 * The joint part of a fetch in the tiles of `ranges`: the boxes of all slots, or, when `moved` is not 0, of
 * those slots whose box differs from the tile before.  In that tile the loops of `moved` stood one tile
 * earlier, or at their last if they stand at the first now.
 */
struct footprint_fetch walk_fetch(const struct footprint *footprint,
	const struct walk_range *ranges, uint32_t moved, const int64_t *slots, bool *fits);

/* Joint boxes without holes or ragged ends, so that cutting them saves nothing. */
bool walk_solid(const struct footprint *footprint);

enum { ACCUMULATOR_BYTES = 4 }; /* of a partial sum in the scratchpad */

/* The part of / all of an operand that comes over the lane with the most of it; all 0: without lanes. */
struct lane_part {
	int64_t of, all;
};

/*
 * Reads that clones of the same phase bring, and the loops of the op that a clone is cut along: its pieces come as the
 * tiles of those loops need them, while a dimension that the clone does not cut, or of which a core has another share than
 * the op's, comes whole.
 */
struct arrivals {
	uint32_t operands;               /* bit i: operand i arrives */
	uint32_t again;                  /* of those: an operand before it is of the same move */
	uint32_t follows[OP_READS_MOST]; /* masks of loops */
	struct lane_part lanes[OP_READS_MOST]; /* of the move, which reads it */
};

/* Share of one core in each host dimension of a tensor that a move brings into LX; 0 if no loop alone walks it. */
struct arrival_share {
	int64_t elements[LAYOUT_HOST_RANK_MOST], units[LAYOUT_HOST_RANK_MOST];
	int loops[LAYOUT_HOST_RANK_MOST]; /* of the move */
	uint32_t tiles[LAYOUT_HOST_RANK_MOST];
	struct lane_part lanes; /* of what the move reads; arrival_share leaves it to its caller */
};
struct arrival_share arrival_share(const struct arch *arch, const struct workload *workload,
	const struct op *move, const struct mapping *mapping);

/* Adds the reads of an op that are of `tensor`.  `as_tiled`: follow only loops that have as many tiles as the move;
 * otherwise all whose tiles the move can take over. */
void arrivals_add(struct arrivals *arrivals, int tensor, const struct arrival_share *share,
	const struct arch *arch, const struct workload *workload, const struct op *op,
	const struct mapping *mapping, bool as_tiled);

/* The loop of an op that walks host dimension h of a read in the same share as the move, so that both can be cut alike;
 * -1 if there is none. */
int arrival_partner(const struct arrival_share *share, int h, const struct arch *arch,
	const struct workload *workload, const struct op *op, int read,
	const struct mapping *mapping);

/*
 * The parts of an operand that come over each lane from the home, in 1 / (LANE_PARTS * all).  Cores of a lane are
 * next to each other (arch.lane_cores).  A slice that cores of several lanes need comes over them in equal parts;
 * LANE_PARTS can be divided by any number up to 8, and parts are rounded down beyond that.
 */
enum { LANES_MOST = LOOPNEST_CORES_MOST, LANE_PARTS = 840 };
struct lane_shares {
	int64_t all; /* 0: the machine has no lanes, or the parts cannot be counted */
	int64_t of[LANES_MOST];
};

/*
 * One op at work: its nest, the footprint of every operand, and which of them
 * lie in LX.  An opaque op has no nest.  Where tiles do not move in boxes nothing is known but the
 * inner nest, which is the whole op.
 */
struct traffic_op {
	const struct arch *arch;
	const struct workload *workload;
	const struct op *op;
	struct ratio rate; /* latency_rate */
	struct loopnest nest;
	struct footprint operands[OP_READS_MOST + 1];
	const struct inner_cost
		*inner; /* NULL: its computes are not nests; also after traffic_open */
	struct lane_shares lanes[OP_READS_MOST]; /* of the operands read */
	uint32_t in_lx;                          /* bit i: operand i is resident */
	struct arrivals arriving;                /* of those */
	bool moves;                            /* a clone into LX: point 7 of model/graph/plan.h */
	bool evicts;                           /* point 10 */
	const struct relayout_price *relayout; /* point 13; NULL */
	int64_t ranks, hops;                   /* of a broadcast: point 11 */
};

/* The lane part of an operand that an open op reads. */
struct lane_part traffic_lane_part(const struct traffic_op *traffic, int operand);

/* An op, its share of the cores and its tiles, and the homes of its operands.  The footprints point
 * into *traffic: it must stay where it is. */
void traffic_open(struct traffic_op *traffic, const struct arch *arch,
	const struct workload *workload, const struct op *op, const struct mapping *mapping,
	uint32_t in_lx);

/* The same with the nests inside. */
struct arena;
void traffic_open_nest(
	struct traffic_op *traffic, const struct inner_question *question, struct arena *arena);
void traffic_open_step(
	struct traffic_op *traffic, const struct plan *plan, int step, struct arena *arena);

/* The same in one iteration of the step's run; traffic_open_step opens the first. */
void traffic_open_iteration(struct traffic_op *traffic, const struct plan *plan, int step,
	int64_t iteration, struct arena *arena);

/* Points 3 to 8, 10 and 11 of model/graph/plan.h.  False when a count does not fit. */
bool traffic_count(const struct traffic_op *traffic, struct step_count *out);

/*
 * The counts of one core.  HBM counts as if the core were alone, RING is
 * the share of its slice of the output.
 */
bool traffic_count_core(const struct traffic_op *traffic, int64_t core, struct step_count *out);

/* The same without the boxes that an op reads from HBM, which alone depend on the order of its loops. */
bool traffic_count_inside(const struct traffic_op *traffic, int64_t core, struct step_count *out);

/* True if core 0 has the largest share of everything: no slice can be larger than the first. */
bool traffic_is_even(const struct traffic_op *traffic);

/* Passes of tiles over the same output, and output tiles of a core. */
int64_t traffic_passes(const struct traffic_op *traffic, bool *fits);
int64_t traffic_output_tiles(const struct traffic_op *traffic, bool *fits);

/* Bytes of fp32 accumulators for `sticks` of the output. */
int64_t traffic_accumulator(const struct traffic_op *traffic, int64_t sticks, bool *fits);

#endif
