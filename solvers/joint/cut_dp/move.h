#ifndef JOINT_CUT_DP_MOVE_H
#define JOINT_CUT_DP_MOVE_H

#include "solvers/joint/cut_dp/menu.h"

/* The moves of a cut: those with the same effects together, the cheapest first. */
struct moves {
	size_t count;
	struct menu_move *at;
};

struct moves moves_make(const struct frame *frame, int cut, struct arena *arena);

/* Does this code of a slot at the cut allow the move? */
bool move_allows(
	const struct frame *frame, int cut, const struct menu_move *move, int slot, uint16_t code);

#endif
