#ifndef SEARCH_ROUNDS_BOUND_H
#define SEARCH_ROUNDS_BOUND_H

#include "model/transfer/schedule.h"

/*
 * Rounds that no schedule is below, the most of
 *
 *	latency    the farthest rank's distance - 1 + C / (what enters it a round)
 *	spread     C / (what leaves the root a round) - 1 + the rounds that one chunk takes to all:
 *	           the farthest distance; with one port, also ceil(log2 N)
 *	relay      with one port: a rank without which P parts of the others cannot be reached sends
 *	           P C chunks, the first after its distance, and the last has a way to go
 *	flow       for each rank: the least number of rounds over which C chunks can flow to it from
 *	           the root, channels and ports taken once a round, and chunks waiting anywhere
 *
 * All but the flow take a time that grows with ranks times links at most, in a full topology with
 * links alone.  The flow is looked at where there are at most FLOW_RANKS_MOST ranks and FLOW_CHUNKS_MOST chunks.
 */
enum { FLOW_RANKS_MOST = 16, FLOW_CHUNKS_MOST = 64 };

struct rounds_bound {
	int64_t rounds;
	const char *why; /* "latency", "spread", "relay", "flow" */
};

struct rounds_bound rounds_bound(const struct synthesis *synthesis, struct arena *arena);

/* The same of a scatter: whoever gets something could hand one chunk to all, so it takes as long as
 * a broadcast of one chunk. */
int64_t scatter_bound(const struct synthesis *synthesis, struct arena *arena);

#endif
