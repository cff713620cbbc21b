#ifndef PLACE_SPILL_MOVES_H
#define PLACE_SPILL_MOVES_H

#include "base/array.h"
#include "search/drive/solver.h"
#include "solvers/place/spill_pressure.h"
#include "solvers/place/spill_tally.h"

/*
 * Moves from set to set that the rows hold: something is kept, what stands in its way is not, and
 * what then has room is chosen anew.  A move is made if the gain less the pressure is no worse, or,
 * while it is hot, not much worse.
 */
struct spill_moves {
	struct run *run;
	const struct spill_model *model;
	struct spill_set now;
	struct spill_pressure pressure;
	struct spill_tally asked; /* sets that whoever follows the moves took up */
	struct spill_set pick;    /* the best of those passed, while annealing */
	double *worth;            /* by item: gain for its area */
	bool has_tied;
	int64_t *pinned; /* by item: the last move that had to keep it */
	int64_t move;
	int *beginning;           /* items, by their first row */
	int *begins;              /* by row: where its own begin among them; one more at the end */
	struct array(int) turned; /* in this move, in turn */
	double cost;              /* pressure added by this move */
	int row, row_end;         /* that it touched */
	struct spill_rank {
		double worth;
		int item;
	} * ranks;
	struct arena *arena; /* of what was turned */
};

struct spill_moves spill_moves_make(
	struct run *run, struct arena *arena, const struct spill_model *model);

/*
 * From `now`, at most so many, cooling down.  If sets on the way gained more than the least, the
 * best of them is `now` in the end: by gain less pressure, more the more it is above the least, and
 * less each time that it was asked about.  For how likely a set packs falls by a factor with each
 * full row's pressure more, what is won if it does is what it gains above the least, and a question
 * without an answer makes one less likely.
 */
void spill_moves_anneal(struct spill_moves *moves, int count, int64_t least);

/* `now` is asked about. */
void spill_moves_ask(struct spill_moves *moves);

/* A set that gains much, of those that the rows hold: whether it packs does not matter. */
void spill_moves_relax(struct run *run, const struct spill_model *model, struct spill_set *set);

/* Into another set of the model's: all that has room, the worthiest first, about. */
void spill_moves_fill(struct spill_moves *moves, struct spill_set *set);

#endif
