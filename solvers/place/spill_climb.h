#ifndef PLACE_SPILL_CLIMB_H
#define PLACE_SPILL_CLIMB_H

#include "search/solver.h"
#include "solvers/place/spill_pack.h"
#include "solvers/place/spill_set.h"

/*
 * Sets that pack, better and better: something left out is kept, what stands in its way is left
 * out, what has room then is kept, and the packer says whether it is still a packing.
 */
struct spill_climb {
	struct run *run;
	const struct spill_model *model;
	struct arena *arena;
	struct spill_set now, next, best;  /* best and now pack */
	const struct placement *placement; /* of the best */
	bool better;                       /* the best is new: whoever looks at it says no */
	uint64_t steps, packed;
	double *worth;   /* by item: gain for its area */
	uint64_t *keys;  /* of sets that were asked for, by hash */
	uint64_t *codes; /* by item */
	bool *pinned;    /* by item: this move keeps it */
	struct spill_rank {
		double worth;
		int item;
	} * ranks;
};

struct spill_climb spill_climb_make(
	struct run *run, struct arena *arena, const struct spill_model *model);

/* A first set that packs, from less and less room; nothing at worst. */
void spill_climb_start(struct spill_climb *climb);

/* Is this set better than the best, and packs?  Keeps it if so. */
bool spill_climb_try(struct spill_climb *climb, const bool *kept, uint64_t nodes);

/* One move. */
void spill_climb_step(struct spill_climb *climb);

#endif
