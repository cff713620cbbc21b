#ifndef COST_STREAMING_H
#define COST_STREAMING_H

#include "cost/traffic.h"

/*
 * What it costs to stream one op's operands through tile buffers, made for
 * asking again and again with other tiles: set them with loopnest_tile and in
 * traffic.nest.order.  All answer false when a count does not fit.
 */
struct streaming {
	const struct arch *arch;
	struct traffic_op traffic;
	uint32_t arriving; /* operands in LX that a clone of the same phase brings */
};

/* The footprints point into *streaming: it must stay where it is. */
void streaming_open(struct streaming *streaming, const struct arch *arch,
	const struct workload *workload, const struct op *op, const struct mapping *mapping,
	uint32_t in_lx, uint32_t arriving);

/* HBM bytes, and a bound below which no tiling comes. */
bool streaming_hbm(const struct streaming *streaming, int64_t *bytes);
bool streaming_least(const struct streaming *streaming, int64_t *bytes);

/* LX bytes on one core, as cost_stream counts them.  Does not depend on the order. */
bool streaming_room(const struct streaming *streaming, int64_t *bytes);

/*
 * Bytes whose transfer no compute of the step can hide: what the first tile
 * waits for, and what the last one leaves.  Does not depend on the order.
 */
bool streaming_exposed(const struct streaming *streaming, int64_t *bytes);

/* Bytes that clones of the same phase bring. */
bool streaming_arriving(const struct streaming *streaming, int64_t *bytes);

#endif
