#ifndef COST_NEST_NEST_CONTEXTS_H
#define COST_NEST_NEST_CONTEXTS_H

#include "cost/nest/nest_home.h"

/*
 * The index of a dimension as a number of mixed radix: one digit for each of its
 * loops outside a level, outermost first.  The level's tile begins at that index,
 * and exists if the number is at most the tail's, the number of the last tile.
 */
enum { NEST_DIGITS_MOST = 32 };

struct nest_digit {
	int loop; /* in nest_loops.at */
	bool spatial;
	int level; /* of the loop */
	int64_t bound;
	int64_t tail; /* of the last tile */
	/* Temporal: where the loop ends when all outer temporal digits stand at their ends.  As the
	 * tail, but up to the bound inside a spatial digit that the tail has above 0. */
	int64_t end;
};

struct nest_digits {
	int count;
	struct nest_digit at[NEST_DIGITS_MOST];
	int64_t width, rest; /* indices of a tile, of the last one */
};

struct nest_digits nest_digits_make(
	const struct nest_model *model, const struct nest_loops *loops, int dimension, int level);

/* Numbers up to the tail whose digits are 0 but for those in `free`, a bit each; and whether the
 * tail is one of them. */
struct nest_tally {
	int64_t count;
	bool tail;
};

struct nest_tally nest_digits_count(const struct nest_digits *digits, uint32_t free);

/*
 * One move step and up to two before it, as one dimension sees them: where the
 * index of the first child stands at each of them.  Few contexts are different
 * in the tiles that children have there; the others are counted with those.
 */
enum { NEST_NOW, NEST_BEFORE, NEST_EARLIER, NEST_TIMES, NEST_CONTEXTS_MOST = 64 };

/* A kind of move step. */
struct nest_turn {
	int times;  /* steps looked at: this one, the one before, the one before that */
	bool start; /* the last of them is the first step of all */
	int now;    /* times > 1: the loop that goes on to this step */
	int before; /* times > 2: the loop that went on to the step before */
};

struct nest_context {
	int64_t count;
	int64_t base[NEST_TIMES]; /* index where the spatial digits of children stand at 0 */
	/* What tells it from others: children that exist, in their order, and indices of the last */
	int64_t children[NEST_TIMES], last[NEST_TIMES];
};

struct nest_contexts {
	int count;
	struct nest_context at[NEST_CONTEXTS_MOST];
};

/*
 * All contexts of a dimension at a turn.  `spread`: bit i, digit i is one that children
 * differ in; `relevant`: where the indices stand and end matters, else only whether they
 * exist.  False when there are too many.
 */
bool nest_contexts_find(const struct nest_passage *passage, const struct nest_digits *digits,
	uint32_t spread, bool relevant, const struct nest_turn *turn, struct nest_contexts *out);

/* Indices of the tile that begins at one; 0 if that does not exist. */
int64_t nest_indices_from(const struct nest_digits *digits, int64_t extent, int64_t index);

/*
 * What moves under imperfect factors, for dataspaces whose ranks have one
 * dimension each: dimensions clip independently, so that sums over steps and
 * instances are products over dimensions.  O(loops^2) each, for all extents.
 *
 * `cover` is a level at or inside the child (-1: the multipliers): words are those
 * that its tiles cover, since a box of strided ranks has words that the boxes inside
 * it leave out.
 */
enum moving { ENTERING, GROUPS, DRAINS };

/* A group, or what drains, counts once in each instance of the level; `split`: spatial no_reuse counts. */
int64_t nest_imperfect_moved(
	const struct nest_passage *passage, enum moving moving, int level, bool split, int cover);

/* Does an instance's tile stay where it is at some move step? */
bool nest_imperfect_stays(const struct nest_passage *passage);

/* Words that the child's tiles cover, in each instance of the home. */
int64_t nest_imperfect_elements(const struct nest_passage *passage, int home);

/* Fills compute_cycles, utilized_computes and utilized. */
void nest_imperfect_work(
	const struct nest_model *model, const struct nest_loops *loops, struct nest_counts *counts);

#endif
