#ifndef COST_NEST_MODEL_H
#define COST_NEST_MODEL_H

#include "cost/nest/nest.h"

/*
 * What does not depend on the mapping, found once, laid out for evaluation: one
 * cache line or two for each level.
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
};

/* Ranks that add dimensions of one dataspace, a lane each. */
enum { NEST_SUMS_MOST = 4 };

/* A dataspace as the quick count sees it (cost/nest/nest_quick.h). */
struct nest_shape_of {
	bool boxed; /* what follows tells all of its ranks */
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
	bool quick;           /* cost/nest/nest_quick.h counts mappings */
	uint32_t slow_spaces; /* but for these */
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

#endif
