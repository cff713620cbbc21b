#ifndef NEST_NEST_COUNT_H
#define NEST_NEST_COUNT_H

#include "cost/nest/nest.h"
#include "cost/nest/nest_home.h"

#include <string.h>

/*
 * The three ways to count a compiled nest, and the machinery that they share.  Private to cost/nest,
 * apart from tests: callers use nest_evaluate.
 */

/*
 * Exact counts of a compiled nest, perfect or not, as specs/counting.md defines
 * them: NEST_FITS with all of *counts filled in, for dataspaces of `spaces`, but the
 * capacities, which the caller has; else NEST_OVERFLOW or NEST_UNCOUNTABLE, with the dataspace in
 * score->space.
 */
enum nest_verdict nest_exact_counts(const struct nest_model *model, const struct nest_loops *loops,
	uint32_t spaces, struct nest_counts *counts, struct nest_score *score);

/*
 * Timeloop's counts of a compiled perfect nest, of the dataspaces of a mask:
 * all of *counts but the capacities, which the caller has; hops and routers if the
 * model has a price for them, of these dataspaces alone.  NEST_FITS or NEST_MEANINGLESS.
 */
enum nest_verdict nest_timeloop_counts(const struct nest_model *model,
	const struct nest_loops *loops, uint32_t spaces, struct nest_counts *counts,
	struct nest_score *score);

/*
 * The counts of the common nest, exact or Timeloop's, in two walks over the loops.
 *
 * Symbols, for a dataspace: W(i) the words of level i's tile; m(i) the product
 * of all temporal bounds from the innermost relevant loop around the children
 * of block i outwards (1 without one); G(i) the product of the relevant bounds of
 * block i.  Of ranks of one dimension each two tiles never overlap, so that a
 * child of block i takes W(i - 1) m(i) words, and block i shows its level
 * G(i) of them for each: the level serves W(i - 1) m(i) G(i).  A level that does not
 * keep the dataspace multiplies the words from inside by its own G.  If a rank adds
 * dimensions a window slides, and children whose offsets add up to the
 * same share their words.
 *
 * The countings differ in the words of a sum that come without one, which are neither read
 * nor filled.  Timeloop: the share that an instance has of all words.  Exactly: E(i) of
 * nest_exact.c, which grows inwards by N - G at every level that keeps it; and all words that came in
 * are read once more, when they drain.
 *
 * The exact count takes the uncommon cases: a dataspace by its bit in `left` (flags; neighbours that
 * may hand words on; groups of children that are not a product), the whole mapping by false
 * (bounds that do not make an extent, imperfect ones, fan-outs, homes).
 */
struct nest_quick {
	enum nest_verdict verdict; /* NEST_FITS, NEST_CAPACITY, NEST_UTILIZATION */
	uint32_t left;
	uint32_t waits; /* bit of every level whose ports may be too slow */
};

/* All of *counts, score->space_pj and their sums in level_pj, but what is left; capacities of all. */
bool nest_quick_counts(const struct nest_model *model, const struct mapping *mapping,
	struct nest_counts *counts, struct nest_score *score, struct nest_quick *out);

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
	/* By these it differs from others: children that exist, in their order, and indices of the last. */
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
 * Words that move under imperfect factors, for dataspaces whose ranks have one
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

/*
 * Perfect factors, a read-only dataspace with ranks of two or more dimensions: tiles
 * of one level overlap, in time (a window slides) and in space (children whose
 * offsets add up to the same share everything).
 */
enum { NEST_SHIFTS_MOST = 16, NEST_MESH_MOST = 32 };

/* Between neighbours: what one enters the other entered a move step before, as far away. */
struct nest_shift {
	int64_t by[SHAPE_RANKS_MOST];
	int64_t words; /* of one instance, over all steps where it is so */
};

/* Instances side by side in the block above the child. */
struct nest_mesh {
	int loop_count;
	const struct nest_loop *loops;
	int64_t further[NEST_MESH_MOST][SHAPE_RANKS_MOST];
};

struct nest_slide {
	struct nest_passage passage;
	int64_t words; /* that one instance of the child enters, over all steps */
	int64_t links; /* words handed on in one physical block of children, over all steps */
	struct nest_mesh mesh; /* where there may be links */
	int shift_count;
	struct nest_shift shifts[NEST_SHIFTS_MOST]; /* those that save reads */
};

/* May instances of the child hand on to their neighbours? */
bool nest_has_links(const struct nest_passage *passage);

/* `rounds`: by loop, product of the bounds of temporal loops from it outwards. */
void nest_slide_make(const struct nest_passage *passage, const int64_t *rounds, int parent,
	struct nest_slide *slide);

/* Words that groups enter in one instance of a level. */
int64_t nest_slide_groups(const struct nest_slide *slide, int level);

/*
 * Imperfect factors, a read-only dataspace with ranks of two or more dimensions.
 * Children are looked at one by one, those alone that may share with each other; steps,
 * and places that do not share, in the few contexts that are different (see
 * struct nest_contexts).  So the time does not depend on the extents, but on the children that
 * slide or that may be without work, and grows with the imperfect dimensions.
 */
enum { NEST_CHILDREN_MOST = 1024, NEST_LOOKS_MOST = 1 << 21 };

struct nest_windows {
	int64_t entering; /* words that all instances of the child enter */
	int64_t groups;   /* words that groups enter, over all instances of the level */
	int64_t links;    /* words handed on */
};

/* Children in one instance of a level; `links`: they may hand on. */
struct nest_windows nest_windows_count(const struct nest_passage *passage, int level, bool links);

/*
 * Offsets of children from the first of them: each spatial loop adds its index x
 * stride x coefficient to the ranks of its dimension.
 */
enum { NEST_OFFSETS_MOST = 4096, NEST_SPATIAL_MOST = 64 };

struct nest_offsets {
	const struct dataspace *space;
	int loop_count;
	const struct nest_loop *loops[NEST_SPATIAL_MOST];
};

/* Counts the different offsets that the loops make.  False if no formula is known and they are more
 * than NEST_OFFSETS_MOST; *fits turns false when a number does not fit. */
bool nest_offsets_count(const struct nest_offsets *offsets, bool *fits, int64_t *out);

/* The same, the first `chosen` loops having only the given indices: index[i * chosen + k] of
 * loop k. */
bool nest_offsets_count_chosen(const struct nest_offsets *offsets, int chosen, const int *index,
	int count, bool *fits, int64_t *out);

/* For functions that are compiled twice, once for machines with wide registers.  Sanitizers, and
 * compilers other than gcc, have them once. */
#if defined __x86_64__ && defined __GNUC__ && !defined __clang__ &&                                \
	!defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
#define NEST_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define NEST_WIDE
#endif
/* For the parts of such functions. */
#define NEST_PART static inline __attribute__((always_inline))

/*
 * Four numbers at a time, mostly of four dataspaces, a lane each, as doubles: whole numbers below
 * 2^51, or quotients of such.
 */
typedef double lanes __attribute__((vector_size(32)));
typedef int64_t masks __attribute__((vector_size(32)));

enum { LANES = 4, LANE_GROUPS_MOST = SHAPE_SPACES_MOST / LANES };

NEST_PART lanes all_lanes(double x)
{
	return x - (lanes){0};
}

NEST_PART lanes lanes_at(const double *four)
{
	lanes out;
	memcpy(&out, four, sizeof out);
	return out;
}

NEST_PART void put_lanes(double *four, lanes x)
{
	memcpy(four, &x, sizeof x);
}

NEST_PART masks masks_at(const int64_t *four)
{
	masks out;
	memcpy(&out, four, sizeof out);
	return out;
}

NEST_PART lanes where(masks mask, lanes x)
{
	return (lanes)(mask & (masks)x);
}

NEST_PART lanes chosen(masks mask, lanes a, lanes b)
{
	return (lanes)((mask & (masks)a) | (~mask & (masks)b));
}

NEST_PART double lanes_sum(lanes x)
{
	return x[0] + x[1] + (x[2] + x[3]);
}

NEST_PART double lanes_product(lanes x)
{
	return x[0] * x[1] * (x[2] * x[3]);
}

/* Four bounds, as the low bits of 2^52 + x. */
NEST_PART lanes lanes_of_bounds(const uint32_t *bounds)
{
	typedef uint32_t words __attribute__((vector_size(16)));
	const words high = {0x43300000, 0x43300000, 0x43300000, 0x43300000};
	words low;
	memcpy(&low, bounds, sizeof low);
	return (lanes)__builtin_shufflevector(low, high, 0, 4, 1, 5, 2, 6, 3, 7) - 0x1p52;
}

/* Whole numbers below 2^51, as integers: the low bits of 2^52 + x. */
NEST_PART masks whole(lanes x)
{
	return (masks)(x + 0x1p52) ^ (masks)all_lanes(0x1p52);
}

/*
 * ceil(x / divisor) of whole x: the whole number next to x * inverse is at most half and a rounding
 * away from the quotient, so that the ceiling is that number or the one after it.
 */
NEST_PART lanes lanes_ceil(lanes x, double divisor, double inverse)
{
	lanes nearest = (x * inverse + 0x1p52) - 0x1p52;
	return nearest + where(nearest * divisor < x, all_lanes(1));
}

/* Energy of accesses of whole blocks, ceil(words / divisor) of them. */
NEST_PART lanes lanes_pj(
	const struct level_price *price, lanes reads, lanes fills, lanes updates, double divisor)
{
	double inverse = 1 / divisor;
	return lanes_ceil(reads, divisor, inverse) * price->pj[NEST_READ] +
	       lanes_ceil(fills, divisor, inverse) * price->pj[NEST_FILL] +
	       lanes_ceil(updates, divisor, inverse) * price->pj[NEST_UPDATE];
}

#endif
