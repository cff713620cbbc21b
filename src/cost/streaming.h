#ifndef COST_STREAMING_H
#define COST_STREAMING_H

#include "cost/traffic.h"

/*
 * The cost of streaming one op's operands through tile buffers, made for
 * asking again and again with other tiles: set them with streaming_tile and the
 * order in traffic.nest.order.
 */
struct streaming {
	const struct arch *arch;
	struct traffic_op traffic;
	uint32_t arriving; /* operands in LX that a clone of the same phase brings */
};

struct streaming_cost {
	int64_t hbm_bytes;
	int64_t stream_bytes; /* LX on one core, as cost_stream counts it */

	/*
	 * Transfers that no compute of the step can hide: what the first tile waits for
	 * and what the last one leaves, of all that comes and goes (`moved_bytes`).
	 */
	int64_t exposed_bytes;
	int64_t moved_bytes;
};

void streaming_open(struct streaming *streaming, const struct arch *arch,
	const struct workload *workload, const struct op *op, const struct mapping *mapping,
	uint32_t in_lx, uint32_t arriving);

/* False when a count does not fit. */
bool streaming_cost(const struct streaming *streaming, struct streaming_cost *out);

/* HBM bytes below which no tiling comes. */
bool streaming_least(const struct streaming *streaming, int64_t *hbm_bytes);

#endif
