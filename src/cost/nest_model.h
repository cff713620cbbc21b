#ifndef COST_NEST_MODEL_H
#define COST_NEST_MODEL_H

#include "cost/nest.h"

/*
 * What does not depend on the mapping, found once, laid out for evaluation: one
 * cache line or two for each level.
 */
struct nest_price {
	double pj[NEST_ACTIONS]; /* per access of a block */
	double leak_pj;          /* per cycle and utilized instance of the level gated_at */
	double block_size;
	double clusters; /* in the machine: more are never busy */
	double rate[3];  /* reads, writes, both: words per cycle and instance; 0: unlimited */
	double fanout_x, fanout_y;
	int gated_at;
	int row, block_row;
	bool storage;
	bool limited; /* some rate is */
	bool scaled;  /* some dataspace's words count more or less than one in the rates */
};

/* A rank of at most two dimensions; what is missing has the coefficient 0. */
struct nest_rank {
	double coefficient[2];
	int dimension[2];
};

/* A dataspace as the quick count sees it (cost/nest_quick.h). */
struct nest_shape_of {
	bool quick; /* else it is always counted the long way */
	bool boxed; /* no rank of more than two dimensions */
	bool plain; /* ranks of one dimension each, coefficients 1 */
	bool written;
	uint32_t relevant;
	int sum_count;                      /* ranks that add dimensions */
	uint32_t sums[SHAPE_RANKS_MOST];    /* their dimensions */
	int rank_of[SHAPE_DIMENSIONS_MOST]; /* the rank that has the dimension; -1 */
	int rank_count;
	double coefficient[SHAPE_DIMENSIONS_MOST];
	uint32_t rank_dimensions[SHAPE_RANKS_MOST];
	struct nest_rank ranks[SHAPE_RANKS_MOST];
};

struct nest_model {
	const struct hierarchy *hierarchy;
	const struct shape *shape;
	enum counting counting;
	bool fits;              /* the multiply-adds fit an int64_t */
	int64_t computes;       /* multiply-adds */
	double multipliers;     /* of the machine */
	double least_busy;      /* multipliers that must be */
	int64_t network_cycles; /* of all levels: added to the cycles */
	bool priced_hops;       /* some network's energy is given */
	struct nest_price prices[ARCH_LEVELS_MOST];
	struct nest_shape_of spaces[SHAPE_SPACES_MOST];
	bool quick;           /* cost/nest_quick.h counts mappings */
	uint32_t slow_spaces; /* but for these */
	uint32_t storage_rows;
	uint32_t boxed_spaces, sum_spaces;
	double extents[SHAPE_DIMENSIONS_MOST];
	double words[SHAPE_SPACES_MOST]; /* product of the relevant extents */
	/* -1 or 0 */
	int64_t written[SHAPE_SPACES_MOST];
	int64_t relevant[SHAPE_DIMENSIONS_MOST][SHAPE_SPACES_MOST];
	uint32_t all_dimensions;
};

#endif
