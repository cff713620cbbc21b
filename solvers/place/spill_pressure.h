#ifndef PLACE_SPILL_PRESSURE_H
#define PLACE_SPILL_PRESSURE_H

#include "solvers/place/spill_set.h"

/*
 * What a row costs that is nearly full, in gain: sets that the rows hold pack the sooner the more
 * of it is left, and not all rows are equally hard.  The cost is m^2 / (m + what is left), for a
 * margin m, times the row's steepness: what another unit costs where nothing is left.  Of sets that
 * gain as much those that pack have less of it; that tells them better from others than what is
 * above some line.
 */
struct spill_pressure {
	const struct spill_model *model;
	double margin; /* units, at least 1: at which half is left of what a full row costs */
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

/* What a full row costs, on average. */
double spill_pressure_mean(const struct spill_pressure *pressure);

#endif
