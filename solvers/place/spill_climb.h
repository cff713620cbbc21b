#ifndef PLACE_SPILL_CLIMB_H
#define PLACE_SPILL_CLIMB_H

#include "search/drive/solver.h"
#include "solvers/place/spill_moves.h"
#include "solvers/place/spill_pack.h"

/*
 * Sets that pack, better and better.  One set is on its way: moves make it gain more, less the
 * pressure of rows that are nearly full (spill_pressure.h).  When it gains more than the best, the
 * packer is asked, mostly about all but what is easy: small, or small for what its rows leave.
 * That finds places later (spill_finish.h); what found none counts as larger from then on, until
 * sets do not even pack without what is easy.  Then the pressure rises, everywhere until a first one
 * packs; when a set packs, or none gains more than the best, it falls everywhere.
 */
struct spill_climb {
	struct run *run;
	const struct spill_model *model;
	struct spill_moves moves;
	struct spill_set best, trial;
	int64_t *best_at;      /* addresses, by item */
	struct spill_set full; /* what the packer placed, and what came later, at these addresses */
	int64_t *full_at;
	bool *easy;       /* by item: what is left out, */
	bool *failed;     /* what then found no place, */
	double *stubborn; /* and what its size counts for, times, in what is left out */
	int futile;       /* questions about everything, before the next that is not */
	bool any;         /* there is a best */
	bool found;       /* a step found one that packs */
	bool better;      /* it is new: whoever looks at it says no */
	uint64_t work;    /* in the packer's nodes, about */
};

struct spill_climb spill_climb_make(
	struct run *run, struct arena *arena, const struct spill_model *model);

/* A first set that packs: what first fit keeps, whatever the budget, then from less and less
 * room. */
void spill_climb_start(struct spill_climb *climb);

/* Goes on from the best of another climb of the same model. */
void spill_climb_follow(struct spill_climb *climb, const struct spill_climb *other);

/* A set whose question was answered: it is the best if it gains more. */
void spill_climb_keep(struct spill_climb *climb, const bool *kept,
	const struct spill_question *question, const struct placement *placement);

/* Is this set better than the best, and packs?  Keeps it if so. */
bool spill_climb_try(struct spill_climb *climb, const bool *kept, uint64_t nodes);

/* Some moves, and a question to the packer if they led beyond the best. */
void spill_climb_step(struct spill_climb *climb);

#endif
