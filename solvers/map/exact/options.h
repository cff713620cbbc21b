#ifndef MAP_EXACT_OPTIONS_H
#define MAP_EXACT_OPTIONS_H

#include "base/tuning.h"

/* The branch and bound over perfect factors.  A tick of the budget is a mapping evaluated. */
#define EXACT_OPTIONS(OPTION)                                                                        \
	OPTION(PARTS_MOST, 16, 1, 1024,                                                              \
		"parts of a round: more than a machine has threads, for any number of these")        \
	OPTION(PART_BRANCHES_MOST, 64, 1, 1 << 20,                                                   \
		"outer branches of a part: few enough that rounds end and share incumbents")         \
	OPTION(WARM_CHAINS, 16, 0, 1024, "chains of annealing before the proof begins, at most")     \
	OPTION(WARM_AGREED, 2, 1, 1024, "chains that agree on the best: it is mostly the optimum")   \
	OPTION(WARM_TICKS, 3000, 1, 1 << 30, "mappings that each chain looks at")                    \
	OPTION(WARM_PART, 8, 1, 1024, "all chains get one part of the budget in this many")          \
	OPTION(WARM_FACTORS, 1000000, 0, 1 << 30,                                                    \
		"choices of factors below which a proof is quicker without chains")                  \
	OPTION(SPATIAL_MOST, 1000000, 1, 1 << 30, "spatial bounds that are listed: memory")          \
	OPTION(FREE_MOST, 12, 1, 24, "levels free to keep one dataspace: 2^12 places are listed")    \
	OPTION(FREE_ALL_MOST, 20, 1, 60,                                                             \
		"levels free to keep any: with more of them nothing is proven, and few are looked "  \
		"at")                                                                                \
	OPTION(PLACES_TICKS, 16, 1, 1 << 20,                                                         \
		"what it is worth to find the places of all dataspaces")                             \
	OPTION(WEIGHED_PER_TICK, 1024, 1, 1 << 20, "residencies weighed for a tick of the budget")   \
	OPTION(EDGES_PER_TICK, 16, 1, 1 << 20,                                                       \
		"bounds made for a tick: about as long as a mapping")                                \
	OPTION(ARRANGEMENTS_COUNTED_MOST, 16, 1, 1 << 20,                                            \
		"arrangements under which the model counts the levels outside, else a bound serves") \
	OPTION(FELT_PER_TICK, 16, 1, 1 << 20,                                                        \
		"classes of orders compared with another for a tick")                                \
	OPTION(TILES_TRIED_MOST, 100000, 1, 1 << 30,                                                 \
		"tiles tried for one set of dataspaces; with more, the largest are not known")       \
	OPTION(TURNING_MOST, 10, 1, 24,                                                              \
		"spatial loops of blocks with two axes of a systolic array, all arrangements tried")

OPTIONS(EXACT_OPTIONS)

#endif
