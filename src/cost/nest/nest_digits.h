#ifndef COST_NEST_DIGITS_H
#define COST_NEST_DIGITS_H

#include "cost/nest/nest_loops.h"

/*
 * The index of a dimension as a number of mixed radix: one digit for each of its
 * loops outside a level, outermost first.  The level's tile begins at that index,
 * and exists if the number is at most the tail's, the number of the last tile.
 */
enum { NEST_DIGITS_MOST = 32 };

struct nest_digit {
	int loop; /* in nest_loops.at */
	bool spatial;
	int level; /* of the loop */
	int64_t bound;
	int64_t tail; /* of the last tile */
	/* Temporal: where the loop ends when all outer temporal digits stand at their ends.  As the
	 * tail, but up to the bound inside a spatial digit that the tail has above 0. */
	int64_t end;
};

struct nest_digits {
	int count;
	struct nest_digit at[NEST_DIGITS_MOST];
	int64_t width, rest; /* indices of a tile, of the last one */
};

struct nest_digits nest_digits_make(
	const struct nest_model *model, const struct nest_loops *loops, int dimension, int level);

/* Numbers up to the tail whose digits are 0 but for those in `free`, a bit each; and whether the
 * tail is one of them. */
struct nest_tally {
	int64_t count;
	bool tail;
};

struct nest_tally nest_digits_count(const struct nest_digits *digits, uint32_t free);

#endif
