#ifndef PLACE_SPILL_HUNT_H
#define PLACE_SPILL_HUNT_H

#include "solvers/place/spill_climb.h"

/*
 * Two climbs that share their best: once the first has worked for a while they take turns, each on
 * a thread of its own where there are two.
 */
enum { SPILL_CLIMBS = 2 };

struct spill_hunt {
	struct run *run;
	struct arena *arenas[SPILL_CLIMBS];
	struct spill_climb climbs[SPILL_CLIMBS]; /* the first always has the best of both */
	uint64_t work;                           /* of both, in the packer's nodes, about */
	int64_t most;                            /* gain: who has it stops */
	uint64_t turns;                          /* that each took so far */
};

struct spill_hunt spill_hunt_open(struct run *run, const struct spill_model *model);
void spill_hunt_close(struct spill_hunt *hunt);

/* Some work, until a set gains the most that can be. */
void spill_hunt_step(struct spill_hunt *hunt, int64_t most);

#endif
