#ifndef SOLVERS_JOINT_CUT_DP_MOVES_H
#define SOLVERS_JOINT_CUT_DP_MOVES_H

#include "solvers/joint/cut_dp/cut_dp.h"

/*
 * Moves are options as they act at their cut; an option whose outs may take over bytes of a tensor that is kept
 * otherwise has further moves that drop it.
 */
struct menu_effect {
	uint16_t slot; /* at the cut after it */
	uint16_t code;
};

/* Bytes that are not needed twice if a slot has this code. */
struct menu_saving {
	int slot;
	uint16_t code;
	int64_t bytes;
};

struct menu_move {
	uint32_t option;
	uint32_t group; /* of moves with the same effects */
	int64_t value;
	int64_t bytes; /* in LX, beside those of the state: less what it replaces and saves there */
	uint64_t args_before, args_after; /* see struct cut_step */
	uint64_t held;                    /* slots that it needs in LX, or fills */
	uint64_t replaced;                /* slots that it fills */
	struct menu_effect *effects;      /* by slot */
	struct menu_saving *savings;
	int end, cores;
	uint16_t args, fresh; /* tensors in HBM; those that no step before can have used there */
	uint16_t effect_count, saving_count;
	bool drops; /* it is of use only where room is short */
	bool ends_bundle, alone, empties;
};

/* The moves of a cut: those with the same effects together, the cheapest first. */
struct moves {
	size_t count;
	struct menu_move *at;
};

/* Makes the moves of a cut's options that can be made at all, in the arena. */
struct moves moves_make(const struct frame *frame, int cut, struct arena *arena);

/* True if a move drops this tensor, for an out that takes its bytes over. */
bool move_drops(const struct frame *frame, const struct menu_move *move, int tensor);

#endif
