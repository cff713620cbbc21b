#ifndef PLACE_SPILL_SPILL_H
#define PLACE_SPILL_SPILL_H

#include "base/array.h"
#include "base/tuning.h"
#include "model/packing/buffer.h"
#include "search/drive/solver.h"
#include "solvers/place/pack/pack.h"

/* The spill search of `exact`.  A node is one of the packer's search tree. */
#define SPILL_OPTIONS(OPTION)                                                                      \
	OPTION(SPILL_ENTRIES_MOST, 1 << 22, 1 << 10, 1 << 30,                                      \
		"entries of rows; rows of little load are left out beyond")                        \
	OPTION(SPILL_MASTER_NODES, 20000, 1, 1 << 30,                                              \
		"nodes of the packer for a set that the master names")                             \
	OPTION(SPILL_MORE_NODES, 4, 2, 100,                                                        \
		"times as many for a set that stayed undecided, when it is asked about again")     \
	OPTION(SPILL_CALL_WORK, 40, 0, 10000, "nodes that a call of the master counts for")        \
	OPTION(SPILL_ITERATION_WORK, 10, 0, 10000, "nodes that an iteration of it counts for")     \
	OPTION(SPILL_CLIMB_SHARE, 40, 1, 1000,                                                     \
		"work of the local search for each of the master's, once there is a bound: most "  \
		"bounds are tight long before the set is")                                         \
	OPTION(SPILL_START_NODES, 20000, 1, 1 << 30,                                               \
		"nodes for each set that a search begins with")                                    \
	OPTION(SPILL_ASK_NODES, 1000, 1, 1 << 20, "nodes for a set that moves led to, at least")   \
	OPTION(SPILL_ASK_LENGTHS, 7, 1, 10,                                                        \
		"limits, each twice the last, of which one is drawn: which serves best differs")   \
	OPTION(SPILL_MOVES, 1000, 1, 1 << 20, "moves between two questions to the packer")         \
	OPTION(SPILL_MOVE_WORK, 3, 0, 10000, "nodes that a move counts for")                       \
	OPTION(SPILL_DROPS, 3, 0, 100,                                                             \
		"items that a move looks at, whether they earn their price")                       \
	OPTION(SPILL_HEAT_FIRST_PERCENT, 500, 1, 10000,                                            \
		"first temperature of annealing, of what a unit of load gains on average")         \
	OPTION(SPILL_HEAT_LAST_PERCENT, 100, 1, 10000, "the last temperature")                     \
	OPTION(SPILL_NOISE_LEAST_PERCENT, 60, 1, 100,                                              \
		"factor drawn for what an item is worth, at least: equal choices differ")          \
	OPTION(SPILL_NOISE_MOST_PERCENT, 140, 100, 1000, "the same, at most")                      \
	OPTION(SPILL_MARGIN_PERCENT, 2, 1, 100,                                                    \
		"part of the room at which a row has half the price of a full one")                \
	OPTION(SPILL_PRICE_STEP_PERCENT, 50, 1, 1000,                                              \
		"rise of a row's price after a failure, of what a unit of load gains on average")  \
	OPTION(SPILL_AT_FIRST_PERCENT, 130, 100, 1000,                                             \
		"what a failure leaves of all prices until a set packs")                           \
	OPTION(SPILL_AFTER_SUCCESS_PERCENT, 80, 1, 100, "the same after a set that packs")         \
	OPTION(SPILL_AFTER_NOTHING_PERCENT, 90, 1, 100,                                            \
		"the same where moves found nothing beyond the best")

OPTIONS(SPILL_OPTIONS)

/*
 * Items are the residences that may be kept: a buffer for its whole life, or from one use to the step after the
 * next, if that saves something.  Kept items of one buffer that share a use are one residence.  With uses, whole
 * lives are items only if a place may be handed over, because that takes whole lives.  A set of items that packs
 * holds every row; one that holds them all need not pack.
 *
 * Sizes are in units: what a buffer takes of the multiples of the common divisor of all alignments
 * that it may start at, divided by what those sizes have in common.  Gains are divided by theirs.
 */
struct spill_item {
	int buffer;
	int64_t from, to;     /* half-open */
	int64_t size;         /* units */
	int64_t gain;         /* if it is kept */
	int version;          /* that it is a part of; -1 */
	int row, row_end;     /* the rows that it is in, half-open */
	bool whole;           /* a whole life */
	bool tied;            /* a parent must hand its place over */
	int rival, rival_end; /* items instead of which it is kept, half-open */
	int parent_count;
	const int *parents; /* items that may hand their places over */
	int pair_count;
	int *pairs; /* that have rows */
};

/* The data of one write: its gain needs all of some items that follow each other. */
struct spill_version {
	int item, item_end; /* half-open */
	int64_t gain;
};

/* Two items that count once in the only step that they have in common: of one buffer, or the
 * second may lie on the first. */
struct spill_pair {
	int first, second;
	int64_t size; /* units that they share */
	bool one;     /* of one buffer */
	int row;      /* of that step */
};

/* The sizes of the kept items, less what pairs share, are at most the room. */
struct spill_row {
	int64_t time; /* when they are all there */
	int item_count, pair_count;
	int *items, *pairs;
};

struct spill_model {
	const struct packing *packing;
	int item_count, version_count, pair_count, row_count;
	struct spill_item *items; /* by buffer, then time */
	const struct spill_version *versions;
	struct spill_pair *pairs;
	const struct spill_row *rows; /* by time */
	int64_t room;                 /* units */
	int64_t unit_gain;            /* the divisor of gains */
	int64_t all, total;           /* all weights; the gains of all items and versions */
};

struct arena;

/* At most this many entries of rows: rows of little load are left out.  NULL: the weights add up to
 * more than an int64_t. */
struct spill_model *spill_model_make(
	struct arena *arena, const struct packing *packing, size_t entries_most);

/*
 * A set of items to be kept, with what it gains and how full each row is.  If a child has several
 * parents, each counts as sharing: the rows hold for more sets than they should, never for less.
 */
struct spill_set {
	const struct spill_model *model;
	bool *kept;    /* by item */
	int *missing;  /* by version: how many of its items are not */
	int64_t *load; /* by row */
	int64_t gain;
	int64_t room; /* of each row: the model's, or less; not copied */
};

struct spill_set spill_set_make(struct arena *arena, const struct spill_model *model);
void spill_set_copy(struct spill_set *to, const struct spill_set *from);

void spill_set_clear(struct spill_set *set);

/* Keeps an item, or no longer. */
void spill_set_turn(struct spill_set *set, int item);

/* Keeps these items and no others. */
void spill_set_become(struct spill_set *set, const bool *kept);

/* Returns the change of the gain if the item is turned. */
int64_t spill_set_change(const struct spill_set *set, int item);

/* True if the rows hold with it, no rival is kept, and it has a parent if it needs one. */
bool spill_set_has_room(const struct spill_set *set, int item);

/*
 * The packer's question about a set of items: what is kept of one buffer without a break is one
 * buffer of the question.
 */
struct spill_residence {
	int first, last; /* items */
	int64_t from, to;
};

struct spill_question {
	const struct spill_model *model;
	struct packing packing;
	struct spill_residence *residences; /* by buffer of that packing */
};

struct spill_question spill_question_make(
	struct arena *arena, const struct spill_model *model, const bool *kept);

/* The answer's addresses, by item. */
void spill_question_answer(const struct spill_question *question, const struct placement *placement,
	int64_t *addresses);

/* Items at addresses, of the buffers that the model was made from. */
struct placement *spill_placement(struct arena *arena, const struct spill_model *model,
	const bool *kept, const int64_t *addresses);

/*
 * No set that packs has all these items: unless it has one of the parents as well, which an item
 * among them needs that must take a place over.
 */
struct spill_cut {
	int item_count, parent_count;
	const int *items, *parents;
};

/* From buffers of the question that do not fit. */
struct spill_cut spill_question_cut(
	struct arena *arena, const struct spill_question *question, const int *core, size_t count);

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
