#ifndef COST_STREAMING_H
#define COST_STREAMING_H

#include "cost/graph/latency.h"
#include "cost/graph/traffic.h"

/*
 * The price of streaming one op's operands through tile buffers, for many tilings
 * in turn: set them with loopnest_tile and in traffic.nest.order.  All return
 * false when a count does not fit.
 */

/* HBM bytes, and a bound below which no tiling comes. */
bool streaming_hbm(const struct traffic_op *traffic, int64_t *bytes);
bool streaming_least(const struct traffic_op *traffic, int64_t *bytes);

/* LX bytes on one core, as cost_stream counts them.  Does not depend on the order. */
bool streaming_room(const struct traffic_op *traffic, int64_t *bytes);

/*
 * Cycles of the step when everything overlaps, and a nearer estimate: each
 * resource, were it the slowest, waits for what must come before its first
 * piece of work and is followed by what must come after its last.
 *
 *	HBM      all transfers, then the last tile's compute and ring
 *	cores    the first tile's fetches, all computes, the last ring and drain
 *	ring     the first tile's fetches, an output tile's computes, all rings, the last drain
 *
 * The ring combines one output tile at a time; a link begins when the one before has brought a stick.  HBM
 * moves `hbm_bytes` and what clones of the same phase bring.  Cores and ring are those of core 0.  Neither
 * depends on the order otherwise.
 */
bool streaming_bound(const struct traffic_op *traffic, int64_t hbm_bytes, int64_t *cycles);
bool streaming_estimate(const struct traffic_op *traffic, int64_t hbm_bytes, int64_t *cycles);

/*
 * The estimate of a phase: of an op whose traffic is `count`, and of the moves before it.
 *
 *	op       streaming_estimate, or the tiles in turn if that is more: a tile takes as long as its computes,
 *	         or as the boxes that come in for the next one and the result that leaves meanwhile
 *	moves    come before the first tile that the op streams itself
 *	pieces   an op that streams nothing begins with the first piece of each arriving operand; behind the
 *	         last piece come the computes of all tiles from its first use on
 *
 * Moves are cut as finely as the output tiles of an op that only writes HBM (stream_choose): a tile that leaves waits
 * for a piece that comes.  A plan whose moves are cut less executes later than its estimate.
 */
bool streaming_phase(const struct traffic_op *traffic, const struct step_count *count,
	const struct moved *moved, int64_t *cycles);

#endif
