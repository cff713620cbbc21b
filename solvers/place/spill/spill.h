#ifndef SPILL_SPILL_H
#define SPILL_SPILL_H

#include "base/array.h"
#include "model/packing/buffer.h"
#include "search/drive/solver.h"
#include "solvers/place/spill/model.h"

/*
 * Dual prices of rows, learned from the packer as by a subgradient method: a set that the rows hold
 * packs the sooner the more room they leave, and not all rows are equally hard.  Load l in a row of
 * room c costs p m^2 / (m + c - l), in gain, where m is a margin and p the row's price, which is
 * what the last unit of a full row costs.
 */
struct spill_prices {
	const struct spill_model *model;
	double margin; /* units, at least 1 */
	double unit;   /* what a unit of load gains on average, in the set they were made for */
	double *price; /* by row */
};

struct arena;
struct spill_prices spill_prices_make(struct arena *arena, const struct spill_set *set);

/* The cost of these rows, half-open. */
double spill_prices_cost(
	const struct spill_prices *prices, const struct spill_set *set, int row, int row_end);

/* Returns the change of the cost if an item is turned, if it shares nothing. */
double spill_prices_change(
	const struct spill_prices *prices, const struct spill_set *set, int item);

/* This row was too hard to fill. */
void spill_prices_raise(struct spill_prices *prices, int row);

/* Returns the mean cost of a full row. */
double spill_prices_mean(const struct spill_prices *prices);

/*
 * Moves from set to set that the rows hold: something is kept, the items in its way are not, and items that then
 * have room are chosen again.  A move is made if the gain less the prices is no worse, or, while it is hot, not
 * much worse: simulated annealing.
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

/*
 * Which buffers, or which parts of their lives, to keep so that most is saved: logic-based Benders
 * decomposition.  An integer program of rows that every packing holds names the
 * most valuable set; the packer says whether it packs; what does not is cut off, and sets that the
 * packer cannot decide stay in the bound.  Meanwhile a local search improves
 * sets that pack (spill_moves).
 *
 * The value offered is the weight that is lost: of all transfers that could be saved, those that
 * are not.  The bound proven is the least weight that must be lost.
 */
void spill_run(struct run *run, const struct problem *problem);

#endif
