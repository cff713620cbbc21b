#ifndef PLACE_SPILL_OPTIONS_H
#define PLACE_SPILL_OPTIONS_H

#include "base/tuning.h"

/* The spill search of `exact`.  A node is one of the packer's search tree. */
#define SPILL_OPTIONS(OPTION)                                                                      \
	OPTION(SPILL_ENTRIES_MOST, 1 << 22, 1 << 10, 1 << 30,                                      \
		"entries of rows; rows of little load are left out beyond")                        \
	OPTION(SPILL_MASTER_NODES, 20000, 1, 1 << 30,                                              \
		"nodes of the packer for a set that the master names")                             \
	OPTION(SPILL_MORE_NODES, 4, 2, 100,                                                        \
		"times as many for a set that stayed undecided, when it is asked about again")     \
	OPTION(SPILL_CALL_WORK, 40, 0, 10000, "nodes that a call of the master counts for")        \
	OPTION(SPILL_ITERATION_WORK, 10, 0, 10000, "nodes that an iteration of it counts for")     \
	OPTION(SPILL_CLIMB_SHARE, 40, 1, 1000,                                                     \
		"work of the local search for each of the master's, once there is a bound: most "  \
		"bounds are tight long before the set is")                                         \
	OPTION(SPILL_START_NODES, 20000, 1, 1 << 30,                                               \
		"nodes for each set that a search begins with")                                    \
	OPTION(SPILL_ASK_NODES, 1000, 1, 1 << 20, "nodes for a set that moves led to, at least")   \
	OPTION(SPILL_ASK_LENGTHS, 7, 1, 10,                                                        \
		"limits, each twice the last, of which one is drawn: which serves best differs")   \
	OPTION(SPILL_MOVES, 1000, 1, 1 << 20, "moves between two questions to the packer")         \
	OPTION(SPILL_MOVE_WORK, 3, 0, 10000, "nodes that a move counts for")                       \
	OPTION(SPILL_DROPS, 3, 0, 100,                                                             \
		"items that a move looks at, whether they earn their price")                       \
	OPTION(SPILL_HEAT_FIRST_PERCENT, 500, 1, 10000,                                            \
		"first temperature of annealing, of what a unit of load gains on average")         \
	OPTION(SPILL_HEAT_LAST_PERCENT, 100, 1, 10000, "the last temperature")                     \
	OPTION(SPILL_NOISE_LEAST_PERCENT, 60, 1, 100,                                              \
		"factor drawn for what an item is worth, at least: equal choices differ")          \
	OPTION(SPILL_NOISE_MOST_PERCENT, 140, 100, 1000, "the same, at most")                      \
	OPTION(SPILL_MARGIN_PERCENT, 2, 1, 100,                                                    \
		"part of the room at which a row has half the price of a full one")                \
	OPTION(SPILL_PRICE_STEP_PERCENT, 50, 1, 1000,                                              \
		"rise of a row's price after a failure, of what a unit of load gains on average")  \
	OPTION(SPILL_AT_FIRST_PERCENT, 130, 100, 1000,                                             \
		"what a failure leaves of all prices until a set packs")                           \
	OPTION(SPILL_AFTER_SUCCESS_PERCENT, 80, 1, 100, "the same after a set that packs")         \
	OPTION(SPILL_AFTER_NOTHING_PERCENT, 90, 1, 100,                                            \
		"the same where moves found nothing beyond the best")

OPTIONS(SPILL_OPTIONS)

#endif
