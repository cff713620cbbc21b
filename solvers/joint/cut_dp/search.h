#ifndef JOINT_CUT_DP_SEARCH_H
#define JOINT_CUT_DP_SEARCH_H

#include "solvers/joint/cut_dp/frame.h"

/* Offers a best answer of the space, and proves it or what it has excluded. */
struct run;
void search(struct run *run, const struct frame *frame);

#endif
