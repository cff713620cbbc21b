#ifndef MAP_ILP_ILP_H
#define MAP_ILP_ILP_H

#include "base/array.h"
#include "base/number.h"
#include "base/tuning.h"
#include "search/engine/milp.h"
#include "search/nest/nest_search.h"
#include "solvers/map/exact/exact.h"

/* The integer program.  Its estimates are of exp(x), x a logarithm relative to a good mapping. */
#define ILP_OPTIONS(OPTION)                                                                        \
	OPTION(ILP_ROUNDS_MOST, 12, 1, 1000, "programs of all mappings, each with more tangents")  \
	OPTION(ILP_WORK_MILLIONS, 60, 1, 1 << 20,                                                  \
		"million simplex iterations times rows of one run: some seconds")                  \
	OPTION(ILP_GAP_PERMILLE, 2, 0, 1000, "gap at which a program counts as solved")            \
	OPTION(ILP_CHAINS_FREE_MOST, 6, 1, 16, "levels free to keep a dataspace: 2^6 chains")      \
	OPTION(ILP_FIRST_PERCENT, -750, -5000, 0,                                                  \
		"x of the first tangent of a cost; what a gate shuts is below it by 1, where all " \
		"tangents are below 0")                                                            \
	OPTION(ILP_LAST_PERCENT, 100, 0, 1000,                                                     \
		"x of the last one: the objective around its scale")                               \
	OPTION(ILP_SHARE_FIRST_PERCENT, -400, -5000, 0,                                            \
		"x of the first tangent of a share; 0 ends")                                       \
	OPTION(ILP_NEAR_PERMILLE, 1, 0, 1000, "relatively closer to a tangent nothing is learnt")

OPTIONS(ILP_OPTIONS)

/*
 * A mapspace of perfect factors as the integer program sees it: rows of loops
 * (space->levels, innermost first), storage levels (numbered from 0, the innermost), the
 * primes of the extents, and for each dataspace the chains of levels that may keep it.
 */

struct ilp_chain {
	int count;
	int at[ARCH_LEVELS_MOST]; /* storage levels, innermost first */
};

struct ilp_frame {
	struct nest_frame nest;
	const struct nest_search *search;
	const struct shape *shape;
	int row_count, dimension_count;
	double words[SHAPE_SPACES_MOST]; /* of the whole dataspace, gaps of its ranks included */
	int prime_count[SHAPE_DIMENSIONS_MOST]; /* 0: an extent of 1 */
	int64_t prime[SHAPE_DIMENSIONS_MOST][NUMBER_PRIMES_MOST];
	int power[SHAPE_DIMENSIONS_MOST][NUMBER_PRIMES_MOST];
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

/*
 * Sums of columns and a constant, and exp() of them in a linear program.  exp is convex, so
 * its tangents are below it: a column that is above some tangents is a lower estimate of
 * exp, exact where a tangent touches.
 */
struct ilp_part {
	int column;
	double coefficient;
};

struct ilp_line {
	struct arena *arena;
	struct array(struct ilp_part) parts;
	double constant;
};

void ilp_line_add(struct ilp_line *line, int column, double coefficient);
void ilp_line_add_line(struct ilp_line *line, const struct ilp_line *other, double coefficient);
double ilp_line_value(const struct ilp_line *line, const double *values);

/* least <= line <= most, as a row. */
void ilp_line_row(struct milp *milp, const struct ilp_line *line, double least, double most);

/* A column that equals the line. */
int ilp_line_column(struct milp *milp, const struct ilp_line *line);

/* Makes one column at least exp(x) + exp(x) (other - x): the tangent that touches at x. */
void ilp_tangent(struct milp *milp, int column, int other, double x);

/*
 * The compact integer program: how many copies of each prime of each dimension stand in each
 * row of loops.  Counts of accesses are products of bounds, so their logarithms are sums of
 * columns; which loops count for which dataspace is orders.h's.  The objective is a sum
 * of exponentials, made linear by tangents, and so are capacities, of which
 * dataspaces take the share they need: both are lower estimates, and the more tangents
 * the closer.
 *
 * Estimated: the words of a window; where it goes on by a part of itself it is fetched again; in
 * `edp`, and where sums may meet in space, second visits are estimated from the least
 * bound that makes one; a shared port and a level's blocks are taken to be used in full.
 * Left out: fill and drain, energy of networks, least utilization, what homes hold in loops outside.
 */
struct ilp_cuts {
	/* By number of an exponential: where tangents shall touch, besides those at the start;
	 * logarithms, of the objective's own units. */
	struct array(struct ilp_touches { struct array(double) at; }) touches;
};

struct ilp_exponential {
	struct ilp_line line;
	int column;   /* exp(line), from below */
	double shift; /* what the scale takes off the line */
};

struct ilp_compact {
	struct arena *arena;
	struct milp *milp;
	const struct ilp_frame *frame;
	struct ilp_orders orders;
	int copies[FACTORS_LOOPS_MOST][ILP_AXES][SHAPE_DIMENSIONS_MOST]
		  [NUMBER_PRIMES_MOST]; /* -1 */
	int *chain[SHAPE_SPACES_MOST];  /* by chain; NULL: there is one only */
	int cycles;                     /* their logarithm; -1: not asked for */
	double scale;                   /* of the objective: the value of a good mapping */
	double constant;                /* of the objective, times scale */
	struct array(struct ilp_exponential) exponentials;
	struct array(struct ilp_window) windows;
	struct ilp_moves *moves[SHAPE_SPACES_MOST][ARCH_LEVELS_MOST];
};

/* `scale` is about what the objective will be.  NULL for an objective that it cannot express. */
struct ilp_compact *ilp_compact_make(struct arena *arena, const struct ilp_frame *frame,
	const struct ilp_cuts *cuts, double scale);

/* The neighbours of a point: bounds of these rows (a mask) and dimensions, and orders, may
 * be others. */
struct ilp_near {
	const struct ilp_point *point;
	uint64_t rows;
	uint32_t dimensions;
	bool orders, chains;
};
void ilp_compact_stay(struct ilp_compact *compact, const struct ilp_near *near);

/* The objective of a value of the program's. */
double ilp_compact_value(const struct ilp_compact *compact, double value);

void ilp_compact_read(
	const struct ilp_compact *compact, const double *values, struct ilp_point *point);

/* Tangents that touch at a point, for the next program. */
void ilp_compact_learn(const struct ilp_compact *compact, const double *values, struct arena *arena,
	struct ilp_cuts *cuts);

/* The exponentials of a compact program, whose bounds and orders are there: its objective,
 * the cycles that ports take, and what levels hold. */
void ilp_costs_add(struct ilp_compact *compact, const struct ilp_cuts *cuts);

#endif
