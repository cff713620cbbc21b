#ifndef SEARCH_ROUNDS_BOUND_H
#define SEARCH_ROUNDS_BOUND_H

#include "model/transfer/schedule.h"

/*
 * Rounds that no schedule is below, the most of
 *
 *	arrival    what enters the farthest rank: in T rounds a link brings no more than T less the
 *	           distance of where it begins
 *	spread     C / (what leaves the root a round) - 1 + the rounds that one chunk takes to all:
 *	           the farthest distance; with one port, also ceil(log2 N)
 *	relay      with one port: a rank without which P parts of the others cannot be reached sends
 *	           P C chunks, the first after its distance, and the last has a way to go
 *
 * All take a time that grows with ranks times links at most, in a full topology with links alone.
 */
int64_t rounds_bound(const struct synthesis *synthesis, struct arena *arena);

/* The same of a scatter: whoever gets something could hand one chunk to all, so it takes as long as
 * a broadcast of one chunk. */
int64_t scatter_bound(const struct synthesis *synthesis, struct arena *arena);

#endif
