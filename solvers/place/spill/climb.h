#ifndef PLACE_SPILL_CLIMB_H
#define PLACE_SPILL_CLIMB_H

#include "search/drive/solver.h"
#include "solvers/place/spill/moves.h"
#include "solvers/place/spill/question.h"

/*
 * Local search for sets that pack.  Moves (moves.h) lead from set to set that the rows hold, towards
 * more gain less the price of nearly full rows (price.h).  When a set gains more than the best, the
 * packer is asked.  If it packs, it is the best, and all prices fall; if not, the price of the row at which the packer failed most rises.
 */
struct spill_climb {
	struct run *run;
	const struct spill_model *model;
	struct spill_moves moves;
	struct spill_set best, trial;
	int64_t *best_at; /* addresses, by item */
	bool has_packed;  /* a set that moves led to */
	bool better;      /* the best is new: whoever looks at it says no */
	uint64_t work;    /* about, in nodes of the packer */
};

/* Begins with a set that packs: what first fit keeps, within any budget, then what the packer
 * keeps of sets that leave some of the room free, less and less. */
struct spill_climb spill_climb_start(
	struct run *run, struct arena *arena, const struct spill_model *model);

/* A set whose question was answered: it is the best if it gains more. */
void spill_climb_keep(struct spill_climb *climb, const bool *kept,
	const struct spill_question *question, const struct placement *placement);

/* Keeps this set as the best if it gains more and packs within this many nodes. */
void spill_climb_try(struct spill_climb *climb, const bool *kept, uint64_t nodes);

/* Some moves, and a question to the packer if they led beyond the best. */
void spill_climb_step(struct spill_climb *climb);

#endif
