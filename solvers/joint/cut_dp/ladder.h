#ifndef JOINT_CUT_DP_LADDER_H
#define JOINT_CUT_DP_LADDER_H

#include "solvers/joint/cut_dp/relax.h"

enum { LADDER_MOST = 8 };

/* Grounds of relaxations: at first no views are told apart, in the last one all. */
struct ladder {
	int count;
	struct ground *grounds[LADDER_MOST];
};

struct ladder ladder_open(const struct frame *frame, struct arena *arena);
void ladder_close(struct ladder *ladder);

#endif
