#ifndef JOINT_CUT_DP_CONVERT_H
#define JOINT_CUT_DP_CONVERT_H

#include "solvers/joint/cut_dp/frame.h"

/*
 * What it costs at most, relaxed, to make one state out of another one at the same cut.
 *
 * Conversions are steps, relays and evictions, or go on as if: a tensor that is in HBM only, but should be in LX,
 * is read by other options than those that find it there, which move or stream it and are otherwise the
 * same (its `reload`, for each option that is still to come that reads it, the worst one).
 */
struct converter;
struct converter *converter_open(const struct frame *frame, struct arena *arena);

/* JOINT_NEVER: there is no way.  The frame is one where relays take no room (frame_with_less_room). */
int64_t convert(const struct converter *converter, int cut, const uint16_t *from,
	const uint16_t *to, int64_t limit);

#endif
