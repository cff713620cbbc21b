#ifndef MAP_ILP_FRAME_H
#define MAP_ILP_FRAME_H

#include "search/engine/milp.h"
#include "search/nest/nest_search.h"
#include "solvers/map/exact/view.h"

/*
 * A mapspace of perfect factors as the integer program sees it: rows of loops
 * (space->levels, innermost first), storage levels (numbered from 0, the innermost), the
 * primes of the extents, and for each dataspace the chains of levels that may keep it.
 */
enum { ILP_PRIMES_MOST = 10 };

struct ilp_chain {
	int count;
	int at[ARCH_LEVELS_MOST]; /* storage levels, innermost first */
};

struct ilp_frame {
	struct nest_frame nest;
	const struct nest_search *search;
	const struct shape *shape;
	int row_count, dimension_count;
	double computes;
	double words[SHAPE_SPACES_MOST]; /* of the whole dataspace, gaps of its ranks included */
	int prime_count[SHAPE_DIMENSIONS_MOST]; /* 0: an extent of 1 */
	int64_t prime[SHAPE_DIMENSIONS_MOST][ILP_PRIMES_MOST];
	int power[SHAPE_DIMENSIONS_MOST][ILP_PRIMES_MOST];
	int chain_count[SHAPE_SPACES_MOST]; /* 0: nothing may keep it, or too many levels may */
	struct ilp_chain *chains[SHAPE_SPACES_MOST];
};

struct ilp_frame *ilp_frame_make(struct arena *arena, const struct nest_search *search);

/* Returns the number of times that a prime divides a value. */
int ilp_power(int64_t value, int64_t prime);

/* Bounds that a loop may have. */
const struct factor_domain *ilp_factor(const struct ilp_frame *frame, int row, int d);

bool ilp_spatial(const struct ilp_frame *frame, int row);

/* True if loops of a row are inside storage level j; -1 are the multipliers. */
bool ilp_inside(const struct ilp_frame *frame, int row, int j);

/* Energy, words or bytes of one word at storage level j, as the first objective counts them;
 * 0 if it does not.  A cluster is taken to be used in full, and a block. */
double ilp_price(const struct ilp_frame *frame, int j, enum nest_action action);

/* The first objective is a sum over accesses (energy, words), or that times the cycles. */
bool ilp_counts_accesses(enum objective objective);

/* Sums of dataspace t cannot be added up in space outside storage level p: first visits there
 * are as many as words. */
bool ilp_sums_meet(const struct ilp_frame *frame, int t, int p);

/* Axes of spatial loops; true if the domain's split leaves loop d of a fan-out an axis. */
enum ilp_axis { ILP_X, ILP_Y, ILP_AXES };
bool ilp_may_run_along(const struct ilp_frame *frame, int row, int d, enum ilp_axis axis);

/* A guess of the optimum, to scale with: every word moves once, all multipliers are busy. */
double ilp_guess(const struct ilp_frame *frame);

/* A mapping as programs choose it. */
struct ilp_point {
	int64_t bounds[FACTORS_LOOPS_MOST][SHAPE_DIMENSIONS_MOST];
	uint32_t along_y[FACTORS_LOOPS_MOST];
	uint8_t order[ARCH_LEVELS_MOST]
		     [SHAPE_DIMENSIONS_MOST]; /* innermost first; not of level 0 */
	int chain[SHAPE_SPACES_MOST];
};

/* False if the domain has no such split of a fan-out. */
bool ilp_point_mapping(
	const struct ilp_frame *frame, const struct ilp_point *point, struct mapping *out);

/*
 * Orders of temporal loops in an integer program.  For every storage level but the innermost: binaries `busy` (a
 * loop's bound is above 1; the caller ties them to its bounds) and `inside` (one loop is inside another), which
 * make up one order.  Every order of the domain is a point of these.
 */
struct ilp_orders {
	struct milp *milp;
	const struct ilp_frame *frame;
	int busy[ARCH_LEVELS_MOST][SHAPE_DIMENSIONS_MOST]; /* -1: the bound is 1 */
	int inside[ARCH_LEVELS_MOST][SHAPE_DIMENSIONS_MOST][SHAPE_DIMENSIONS_MOST]; /* -1 */
	struct ilp_counted *counted[SHAPE_SPACES_MOST][ARCH_LEVELS_MOST];
};

void ilp_orders_open(struct ilp_orders *orders, struct milp *milp, const struct ilp_frame *frame);

/*
 * Loops that move the tiles of dataspace t at storage level c.  A loop over a dimension that is irrelevant to t
 * counts if a relevant one with a bound above 1 is inside it and outside c: by storage level and dimension a column
 * that is at least 1 then, and can be 0 else.  -1: the loop does not exist.
 */
struct ilp_counted {
	int loop[ARCH_LEVELS_MOST][SHAPE_DIMENSIONS_MOST];
};
const struct ilp_counted *ilp_counted(struct ilp_orders *orders, struct arena *arena, int t, int c);

/* The order of level j that the columns' values stand for, innermost first. */
void ilp_order_read(const struct ilp_orders *orders, const double *values, int j, uint8_t *order);

#endif
