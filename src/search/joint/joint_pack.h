#ifndef SEARCH_JOINT_PACK_H
#define SEARCH_JOINT_PACK_H

#include "base/stopper.h"
#include "search/joint/joint_space.h"

/*
 * Addresses for an answer: all that is in LX at some step, packed by the solver that proves.  Items are the
 * stays of joint_stays, by number, and behind them the room of each step that needs some, in order.
 */
struct arena;
struct run;

struct joint_packing {
	enum verdict
		status;  /* VERDICT_OPEN: the ticks were not enough, or joint_stays says why not */
	const char *why; /* the answer breaks a rule; NULL */
	struct joint_stays stays;
	size_t item_count;
	const int64_t *addresses; /* VERDICT_YES: by item */
	const int *in_place_of;   /* VERDICT_YES: by item, the stay whose bytes it took over; -1 */
	const int64_t *rooms;     /* VERDICT_YES: by step, where its room is; 0 without one */
	size_t core_count; /* VERDICT_NO: items that do not fit even alone; 0: none was found */
	const int *core;
	uint64_t ticks; /* that it took */
};

/* Within these ticks (0: no limit); asked by a run, it ends soon after that (NULL: by nobody). */
struct joint_packing joint_pack(const struct joint_space *space, const struct joint_answer *answer,
	struct run *run, uint64_t ticks, struct arena *arena);

#endif
