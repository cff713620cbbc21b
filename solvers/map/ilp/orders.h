#ifndef MAP_ILP_ORDERS_H
#define MAP_ILP_ORDERS_H

#include "search/engine/milp.h"
#include "solvers/map/ilp/frame.h"

/*
 * Orders of temporal loops in an integer program.  For every storage level but the
 * innermost: binaries `busy` (a loop's bound is above 1; whoever makes the program ties them
 * to its bounds) and `inside` (one loop is inside another), which make up one order.  Every
 * order of the domain is a point of these.
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
 * What moves the tiles of dataspace t at storage level c.  A loop over a dimension that is irrelevant to t counts if a relevant one with a bound above 1
 * is inside it and outside c: by storage level and dimension a column that is at least 1 then,
 * and can be 0 else.  -1: there is no such loop.
 */
struct ilp_counted {
	int loop[ARCH_LEVELS_MOST][SHAPE_DIMENSIONS_MOST];
};
const struct ilp_counted *ilp_counted(struct ilp_orders *orders, struct arena *arena, int t, int c);

/* The order of level j that the columns' values stand for, innermost first. */
void ilp_order_read(const struct ilp_orders *orders, const double *values, int j, uint8_t *order);

#endif
