#ifndef MAP_ILP_OPTIONS_H
#define MAP_ILP_OPTIONS_H

#include "base/tuning.h"

/* The integer program.  Its estimates are of exp(x), x a logarithm relative to a good mapping. */
#define ILP_OPTIONS(OPTION)                                                                        \
	OPTION(ILP_ROUNDS_MOST, 12, 1, 1000, "programs of all mappings, each with more tangents")  \
	OPTION(ILP_WORK_MILLIONS, 60, 1, 1 << 20,                                                  \
		"million simplex iterations times rows of one run: some seconds")                  \
	OPTION(ILP_GAP_PERMILLE, 2, 0, 1000, "gap at which a program counts as solved")            \
	OPTION(ILP_CHAINS_FREE_MOST, 6, 1, 16, "levels free to keep a dataspace: 2^6 chains")      \
	OPTION(ILP_FIRST_PERCENT, -750, -5000, 0,                                                  \
		"x of the first tangent of a cost; what a gate shuts is below it by 1, where all " \
		"tangents are below 0")                                                            \
	OPTION(ILP_LAST_PERCENT, 100, 0, 1000,                                                     \
		"x of the last one: the objective around its scale")                               \
	OPTION(ILP_SHARE_FIRST_PERCENT, -400, -5000, 0,                                            \
		"x of the first tangent of a share; 0 ends")                                       \
	OPTION(ILP_NEAR_PERMILLE, 1, 0, 1000, "relatively closer to a tangent nothing is learnt")

OPTIONS(ILP_OPTIONS)

#endif
