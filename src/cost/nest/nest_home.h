#ifndef COST_NEST_NEST_HOME_H
#define COST_NEST_NEST_HOME_H

#include "cost/nest/nest.h"
#include "model/nest/nest_score.h"

#include <string.h>

/*
 * Compiled mappings, and the parts that every count has in common: homes, loops, the systolic array,
 * networks.
 *
 * Exact counting needs homes of dataspaces ("Homes" in specs/counting.md): an instance holds every word that comes into its tile at some step, and no two instances end with
 * a part of a sum each, unless a ring joins them.
 */
struct mapping;

/* The level of a dataspace's home; -1 if it has none. */
int nest_home_level(const struct hierarchy *hierarchy, const struct mapping *mapping, int space);

/*
 * Words that the first instance of `level` has in its tile of a dataspace at one step or another:
 * none has more.  They are the union of boxes, one for each step.
 * NEST_FITS; NEST_OVERFLOW; NEST_UNCOUNTABLE: too many boxes that overlap.
 */
enum nest_verdict nest_home_words(const struct hierarchy *hierarchy, const struct shape *shape,
	const struct mapping *mapping, int space, int level, int64_t *words);

/* Instances of a written dataspace's home that end with a part of the same sum: products of
 * bounds, at most INT64_MAX; 1: none shares one. */
int64_t nest_home_parts(const struct hierarchy *hierarchy, const struct shape *shape,
	const struct mapping *mapping, int space, int level);

/*
 * Corrects the capacities of homes, and the verdict on what levels hold, of a mapping whose
 * bounds make the extents; *score names the place.  NEST_FITS, NEST_CAPACITY,
 * NEST_UTILIZATION, NEST_SUMS_APART, NEST_OVERFLOW or NEST_UNCOUNTABLE.
 */
enum nest_verdict nest_home_check(const struct hierarchy *hierarchy, const struct shape *shape,
	const struct mapping *mapping, struct nest_counts *counts, struct nest_score *score);

/*
 * A mapping as one list of loops, innermost first, loops of bound 1 left out:
 * the spatial loops of block 0, the temporal loops of level 0, the spatial loops
 * of block 1, and so on.  Inside a block loops along X come before loops along
 * Y, and otherwise in the order of the row, fastest first.
 */
enum {
	/* Bounds of a dimension are 2 or more and multiply to less than twice its extent. */
	NEST_LOOPS_MOST = SHAPE_DIMENSIONS_MOST * 32,
};

struct nest_loop {
	int64_t bound;
	int64_t stride; /* of the dimension's index: product of the bounds of its inner loops */
	uint8_t dimension;
	uint8_t level; /* temporal: the level; spatial: the block below it */
	bool spatial;
	bool y; /* spatial: along Y */
};

struct nest_loops {
	bool perfect; /* every dimension's bounds multiply to its extent */
	int count;
	struct nest_loop at[NEST_LOOPS_MOST];
	/* Level i's block is at[block[i]] .. at[own[i] - 1], its temporal loops at[own[i]] ..
	 * at[block[i + 1] - 1]. */
	int block[ARCH_LEVELS_MOST + 1], own[ARCH_LEVELS_MOST];
	/* Indices of a dimension, none beyond its extent: in a child of block i, in all its
	 * children together, in a tile of level i.  Perfect factors: products of bounds. */
	int64_t child[ARCH_LEVELS_MOST][SHAPE_DIMENSIONS_MOST];
	int64_t block_tile[ARCH_LEVELS_MOST][SHAPE_DIMENSIONS_MOST];
	int64_t tile[ARCH_LEVELS_MOST][SHAPE_DIMENSIONS_MOST];
	/* Instances mapped in one block, along X, Y and both; mapped in the machine by level. */
	int64_t fan_x[ARCH_LEVELS_MOST], fan_y[ARCH_LEVELS_MOST], fan[ARCH_LEVELS_MOST];
	int64_t instances[ARCH_LEVELS_MOST];
	int64_t multipliers;
	uint8_t kept[ARCH_LEVELS_MOST]; /* bit t: dataspace t */
	int home[SHAPE_SPACES_MOST];    /* outermost level that keeps it */
};

/*
 * Compiles a mapping and checks its factors, fan-outs and homes: NEST_FITS, NEST_FACTORS,
 * NEST_FANOUT, NEST_HOMELESS or NEST_OVERFLOW, with where, asked and given in *score.  *loops is
 * complete with NEST_FITS alone.
 */
enum nest_verdict nest_loops_make(const struct nest_model *model, const struct mapping *mapping,
	struct nest_loops *loops, struct nest_score *score);

/* Are a dataspace's words only counted at a level, as they pass on their way in and out? */
bool nest_passes(
	const struct nest_model *model, const struct nest_loops *loops, int level, int space);

/* Is it kept there, home included, and not only counted? */
bool nest_holds(
	const struct nest_model *model, const struct nest_loops *loops, int level, int space);

/* Does everything leave a level (-1: the multipliers) at each iteration, so that nothing is kept
 * for the next? */
bool nest_resets(const struct nest_model *model, int level, int space);

/* The innermost loop whose iterations are move steps of a level; loops->count if there is none. */
int nest_pace(const struct nest_model *model, const struct nest_loops *loops, int level, int space);

/* -1: of the multipliers. */
static inline int64_t nest_instances(const struct nest_loops *loops, int level)
{
	return level < 0 ? loops->multipliers : loops->instances[level];
}

/* One dataspace on its way into one level: what the parts of exact counting ask about. */
struct nest_passage {
	const struct nest_model *model;
	const struct nest_loops *loops;
	int space;
	int child; /* level that it enters; -1: the multipliers */
	int pace;  /* innermost loop whose iterations are move steps; loops->count: none */
	/* Turn false where a number does not fit, and where counting takes too long. */
	bool *fits, *countable;
};

/* Dimensions of `all`, among the first 4 x fours, whose bound is not 1. */
static inline __attribute__((always_inline)) uint32_t nest_busy(
	const uint32_t *bounds, const int fours, uint32_t all)
{
	uint32_t idle = 0;
#pragma GCC unroll 4
	for (int k = 0; k < fours; k++) {
		uint32_t __attribute__((vector_size(16))) some;
		memcpy(&some, &bounds[4 * k], sizeof some);
		some = some == 1;
#ifdef __SSE__
		float __attribute__((vector_size(16))) signs;
		memcpy(&signs, &some, sizeof signs);
		idle |= (uint32_t)__builtin_ia32_movmskps(signs) << 4 * k;
#else
		idle |= ((some[0] & 1) | (some[1] & 2) | (some[2] & 4) | (some[3] & 8)) << 4 * k;
#endif
	}
	return ~idle & all;
}

/* Words of a box: 1 + sum of coefficient * (extent - 1) by rank, multiplied; false when they do
 * not fit. */
bool nest_words(
	const struct dataspace *space, int dimension_count, const int64_t *extents, int64_t *out);

/*
 * The cycles that a systolic array adds to a nest, in closed form.
 *
 * A mapping keeps ux x uy PEs busy.  Words that PEs side by side share, and sums that they make
 * together, go from one to the next in a cycle: along such an axis each PE works a cycle later
 * than the one before, and the last one this many cycles after the first:
 *
 *	skew = (ux - 1 if something is shared along X) + (uy - 1 if something is along Y)
 *
 * A link carries what a PE needs in a step in a cycle.  A dataspace that PEs do not hold comes
 * (sums: goes) along the axis on which fewer of its tiles differ, Gx(t) or Gy(t).  A step takes as
 * many cycles as these are, one where all that moves is shared along an axis:
 *
 *	rate = max over t that PEs do not hold of min(Gx(t), Gy(t))
 *
 * A pass is the work between two moves of tiles that PEs hold: X(t) of them for a dataspace t
 * that comes from outside, X the product of the temporal loops from the innermost relevant one
 * around it outwards.  These loops enclose each other, so that there are max X(t) passes, one
 * if PEs hold nothing.  Between passes the array runs empty.  Tiles that are read are loaded
 * along Y, a word per cycle: W(t) words for each of the Gy(t) different tiles of a column.  Sums
 * leave while the array drains (H. T. Kung, Why systolic architectures?, 1982; A. Samajdar and
 * others, SCALE-Sim, ISPASS 2020: their cycles of a fold are those of a pass here).
 *
 *	cycles = rate compute cycles + skew max X(t) + sum of X(t) W(t) Gy(t)
 *
 * If PEs buffer everything twice passes overlap: the loads of a pass, L(p), come during the one
 * before.  P passes of T steps then take
 *
 *	cycles = L(1) + rate T P + sum over p > 1 of max(0, L(p) - rate T) + skew
 *
 * A tile that moves less often moves only together with all that move more often, which gives the
 * number of passes with each load.
 *
 * Tiles that are not whole, and passes that keep fewer PEs busy, take as long as the others; where
 * they overlap, so do those of fewer steps.
 */
/* Fills in array_cycles: 0 without an array.  False: a number does not fit. */
bool nest_array_count(
	const struct nest_model *model, const struct mapping *mapping, struct nest_counts *counts);

/* Finds the loops on the array, for the counts of a mapping.  False: the machine has none, or a pass has
 * too many loops. */
bool nest_array_project(const struct nest_model *model, const struct mapping *mapping,
	const struct nest_counts *counts, struct nest_projection *out);

/*
 * Fills in rounds and rows of the levels that give them a time, from the reads that are counted, and 0 elsewhere.
 * NEST_FITS; NEST_OVERFLOW; NEST_UNCOUNTABLE: a row has no length of its own, as factors do not divide or as
 * the last rank slides.
 */
enum nest_verdict nest_pace_count(const struct nest_model *model, const struct mapping *mapping,
	struct nest_counts *counts, struct nest_score *score);

/*
 * Energy of the network below level i, picojoules, from counts: 0 unless the
 * level says what a hop or a router costs.
 *
 * `exact`: a word that enters the network and goes to m of F children takes
 *
 *	hops = sqrt(F m) + (sqrt(F) - sqrt(m)) / 2 - sqrt(F / m) + 1/2
 *
 * (Timeloop's estimate of 2019 for a mesh that is entered in the middle of a side) and passes
 * one router more.  F is the fan-out of the machine between a level and the next one inwards
 * that keeps the dataspace; m is what children get divided by what enters, on average.
 * Partial sums take the same way outwards, and what returns of them to one child each.  A word
 * handed on by a neighbour takes one hop and two routers.
 *
 * `timeloop`: hops are Manhattan distances, counted with the accesses (nest_timeloop_counts).
 */
double nest_network_pj(const struct nest_model *model, enum counting counting,
	const struct nest_counts *counts, int i);

#endif
