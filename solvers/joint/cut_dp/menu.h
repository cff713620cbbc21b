#ifndef JOINT_CUT_DP_MENU_H
#define JOINT_CUT_DP_MENU_H

#include "solvers/joint/cut_dp/frame.h"

#include <stddef.h>

/*
 * Which options can be taken from a state, without those that another one does as well: the same effects for no
 * more value, room and cores.  That depends on the codes of few slots only, those that options of the cut use.
 *
 * Moves are options as they act at their cut; an option whose outs may take over bytes of a tensor that is kept
 * otherwise has further moves that drop it.  For each code of a slot there is the set of moves that it allows; a
 * menu is the intersection of these sets.
 */
struct menu_effect {
	int slot; /* at the cut after it */
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
	int end;
	int64_t value;
	int fresh;     /* tensors that no step before can have used in HBM */
	int64_t bytes; /* in LX, beside those of the state: less what it replaces and saves there */
	bool drops;    /* it is of use only where room is short */
	int cores;
	bool ends_bundle, alone, empties;
	int args;
	uint64_t args_before, args_after; /* see struct cut_step */
	uint64_t held;                    /* slots that it needs in LX, or fills */
	uint64_t replaced;                /* slots that it fills */
	int effect_count, saving_count;
	struct menu_effect *effects; /* by slot */
	struct menu_saving *savings;
	uint32_t group; /* of moves with the same effects */
};

struct menu_entry {
	const struct menu_move *move;
	int64_t bytes; /* as above, from this state */
};

struct menu {
	size_t count;
	const struct menu_entry *entries;
};

struct menus;
struct menus *menus_open(const struct frame *frame, struct arena *arena);
void menus_close(struct menus *menus);

/* Can a move read in LX all of these slots, if they have these codes?  *left: a set of moves, all at first
 * (menus_all), less those that cannot read this slot so.  False: none is left. */
size_t menus_words(struct menus *menus, int cut);
void menus_all(struct menus *menus, int cut, uint64_t *left);
bool menus_read(struct menus *menus, int cut, int slot, uint16_t code, const uint64_t *before,
	uint64_t *left);

/* Good until another cut is asked for. */
const struct menu *menus_find(struct menus *menus, int cut, const uint16_t *codes);

#endif
