#ifndef COST_NEST_NEST_H
#define COST_NEST_NEST_H

#include "model/nest/nest_score.h"

/*
 * The loop-nest model in closed form.  A prepared model holds what does not
 * depend on the mapping; evaluating it then costs O(levels * dimensions) for
 * perfect factors, allocates nothing and shares nothing, so that threads may use
 * one model together.  specs/counting.md defines both countings; `timeloop` follows NVlabs/timeloop at 4cf6d4c.
 * Imperfect mappings are always counted exactly: Timeloop's counts are averages
 * cut to integers there.
 */
struct nest_model;

const struct nest_model *nest_model_make(struct arena *arena, const struct hierarchy *hierarchy,
	const struct shape *shape, enum counting counting);

/* All checks, all counts, time and energy.  Counts are valid with the verdicts of
 * nest_verdict_counts. */
enum nest_verdict nest_evaluate(const struct nest_model *model, const struct mapping *mapping,
	struct nest_counts *counts, struct nest_score *score);

/* Time and energy of counts that come from elsewhere (a simulator's, an interpreter's). */
void nest_derive(
	const struct nest_model *model, const struct nest_counts *counts, struct nest_score *score);

/* For each dataspace and level how its count comes about: tile, loops above, the run that
 * reuses it, multicast, and the formula with its numbers. */
const char *nest_explain(
	const struct nest_model *model, const struct mapping *mapping, struct arena *arena);

/*
 * Constants of a level that do not depend on the mapping, laid out for evaluation in one or two
 * cache lines.
 */
struct level_price {
	double pj[NEST_ACTIONS]; /* per access of a block */
	double leak_pj;          /* per cycle and utilized instance of the level gated_at */
	double block_size;
	double clusters; /* in the machine: more are never busy */
	double rate[3];  /* reads, writes, both: words per cycle and instance; 0: unlimited */
	double limit[3]; /* the same; infinite: unlimited */
	double fanout_x, fanout_y;
	double size, least_size; /* words that tiles may and must fill; infinite, 0: any */
	int gated_at;
	int row, block_row;
	int64_t row_bit; /* in a residency */
	bool storage;
	bool limited; /* some rate is */
	bool scaled;  /* some dataspace's words count more or less than one in the rates */
	double row_words; /* words that the read port could serve in the time that a row takes besides */
};

/* Ranks that add dimensions of one dataspace, a lane each. */
enum { NEST_SUMS_MOST = 4 };

/* A dataspace as the quick count sees it (nest_quick_counts). */
struct nest_shape_of {
	bool boxed; /* the fields below describe all of its ranks */
	bool plain; /* ranks of one dimension each, coefficients 1 */
	bool written;
	uint32_t relevant;
	/* Ranks of one dimension. */
	int single_count;
	int single[SHAPE_RANKS_MOST];
	double coefficient[SHAPE_RANKS_MOST];
	/* Ranks that add two: their dimensions, and what an index of a dimension adds to each. */
	int sum_count;
	uint32_t sums[NEST_SUMS_MOST], summed;
	double step[SHAPE_DIMENSIONS_MOST][NEST_SUMS_MOST];
};

struct nest_model {
	const struct hierarchy *hierarchy;
	const struct shape *shape;
	enum counting counting;
	bool fits;              /* the multiply-adds fit an int64_t */
	int64_t computes;       /* multiply-adds */
	double multipliers;     /* of the machine */
	double peak;            /* multiply-adds per cycle of all of them */
	double least_busy;      /* multipliers that must be */
	bool least_usage;       /* some blocks must be in use */
	int64_t network_cycles; /* of all levels: added to the cycles */
	bool priced_hops;       /* some network's energy is given */
	struct level_price prices[ARCH_LEVELS_MOST];
	struct nest_shape_of spaces[SHAPE_SPACES_MOST];
	bool quick;           /* nest_quick_counts counts mappings */
	uint32_t slow_spaces; /* but for these */
	uint32_t paced;       /* levels whose rows or rounds take time */
	uint32_t storage_rows;
	uint32_t odd_spaces; /* that are not plain */
	double extents[SHAPE_DIMENSIONS_MOST];
	double words[SHAPE_SPACES_MOST]; /* product of the relevant extents */
	double rate_scale[ARCH_LEVELS_MOST][SHAPE_SPACES_MOST];
	/* -1 or 0 */
	int64_t used[SHAPE_DIMENSIONS_MOST]; /* dimensions of the shape */
	int64_t written[SHAPE_SPACES_MOST];
	int64_t relevant[SHAPE_DIMENSIONS_MOST][SHAPE_SPACES_MOST];
	double irrelevant[SHAPE_DIMENSIONS_MOST][SHAPE_SPACES_MOST]; /* 0 or 1 */
	int64_t summed[SHAPE_DIMENSIONS_MOST]
		      [SHAPE_SPACES_MOST]; /* in a rank that adds dimensions */
	uint32_t all_dimensions;
};

/* May the ports of a level be too slow for this many words, given cycles x instances?  No sum of
 * doubles errs by the margin left. */
static inline bool nest_may_wait(
	const struct level_price *price, double reads, double writes, double capacity)
{
	double most = capacity * (1 - 0x1p-40), both = reads + writes;
	return (reads > price->limit[0] * most) | (writes > price->limit[1] * most) |
	       (both > price->limit[2] * most);
}

/* Accesses that the instances of a level make: those of a cluster share one. */
static inline double clusters_of(const struct level_price *price, double instances)
{
	return instances < price->clusters ? instances : price->clusters;
}

#endif
