#ifndef EXACT_LABEL_H
#define EXACT_LABEL_H

#include "search/drive/wishes.h"
#include "solvers/map/exact/view.h"

/* A lower bound of the cost: all meters, and the values that follow. */
struct nest_cost {
	struct nest_sums sums;
	double array_cycles; /* that a systolic array takes longer; set before the rest */
	double cycles, energy_pj;
};

/* Cycles and energy of the sums. */
void nest_cost_finish(const struct nest_view *view, struct nest_cost *cost);

/* The value of an objective. */
double nest_cost_value(
	const struct nest_view *view, const struct nest_cost *cost, enum objective objective);

/*
 * The cut that the known mappings make: it excludes all costs that are at least those of one of them in every
 * objective.  With a slack above 1 it also excludes costs that are less by no more than that factor.
 */
struct nest_cut {
	const struct objectives *objectives;
	double slack;
	size_t count;
	double *values;  /* of point i, objective k: [i * objectives->count + k] */
	double excluded; /* the least value of one objective that the slack alone excluded */
};

struct nest_cut nest_cut_make(struct arena *arena, const struct frontier *kept,
	const struct objectives *objectives, double slack);

bool nest_cut_excludes_values(struct nest_cut *cut, const double *values);
bool nest_cut_excludes(
	struct nest_cut *cut, const struct nest_view *view, const struct nest_cost *cost);

/*
 * A label: the known cost of a mapping once the temporal loops
 * outside one boundary are chosen, and a lower bound on the rest.
 *
 * Plain dataspaces.  A tile is fetched again by every loop outside it but those that are irrelevant and inside the
 * innermost relevant one: X = W x `reload`.  Loops further inwards only add to that, so that X bounds what crosses
 * every boundary inside.
 *
 * Windows (of ranks that add dimensions).  Between two moves of any other rank, `times` of
 * them, the loops of the innermost moving rank, its run, slide the window; every word under it
 * crosses at least once: prod over ranks (1 + sum (X - 1)) words, X the distinct indices
 * of a dimension, which holds for strided gaps too.  Loops of that rank outside of an irrelevant
 * loop may bring nothing in Timeloop's counting, and count as one.  Exactly, an instance
 * keeps from one run to the next what it holds, no more than its size and than a tile.  There, and where
 * a dimension is in two ranks, another bound is that tiles are disjoint along loops over dimensions that
 * have a rank to themselves: between two iterations of the innermost of these, `lone_times` of them, the
 * union counts.
 */
struct window_slide {
	double times, pending;             /* pending: irrelevant loops inside the run */
	int rank;                          /* of the run; -1: none */
	double run[SHAPE_DIMENSIONS_MOST]; /* its loops; 1 elsewhere */
	double lone_times;
	double since[SHAPE_DIMENSIONS_MOST];
};

struct nest_label {
	int boundary;   /* above this storage level; the outermost at the start */
	bool linked;    /* neighbours may hand on words of windows, further outside or here */
	int innermost;  /* dimension of the innermost loop outside; -1: there is none */
	double outside; /* product of all temporal bounds outside */
	double irrelevant[SHAPE_SPACES_MOST]; /* of the irrelevant ones */
	double reload[SHAPE_SPACES_MOST];     /* and of these, outside a relevant one */
	double passes,
		load_cycles; /* of a systolic array, as far as what its PEs hold has crossed */
	struct window_slide slides[SHAPE_SPACES_MOST];
	struct nest_sums passed; /* crossings of plain dataspaces outside */
	/* Crossings of windows outside and at the boundary, as the model counts them. */
	struct nest_sums counted[SHAPE_SPACES_MOST];
};

/* Loops of one level, with bounds above 1. */
struct nest_order {
	int count;
	uint8_t at[SHAPE_DIMENSIONS_MOST]; /* innermost first; in a loose order, any */
	bool loose;                        /* the best order for each dataspace alone */
	bool rough; /* bounds may still grow, and what is left shrink: none of that costs less */
};

struct nest_label nest_label_first(const struct nest_view *view);

/* At least what it costs to choose `bounds`, in this order, for the next level, with `left`
 * temporal iterations inside: all by dimension. */
void nest_label_weigh(const struct nest_view *view, const struct nest_label *from,
	const struct nest_order *order, const int64_t *bounds, const int64_t *left,
	struct nest_cost *out);

/* The label of that choice; the order must not be loose.  `linked` and `counted` stay as they
 * were. */
void nest_label_enter(const struct nest_view *view, const struct nest_label *from,
	const struct nest_order *order, const int64_t *bounds, struct nest_label *out);

/* Puts bounds of windows that cross the boundary where no count is to be had; `linked` must be
 * known. */
void nest_label_estimate(
	const struct nest_view *view, int space, const int64_t *left, struct nest_label *label);

/* No mapping with these choices costs less. */
void nest_label_bound(const struct nest_view *view, const struct nest_label *label,
	const int64_t *left, struct nest_cost *out);

/* Adds the lower bound of one dataspace to *sums, nothing chosen. */
void nest_label_start(const struct nest_view *view, int space, struct nest_sums *sums);

/*
 * True if the arrangement of spatial loops can make a difference for a window, because children there may take
 * words from neighbours.  All temporal loops outside the label's boundary are in the mapping.
 *
 * In Timeloop's counting only those of the block next to the child do, and only under one condition: a
 * move tau (cost/nest/nest_timeloop.c has them) leads from one child's place to another's, and brings as
 * many words as the move before it, which the innermost loop made, or came after.
 * In `exact` counting, or if a dimension is in two ranks, it is enough that the innermost loop slides the
 * window.
 */
bool nest_links_possible(const struct nest_view *view, const struct mapping *mapping,
	const struct nest_label *label, const int64_t *left, int space);

/* The same if the children are multipliers, which pass on every operand in Timeloop's
 * counting: true if blocks further outwards than the one next to them matter, for all loops. */
bool nest_links_around_multipliers(const struct nest_view *view, int space);

/*
 * Cycles that a systolic array adds at least (cost/nest/nest_home.h): the least skew of all arrangements of its
 * spatial loops for every pass, the rate at which dataspaces come that PEs do not hold, and the loads of those that
 * they do.  There are as many passes as any of their tiles moves; X as in label.h counts the words, and only grows
 * inwards.
 */

/* The least skew of a mapping's spatial bounds; and different tiles of a dataspace along an axis at
 * least: in blocks with that axis alone, rank by rank as many as a sum of sets has,
 * |A + B| >= |A| + |B| - 1. */
double nest_skew_least(const struct nest_frame *frame, const struct mapping *mapping);
double nest_skew_tiles(
	const struct nest_frame *frame, const struct mapping *mapping, int space, bool y);

/* For what keeps one dataspace in a view. */
void nest_skew_keep(struct nest_view *view, int space);

/* True if a larger tile at a storage level may take longer, though it moves less often. */
bool nest_skew_minds(const struct nest_frame *frame, int j);

/* True if the axes along which a block's loops run can change the cycles. */
bool nest_skew_turns(const struct nest_frame *frame, const struct tiling_level *level);

/* With the loops outside the label's boundary, and those of one more level; NULL: of none. */
double nest_skew_bound(const struct nest_view *view, const struct nest_label *from,
	const struct nest_order *order, const int64_t *bounds);

#endif
