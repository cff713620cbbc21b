#ifndef PLACE_SPILL_CLIMB_H
#define PLACE_SPILL_CLIMB_H

#include "search/solver.h"
#include "solvers/place/spill_pack.h"
#include "solvers/place/spill_set.h"

/*
 * Sets that pack, better and better.  A set that is worth more than the best is taken down to one
 * that packs: where the packer fails most, a little less may be kept, and the rest is chosen
 * anew.
 */
struct spill_climb {
	struct run *run;
	const struct spill_model *model;
	struct spill_set best, now, trial, top; /* top: the most valuable that the rows hold */
	int64_t *addresses, *best_at;           /* by item */
	bool any;                               /* there is a best */
	bool better;                            /* it is new: whoever looks at it says no */
	bool begun;                             /* now is on its way */
	uint64_t nodes;                         /* that the packer gets for each set on the way */
	int moves;                              /* before each */
	uint64_t work;                          /* in the packer's nodes, about */
	double *worth;                          /* by item: gain for its area */
	bool *pinned;                           /* by item: this move keeps it */
	struct spill_rank {
		double worth;
		int item;
	} * ranks;
};

struct spill_climb spill_climb_make(
	struct run *run, struct arena *arena, const struct spill_model *model);

/* A first set that packs, from less and less room; nothing at worst. */
void spill_climb_start(struct spill_climb *climb);

/* A set whose question was answered: it is the best if it is worth more. */
void spill_climb_keep(struct spill_climb *climb, const bool *kept,
	const struct spill_question *question, const struct placement *placement);

/* Is this set better than the best, and packs?  Keeps it if so. */
bool spill_climb_try(struct spill_climb *climb, const bool *kept, uint64_t nodes);

/* One set down to one that packs, or to the value of the best. */
void spill_climb_step(struct spill_climb *climb);

#endif
