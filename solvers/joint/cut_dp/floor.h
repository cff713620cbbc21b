#ifndef JOINT_CUT_DP_FLOOR_H
#define JOINT_CUT_DP_FLOOR_H

#include "solvers/joint/cut_dp/frame.h"

/*
 * A lower bound of what is still to come, relaxed (frame_relaxed), where views are free and LX has room for all:
 * a tensor is only valid in HBM or not, in LX or not.  Made by dynamic programming, backward, for the states
 * that somebody asks about.
 */
struct floor;
struct floor *floor_open(const struct frame *frame, struct arena *arena);

/* JOINT_NEVER: there is no way. */
int64_t floor_rest(struct floor *floor, int cut, const uint16_t *codes);

#endif
