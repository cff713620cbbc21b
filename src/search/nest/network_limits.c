#include "search/nest/network_sums.h"

/* By how much a sum exceeds a limit; a limit of 0 counts as 1. */
static double factor(wide value, wide most)
{
	if (most == SUMS_NO_LIMIT)
		return 0;
	return (double)value / (double)(most ? most : 1);
}

static bool is_within(wide value, wide most)
{
	return most == SUMS_NO_LIMIT || value <= most;
}

size_t sums_within(const struct sums *sums, wide x_most, wide y_most)
{
	size_t best = SIZE_MAX;
	double least = 0;
	for (size_t i = 0; i < sums->count; i++) {
		const struct sums_point *at = &sums->at[i];
		double product = (double)at->x * (double)at->y;
		bool better = best == SIZE_MAX || product < least;
		if (!is_within(at->x, x_most) || !is_within(at->y, y_most))
			continue;
		if (x_most == SUMS_NO_LIMIT && y_most != SUMS_NO_LIMIT)
			return i; /* x ascends */
		if (y_most == SUMS_NO_LIMIT && x_most != SUMS_NO_LIMIT)
			better = true; /* y descends */
		if (!better)
			continue;
		best = i;
		least = product;
	}
	return best;
}

size_t sums_nearest(const struct sums *sums, wide x_most, wide y_most)
{
	size_t best = SIZE_MAX;
	double least = 0;
	for (size_t i = 0; i < sums->count; i++) {
		double x = factor(sums->at[i].x, x_most), y = factor(sums->at[i].y, y_most);
		double value = x > y ? x : y;
		if (best != SIZE_MAX && value >= least)
			continue;
		best = i;
		least = value;
	}
	return best;
}
