#ifndef PLACE_SPILL_PRICE_H
#define PLACE_SPILL_PRICE_H

#include "solvers/place/spill/set.h"

/*
 * Dual prices of rows, learned from the packer as by a subgradient method: a set that the rows hold
 * packs the sooner the more room they leave, and not all rows are equally hard.  Load l in a row of
 * room c costs p m^2 / (m + c - l), in gain, where m is a margin and p the row's price, which is
 * what the last unit of a full row costs.
 */
struct spill_prices {
	const struct spill_model *model;
	double margin; /* units, at least 1 */
	double unit;   /* what a unit of load gains on average, in the set they were made for */
	double *price; /* by row */
};

struct arena;
struct spill_prices spill_prices_make(struct arena *arena, const struct spill_set *set);

/* The cost of these rows, half-open. */
double spill_prices_cost(
	const struct spill_prices *prices, const struct spill_set *set, int row, int row_end);

/* What turning an item would change it by, if it shares nothing. */
double spill_prices_change(
	const struct spill_prices *prices, const struct spill_set *set, int item);

/* This row was too hard to fill. */
void spill_prices_raise(struct spill_prices *prices, int row);

/* All prices become this many hundredths of what they are. */
void spill_prices_scale(struct spill_prices *prices, int percent);

/* What a full row costs, on average. */
double spill_prices_mean(const struct spill_prices *prices);

#endif
