#ifndef MAP_LOCAL_OPTIONS_H
#define MAP_LOCAL_OPTIONS_H

#include "base/tuning.h"

/* Moves and what all chains share. */
#define LOCAL_OPTIONS(OPTION)                                                                      \
	OPTION(MOVE_TRIES, 1000, 1, 1 << 20, "tries to find a move that changes something")        \
	OPTION(BOUNDS_PERCENT, 60, 0, 100, "moves of a factor, of all that are drawn")             \
	OPTION(SWAPS_PERCENT, 22, 0, 100, "swaps of two loops")                                    \
	OPTION(AXES_PERCENT, 6, 0, 100, "turns of a loop from X to Y; the rest changes residency") \
	OPTION(ANEW_PERCENT, 3, 1, 100,                                                            \
		"steps that draw all bounds of a dimension, so that everything is within reach")   \
	OPTION(EXCHANGES, 2, 1, 1000,                                                              \
		"one factor in this many is exchanged for one of another dimension: tiles keep "   \
		"about their size")                                                                \
	OPTION(START_MENDS, 100, 0, 1 << 20,                                                       \
		"factors pushed outwards before another start is drawn")                           \
	OPTION(START_DRAWS, 20, 0, 1 << 20, "starts drawn before the known start is taken")

OPTIONS(LOCAL_OPTIONS)

#define ANNEAL_OPTIONS(OPTION)                                                                     \
	OPTION(WARM_PERMILLE, 500, 1, 100000,                                                      \
		"first temperature: a mapping e^0.5 times as bad is taken in one case of e")       \
	OPTION(COLD_PERMILLE, 2, 1, 100000, "last temperature: the same of one 0.2 % worse")       \
	OPTION(STILL_MOVES, 300, 1, 1 << 30, "moves without a change before the chain starts again")

#endif
