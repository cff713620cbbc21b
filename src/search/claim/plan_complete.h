#ifndef CLAIM_PLAN_COMPLETE_H
#define CLAIM_PLAN_COMPLETE_H

#include "base/stopper.h"
#include "search/joint/joint_graph.h"

/*
 * Compares a joint space with the language of plans (search/language/language.h), step by step.  Every step of the
 * language has an option in the space that is as good, or is of a kind that the space names as fixed.  An option is as
 * good as a step if
 *
 *	it has the same ops, and its operands are in the same places;
 *	it finds in LX what the step finds there, wherever that lies;
 *	what it moves in or leaves serves all later ops that find it there after the step, in no more bytes;
 *	it takes over bytes where the step does, needs no more cores, and its bundle may go on where the step's may;
 *	by the model's price it costs no more than the step.
 *
 * The limits of the space, its tensors, what evicts cost, and runs that have all that comes from outside in HBM are
 * compared as well.  Not compared are
 *
 *	ops that are not divided;
 *	clones that the graph has itself and that bring something into LX;
 *	tiles by the published rule, and nests of a multiplier array;
 *	relayouts, and results that only wait in LX for an evict;
 *	machines whose tiles do not move in boxes.
 */
struct arena;

struct plan_complete_question {
	const struct joint_space *space;
	uint64_t
		steps; /* of one op that are looked at: all if there are no more, else so many at random; 0:
			 * PLAN_COMPLETE_STEPS */
	struct stopper stopper;
};

enum { PLAN_COMPLETE_STEPS = 2000 };

struct plan_complete {
	const char *why; /* what the space lacks; NULL: nothing was found */
	bool all;        /* every step was looked at */
	uint64_t steps, runs, prices;
};

struct plan_complete plan_complete_check(
	const struct plan_complete_question *question, struct arena *arena);

#endif
