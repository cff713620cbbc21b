#ifndef MAP_UNEVEN_OPTIONS_H
#define MAP_UNEVEN_OPTIONS_H

#include "base/tuning.h"

/* The branch and bound where factors need not divide.  A tick of the budget is a mapping evaluated. */
#define UNEVEN_OPTIONS(OPTION)                                                                     \
	OPTION(UNEVEN_SPATIAL_MOST, 500000, 1, 1 << 30, "spatial bounds that are listed: memory")  \
	OPTION(UNEVEN_FREE_MOST, 24, 1, 62, "free bits of residency: 2^24 are tried one by one")   \
	OPTION(BOUND_TICKS, 16, 1, 1 << 20,                                                        \
		"what it is worth to bound one list of spatial bounds")                            \
	OPTION(BOUNDS_PER_TICK, 4, 1, 1 << 20,                                                     \
		"bounds made for a tick: about as long as a mapping")                              \
	OPTION(NODES_MIB_MOST, 512, 1, 1 << 20, "MiB of open nodes; with more the search ends")    \
	OPTION(LOOK_AFTER, 50000, 1, 1 << 30,                                                      \
		"bounds before good mappings are looked for elsewhere: short proofs need none")    \
	OPTION(LOOK_AGAIN, 10, 2, 1000, "times as many bounds before they are looked for again")   \
	OPTION(LOOK_TIMES, 4, 1, 1000, "ticks for that, times those of the bounds made so far")    \
	OPTION(REPORT_AFTER, 1000, 1, 1 << 30, "bounds between two reports of the gap")            \
	OPTION(LOCAL_SHARE, 4, 2, 100, "one part of the ticks in this many is for local search")   \
	OPTION(LOCAL_TURNS, 3, 1, 100, "turns of it, each from the best so far")

OPTIONS(UNEVEN_OPTIONS)

#endif
