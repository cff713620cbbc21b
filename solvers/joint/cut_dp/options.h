#ifndef JOINT_CUT_DP_OPTIONS_H
#define JOINT_CUT_DP_OPTIONS_H

#include "base/tuning.h"

#define CUT_DP_OPTIONS(OPTION)                                                                     \
	OPTION(CUT_RIVALS_MOST, 64, 1, 1 << 16,                                                    \
		"cheapest states of a cut that others are converted from")                         \
	OPTION(CUT_BEAM_FIRST, 500, 1, 1 << 24, "labels of a cut that the first beam keeps")       \
	OPTION(CUT_BEAM_TIMES, 8, 2, 1000, "times as many in each beam after")                     \
	OPTION(CUT_ROOM_PARTS, 8, 2, 1000, "parts of LX of which fewer are used if nothing packs")

OPTIONS(CUT_DP_OPTIONS)

#endif
