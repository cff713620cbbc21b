#ifndef MAP_ILP_TILES_H
#define MAP_ILP_TILES_H

#include "base/array.h"
#include "solvers/map/ilp_frame.h"
#include "solvers/map/ilp_orders.h"

/*
 * The assignment program: of every dimension a path of tiles, from 1 inside all rows of loops
 * to the extent outside, one binary for each step (a row, the tile inside it, its bound).
 * Everything else follows the paths:
 *
 *	products   of what loops of one dimension count, chosen rows only: a second path that
 *	           takes the same bounds, and multiplies where they count (ilp_orders.h)
 *	joints     of such products of several dimensions, and of tiles: one column for each
 *	           combination, whose sums are the single ones'
 *
 * So counts of accesses are sums of columns, exactly, where each rank of a dataspace is one
 * dimension; the relaxation of a path is the path.
 */
struct ilp_path; /* of a dimension */
struct ilp_product;

struct ilp_tiles {
	struct arena *arena;
	struct milp *milp;
	const struct ilp_frame *frame;
	struct ilp_orders orders;
	struct ilp_path *paths[SHAPE_DIMENSIONS_MOST];          /* NULL: an extent of 1 */
	int along_y[FACTORS_LOOPS_MOST][SHAPE_DIMENSIONS_MOST]; /* -1: one axis only */
	int *chain[SHAPE_SPACES_MOST];                          /* by chain; NULL: one only */
	struct array(struct ilp_product *) products;
	double columns; /* that there are, or would be: those of a joint that is too large too */
	double most;    /* no joint is made once there are more */
	double mass;    /* what all columns of a point add up to, at most */
};

struct ilp_tiles *ilp_tiles_make(
	struct arena *arena, const struct ilp_frame *frame, double columns_most);

/*
 * A product over dimensions: of each the bounds of temporal loops outside storage level c
 * that count for dataspace t (of those in `all`, and with c = -1: of all temporal loops),
 * and of the spatial ones in some rows, outside c too.  It is there while chain `gate` of t
 * is chosen (-1: always; t is of no account then with c = -1).
 */
struct ilp_factors {
	int t, c, gate;
	uint32_t dimensions, all;
	uint64_t blocks[SHAPE_DIMENSIONS_MOST]; /* rows, by dimension */
};

/* The values that it may have, each with the column that is 1 where it has it. */
struct ilp_values {
	size_t count;
	struct ilp_value {
		int column; /* -1: it is the only one, and always there */
		double value;
	} * at;
};
struct ilp_values ilp_tiles_values(struct ilp_tiles *tiles, const struct ilp_factors *factors);

void ilp_tiles_read(const struct ilp_tiles *tiles, const double *values, struct ilp_point *point);

#endif
