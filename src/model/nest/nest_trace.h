#ifndef MODEL_NEST_TRACE_H
#define MODEL_NEST_TRACE_H

#include "base/array.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * When the parts of a nest's execution ran, for drawings: what keeps the multipliers busy or waiting, one after the
 * other, and between them the tiles of each level, from one to the next.  In ticks, as the simulator's clock has them.
 */
enum nest_work {
	NEST_COMPUTES, /* the multipliers; steps that follow each other are one span */
	NEST_FILLING,  /* work waits for a tile that comes, NEST_DRAINING for one that leaves, .. */
	NEST_DRAINING,
	NEST_WAITING, /* .. for what a level does in the background, and for latencies */
	NEST_TILE,    /* from one change of a level's tiles to the next */
};

struct nest_span {
	enum nest_work work;
	int level; /* of the hierarchy; of NEST_COMPUTES -1 */
	int64_t from, to;
};

struct nest_trace {
	struct arena *arena;
	size_t most; /* spans that are kept */
	bool cut;    /* there were more */
	int64_t ticks_per_cycle;
	struct nest_spans array(struct nest_span) spans;
};

#endif
