#ifndef JOINT_CUT_DP_LADDER_H
#define JOINT_CUT_DP_LADDER_H

#include "solvers/joint/cut_dp/relax.h"

enum { LADDER_MOST = 8 };

/* Grounds of relaxations: at first no views are told apart, in the last one all.  Each is made when it is first
 * asked for. */
struct ladder {
	struct arena *arena;
	const struct frame *relaxed;
	struct blur before;
	double states;
	int count;
	bool is_whole; /* the last one is made */
	struct ground *grounds[LADDER_MOST];
};

struct ladder ladder_open(const struct frame *frame, struct arena *arena);
void ladder_close(struct ladder *ladder);

/* The rungs are asked for in order. */
const struct ground *ladder_ground(struct ladder *ladder, int rung);
bool ladder_ends(const struct ladder *ladder, int rung); /* of one that is made: it is the last */

#endif
