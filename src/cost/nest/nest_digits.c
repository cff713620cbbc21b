#include "cost/nest/nest_digits.h"

struct nest_digits nest_digits_make(
	const struct nest_model *model, const struct nest_loops *loops, int dimension, int level)
{
	struct nest_digits digits;
	int64_t last = model->shape->dimensions[dimension].extent - 1;
	bool below = false; /* spatial indices at 0 are below the tail already */
	digits.count = 0;
	digits.width = level < 0 ? 1 : loops->tile[level][dimension];
	digits.rest = last % digits.width + 1;
	for (int k = loops->count - 1; k >= loops->block[level + 1]; k--) {
		const struct nest_loop *loop = &loops->at[k];
		if (loop->dimension != dimension)
			continue;
		int64_t tail = last / loop->stride % loop->bound;
		digits.at[digits.count++] = (struct nest_digit){
			.loop = k,
			.spatial = loop->spatial,
			.level = loop->level,
			.bound = loop->bound,
			.tail = tail,
			.end = below ? loop->bound - 1 : tail,
		};
		below |= loop->spatial && tail > 0;
	}
	return digits;
}

struct nest_tally nest_digits_count(const struct nest_digits *digits, uint32_t free)
{
	/* Outermost digit first: numbers that equal the tail so far, and those below it. */
	struct nest_tally tally = {0, true};
	for (int i = 0; i < digits->count; i++) {
		const struct nest_digit *digit = &digits->at[i];
		bool is_free = free >> i & 1;
		tally.count *= is_free ? digit->bound : 1;
		if (tally.tail)
			tally.count += is_free ? digit->tail : digit->tail > 0;
		tally.tail = tally.tail && (is_free || digit->tail == 0);
	}
	tally.count += tally.tail;
	return tally;
}
