#ifndef JOINT_CUT_DP_MENU_H
#define JOINT_CUT_DP_MENU_H

#include "solvers/joint/cut_dp/frame.h"

#include <stddef.h>

/* The options of a cut, where the tensors that they use are at known places: see step.h. */
struct menu_effect {
	int slot; /* at the cut after it */
	uint16_t code;
};

struct menu_move {
	uint32_t option;
	int end;
	int64_t value;
	int64_t bytes; /* in LX while it runs, beside those of the state */
	int64_t unless; /* with this many there is no need for it, which is to drop what its outs take over; -1: none */
	int cores;
	bool ends_bundle;
	int args;
	uint64_t args_before, args_after; /* see struct step */
	uint64_t held;                    /* slots that it needs in LX, or fills */
	int effect_count;
	struct menu_effect *effects; /* by slot */
};

struct menu {
	size_t count;
	const struct menu_move *moves;
};

struct menus;
struct menus *menus_open(const struct frame *frame, struct arena *arena);
const struct menu *menus_find(struct menus *menus, int cut, const uint16_t *codes);

#endif
