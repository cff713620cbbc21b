#ifndef PLACE_SPILL_PRESSURE_H
#define PLACE_SPILL_PRESSURE_H

#include "solvers/place/spill_set.h"

/*
 * What a row costs that is nearly full, in gain: sets that the rows hold pack the sooner the more
 * of it is left, and not all rows are equally hard.  From a margin below the room on, the cost
 * grows with the square of the load; at the room another unit costs the row's steepness.
 */
struct spill_pressure {
	const struct spill_model *model;
	double margin; /* units, at least 1 */
	double unit;   /* what a unit of load gains on average, in the set it was made for */
	double *steep; /* by row */
};

struct arena;
struct spill_pressure spill_pressure_make(struct arena *arena, const struct spill_set *set);

/* The cost of these rows, half-open. */
double spill_pressure_of(
	const struct spill_pressure *pressure, const struct spill_set *set, int row, int row_end);

/* What turning an item would change it by, if it shares nothing. */
double spill_pressure_change(
	const struct spill_pressure *pressure, const struct spill_set *set, int item);

/* This row was too hard to fill. */
void spill_pressure_raise(struct spill_pressure *pressure, int row);

/* All are times so much. */
void spill_pressure_scale(struct spill_pressure *pressure, double factor);

/* The margin is times so much, at most the room. */
void spill_pressure_widen(struct spill_pressure *pressure, double factor);

#endif
