#ifndef SEARCH_EXPLORE_DRIVER_H
#define SEARCH_EXPLORE_DRIVER_H

#include "search/explore.h"
#include "search/refusals.h"

#include <stdatomic.h>

/*
 * An exploration while it runs.  `explore.c` has the rounds that look for points, `explore_again.c`
 * the last one, in which those that were kept run once more.
 */
struct driver {
	const struct exploration *exploration;
	struct explored *explored;
	struct arena *arena;
	struct arena **scratch; /* by thread: only memory, nothing of it reaches a result */
	struct refusals refusals;
	int round;
	atomic_bool stopped;
};

/* Asks whether to stop; of a driver, by any thread. */
bool explore_stops(void *driver);

/* Reports how far the round is, and asks whether to stop. */
void explore_tell(struct driver *driver, size_t done, size_t count, uint64_t offered);

/* Frontier points run once more, with data or identities. */
void explore_again(struct driver *driver);

/* What the simulator said of an outcome. */
struct execution execution_of(const struct outcome *outcome);

#endif
