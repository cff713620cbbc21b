#ifndef JOINT_CUT_DP_OPTIONS_H
#define JOINT_CUT_DP_OPTIONS_H

#include "base/tuning.h"

#define CUT_DP_OPTIONS(OPTION)                                                                     \
	OPTION(CUT_BEAM_FIRST, 500, 1, 1 << 24, "labels of a cut that the first beams keep")       \
	OPTION(CUT_WIDTH_FIRST, 4000, 1, 1 << 24,                                                  \
		"states and labels of a cut that the first pass keeps")                            \
	OPTION(CUT_WIDTH_TIMES, 8, 2, 1000, "times as many in each pass after")                    \
	OPTION(CUT_COARSE_TIMES, 200, 2, 1 << 30,                                                  \
		"times as many combinations of views in each finer relaxation")                    \
	OPTION(CUT_POTENTIAL_STATES, 4096, 1, 1 << 20,                                             \
		"states of a cut between blocks of a stack")                                       \
	OPTION(CUT_BLOCK_WINDOW, 4, 1, 1000,                                                       \
		"part of a block's bound by which what is looked at next may be above it")         \
	OPTION(CUT_BLOCK_LAST, 16, 1, 1000, "the same, if all views are distinct")                 \
	OPTION(CUT_BLOCK_TIMES, 4, 1, 1000, "equal blocks that are looked at, one by one")         \
	OPTION(CUT_ROOM_PARTS, 8, 2, 1000, "parts of LX of which fewer are used if nothing packs")

OPTIONS(CUT_DP_OPTIONS)

#endif
