#ifndef MAP_EXACT_VIEW_H
#define MAP_EXACT_VIEW_H

#include "solvers/map/exact/frame.h"

/*
 * An outer branch, compiled: residency and spatial bounds are chosen, and this is what the
 * temporal loops, still to be chosen, will cost.
 *
 * A dataspace crosses from a level that keeps it to the next one inwards.  In a plain dataspace W temporal tiles x
 * the loops that fetch them again, X, cross; every meter is linear in the X of all crossings, so that a crossing
 * has a price for X = 1.  In any other, a window, the price is that of a word that enters one instance.
 *
 * Prices of reads at the parent count what children share once.  If neighbours may pass words on
 * (links), a window has two prices, the one without links being the higher.  A level that keeps
 * nothing from one iteration to the next (temporal no_reuse) is entered at each iteration outside.
 *
 * If factors need not divide (frame->uneven), nothing is linear: crossings have no prices
 * (uneven/bound.h counts them), and cycles and utilized instances are the least there can be.
 */
struct nest_rest {
	struct nest_sums all;
	/* Sums that are added up in space: X of crossings further inwards may be any from this
	 * one's to the cycles; the least that `all` may lose for each more. */
	struct nest_sums sag;
};

struct nest_crossing {
	int level;              /* the child; -1: the multipliers */
	bool resets;            /* and keeps nothing */
	struct nest_sums price; /* least, if there may be links */
	/* Plain: of this crossing and those further inwards, [1]: those that reset. */
	struct nest_rest rest[2];
	struct nest_sums apart; /* window: without links */
	/* Window: what rounded averages may lose where there are links, or where groups of children
	 * differ in size. */
	struct nest_sums rounding;
	bool uneven;
	double inside[SHAPE_DIMENSIONS_MOST]; /* window: spatial loops inside the child */
	double size; /* window, exact counting: words that an instance may hold */
	bool united; /* the parent reads the union of its children's words: */
	struct nest_sums parent_price;
	double parent_inside[SHAPE_DIMENSIONS_MOST], parent_many;
};

struct nest_chain {
	int count;
	int kept[ARCH_LEVELS_MOST]; /* levels that keep it, outermost first */
	uint32_t passing; /* and those, not among them, that count what passes (no_coalesce) */
	int crossing_count;
	struct nest_crossing crossings[ARCH_LEVELS_MOST];
	int next[ARCH_LEVELS_MOST + 1]; /* [j + 1]: the first crossing at boundary j or inside */
	double words;                   /* plain: product of the relevant temporal bounds */
	bool sags, resets;              /* some crossing does */
	/* Exact counting: what the home holds, under all temporal loops; 0: its tile at least,
	 * of windows.  `apart`: sums would end in several instances of it. */
	double home_words;
	bool apart;
	int held_at;           /* PEs of an array hold it there, and it comes from outside; -1 */
	double rate;           /* not held by PEs: cycles of a step, at least */
	double load_cycles;    /* of a tile of one temporal iteration (skew.h) */
	struct nest_sums base; /* what does not depend on temporal loops */
};

struct nest_view {
	const struct nest_frame *frame;
	struct mapping mapping;                  /* residency and spatial bounds set */
	int64_t temporal[SHAPE_DIMENSIONS_MOST]; /* iterations of its temporal loops together */
	double cycles;                           /* of compute */
	double network_cycles;
	double skew_cycles; /* of a systolic array, in a pass, at least */
	double multipliers;
	double leak_pj;                            /* in a cycle */
	double instances[ARCH_LEVELS_MOST];        /* by storage level, as spatial bounds say */
	double utilized[ARCH_LEVELS_MOST];         /* that have work, by level of the hierarchy */
	double pj[ARCH_LEVELS_MOST][NEST_ACTIONS]; /* per word */
	bool direct;                               /* multipliers keep nothing from step to step */
	/* Spatial loops inside a storage level, and words that they span; [count]: all loops. */
	double inside[ARCH_LEVELS_MOST + 1][SHAPE_DIMENSIONS_MOST];
	double spread[ARCH_LEVELS_MOST][SHAPE_SPACES_MOST];
	struct nest_sums base; /* of all chains, and the MACs */
	struct nest_chain chains[SHAPE_SPACES_MOST];

	/*
	 * Uneven factors only.  Among the spatial loops between storage level j - 1 and j (`count`: those
	 * around them all) the outermost one with a bound above 1, and the product of those inside
	 * it; 1 without one.  And the largest bound of a spatial loop outside level j: that many
	 * instances have work.
	 */
	int64_t edge[ARCH_LEVELS_MOST + 1][SHAPE_DIMENSIONS_MOST];
	int64_t within_edge[ARCH_LEVELS_MOST + 1][SHAPE_DIMENSIONS_MOST];
	double apart[ARCH_LEVELS_MOST + 1][SHAPE_DIMENSIONS_MOST];
};

/* For a mapping whose residency and spatial bounds are set. */
void nest_view_make(
	const struct nest_frame *frame, const struct mapping *mapping, struct nest_view *out);

/* The same in two steps: the spatial bounds, then what keeps a dataspace. */
void nest_view_spread(
	const struct nest_frame *frame, const struct mapping *mapping, struct nest_view *out);
void nest_view_keep(struct nest_view *view, int space, uint32_t residency);

/* The bound of a dimension's loop in the block below a level of the hierarchy. */
static inline uint32_t nest_spatial_bound(const struct nest_view *view, int level, int dimension)
{
	int row = view->frame->search->hierarchy->levels[level].block_row;
	return view->mapping.rows[row].spatial[dimension];
}

/* The levels between a parent and its child (-1: the multipliers) that count what passes. */
static inline uint32_t nest_view_passed(const struct nest_chain *chain, int parent, int child)
{
	return chain->passing & ((1u << parent) - 1) & ~((1u << (child + 1)) - 1);
}

/* Words of one action of a dataspace at storage level j, all instances together. */
void nest_view_add(const struct nest_view *view, int space, int j, enum nest_action action,
	double words, struct nest_sums *sums);

/* The time of the rows, at least, of words that a level reads for one inside; child -1: the multipliers, whose words
 * are not in rows.  Exactly, and with perfect factors, a row is as long as a tile of the child, and no longer than
 * the dataspace. */
void nest_view_add_rows(const struct nest_view *view, int space, int j, int child, double words,
	struct nest_sums *sums);

/* True if the tiles of what a level keeps fit, with `left` temporal iterations inside the
 * boundary above it; homes with all that they hold, unless factors are uneven. */
bool nest_view_fits(const struct nest_view *view, int j, const int64_t *left);

/* True if every dataspace has a home, no sums end apart there, and the least tiles fit. */
bool nest_view_least_fits(const struct nest_view *view);

/* True if some block between two storage levels that keep a window has children along two-term
 * ranks of it, who may hand on words to each other. */
bool nest_view_may_hand_on(const struct nest_view *view, int space);

#endif
