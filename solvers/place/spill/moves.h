#ifndef PLACE_SPILL_MOVES_H
#define PLACE_SPILL_MOVES_H

#include "base/array.h"
#include "search/drive/solver.h"
#include "solvers/place/spill/price.h"

/*
 * Moves from set to set that the rows hold: something is kept, what stands in its way is not, and
 * what then has room is chosen anew.  A move is made if the gain less the prices is no worse, or,
 * while it is hot, not much worse: simulated annealing.
 */
struct spill_moves {
	struct run *run;
	const struct spill_model *model;
	struct spill_set now;
	struct spill_prices prices;
	struct spill_set pick; /* the best of those passed, while annealing */
	double *worth;         /* by item: gain for its area */
	bool has_tied;
	int64_t *pinned; /* by item: the last move that had to keep it */
	int64_t move;
	int *beginning;           /* items, by their first row */
	int *begins;              /* by row: where its own begin among them; one more at the end */
	struct array(int) turned; /* in this move, in turn */
	double cost;              /* that this move added, by prices */
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
 * From `now`, at most this many, cooling down.  If sets on the way gained more than the least, the
 * best of them is `now` in the end: by gain less prices, and by how much it gains above the least.
 * For the chance that a set packs falls by a factor with each full row's price more, and what is
 * won then is what it gains above the least.
 */
void spill_moves_anneal(struct spill_moves *moves, int count, int64_t least);

/* Into another set of the model's: all that has room, the worthiest first, about. */
void spill_moves_fill(struct spill_moves *moves, struct spill_set *set);

#endif
