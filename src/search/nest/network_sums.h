#ifndef SEARCH_NETWORK_SUMS_H
#define SEARCH_NETWORK_SUMS_H

#include "base/wide.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The frontier of a sum.  A part is one of some points, taken `count` times; each time may take
 * another of the points.  What is added up is two whole numbers, x and y, neither below 0; the
 * frontier has of all choices the sums that no other is below in one and not above in the other.
 *
 * It is made part by part, occurrence by occurrence, and of the sums so far only those are kept
 * that no other beats: after any addition they stay the better ones.  Whole numbers have no
 * rounding, so that no order of adding changes a result.  Parts of a count above some hundreds are
 * doubled up first.
 *
 * When more than `most` sums are left, some go: every one that went has another with an x that is
 * not above its own, and a y at most (1 + excess) times its own.  The least x and the least y of
 * all always stay.
 */
struct sums_point {
	wide x, y;
};

struct sums_part {
	int64_t count; /* at least 1 */
	size_t point_count;
	const struct sums_point *points; /* at least one */
};

struct sums {
	bool counted; /* false: a sum exceeds what can be counted, and nothing else holds */
	size_t count; /* of the frontier */
	struct sums_point *at; /* x ascending, y descending */
	uint64_t formed;       /* sums that were made */
	double excess;         /* 0: nothing went */

	size_t part_count;
	const struct sums_part *parts;
	size_t step_count; /* additions, the last one made the frontier */
	const struct sums_step *steps;
};

struct arena;
struct sums sums_make(
	struct arena *arena, const struct sums_part *parts, size_t part_count, size_t most);

/* How often sum i takes each point of each part: taken[part][point], all 0 at first. */
void sums_choice(const struct sums *sums, size_t i, int64_t *const *taken, struct arena *scratch);

/*
 * What to take under limits (SUMS_NO_LIMIT: none).  Under a limit of x the least y, under a limit
 * of y the least x, under both or none the least product; of several the first.  Without `excess`
 * no choice is better.  SIZE_MAX: no sum keeps to them.
 */
enum { SUMS_NO_LIMIT = -1 };
size_t sums_within(const struct sums *sums, wide x_most, wide y_most);

/* The sum that exceeds the limits least: by the larger of the two factors. */
size_t sums_nearest(const struct sums *sums, wide x_most, wide y_most);

#endif
