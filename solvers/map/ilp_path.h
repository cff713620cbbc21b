#ifndef MAP_ILP_PATH_H
#define MAP_ILP_PATH_H

#include "solvers/map/ilp_tiles.h"

/* What the parts of the assignment program share: paths, columns, combinations. */

/* Steps of a dimension: by row, tile inside the row and bound, both as numbers of divisors. */
struct ilp_path {
	int count;
	int64_t *divisors;
	int *steps[FACTORS_LOOPS_MOST]; /* [tile * count + bound]; -1: none */
};
int ilp_path_find(const struct ilp_path *path, int64_t value); /* the number of a divisor */

/* A column from 0 to 1, counted. */
int ilp_tiles_column(struct ilp_tiles *tiles, bool integer);

/* Adds the steps of a row of loops that have this bound (the number of a divisor) to the row
 * of the program made last; with a coefficient of 0 none.  Whether there are any. */
bool ilp_enter_bound(struct ilp_tiles *tiles, int row, int d, int bound, double coefficient);

/* One choice from each of some lists. */
struct ilp_combination {
	int count;
	size_t of[SHAPE_DIMENSIONS_MOST], at[SHAPE_DIMENSIONS_MOST];
};
bool ilp_combination_next(struct ilp_combination *combination); /* false after the last */

/* Whether a column for each would be more than there may be; they are counted then. */
bool ilp_combination_too_many(struct ilp_tiles *tiles, const struct ilp_combination *combination);

#endif
