#ifndef PLACE_SPILL_CLIMB_H
#define PLACE_SPILL_CLIMB_H

#include "base/array.h"
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

/* What turning an item would change it by, if it shares nothing. */
double spill_prices_change(
	const struct spill_prices *prices, const struct spill_set *set, int item);

/* This row was too hard to fill. */
void spill_prices_raise(struct spill_prices *prices, int row);

/* All prices become this many hundredths of what they are. */
void spill_prices_scale(struct spill_prices *prices, int percent);

/* What a full row costs, on average. */
double spill_prices_mean(const struct spill_prices *prices);

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

/*
 * Local search for sets that pack.  Moves (moves.h) lead from set to set that the rows hold, towards
 * more gain less the price of nearly full rows.  When a set gains more than the best, the
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
