#include "cost/nest/nest_offsets.h"

#include "base/checked.h"

#include <stdlib.h>
#include <string.h>

/* An arithmetic progression from 0: `count` multiples of `step`. */
struct progression {
	int64_t step, count;
};

static int by_number(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static int without_repeats(int64_t *numbers, int count)
{
	qsort(numbers, (size_t)count, sizeof *numbers, by_number);
	int kept = 0;
	for (int i = 0; i < count; i++)
		if (kept == 0 || numbers[i] != numbers[kept - 1])
			numbers[kept++] = numbers[i];
	return kept;
}

/* Different sums of one of the numbers and one of each progression; the numbers are lost. */
static bool list_sums(int64_t *numbers, int count, const struct progression *progressions,
	int progression_count, int64_t *out)
{
	count = without_repeats(numbers, count);
	for (int p = 0; p < progression_count; p++) {
		struct progression progression = progressions[p];
		if (progression.count > NEST_OFFSETS_MOST / count)
			return false;
		int all = count;
		for (int64_t i = 1; i < progression.count; i++)
			for (int k = 0; k < count; k++)
				numbers[all++] = numbers[k] + i * progression.step;
		count = without_repeats(numbers, all);
	}
	*out = count;
	return true;
}

/*
 * Different sums of one number of each progression.  Steps ascending, a progression
 * whose step is a multiple of the sum's so far, and no longer than the sum, prolongs
 * it.  For two progressions, counts N and n, steps g and h without a common divisor:
 * two pairs of indices have the same sum if they differ by a multiple of (h, -g), so
 * there are as many sums as pairs (i, k) without another at (i - h, k + g):
 * N n - max(0, N - h) max(0, n - g).
 */
static bool count_sums(struct progression *progressions, int count, int64_t *out)
{
	struct progression sum = {1, 1};
	int i = 0;
	for (; i < count; i++) {
		int least = i;
		for (int k = i + 1; k < count; k++)
			if (progressions[k].step < progressions[least].step)
				least = k;
		struct progression next = progressions[least];
		progressions[least] = progressions[i];
		progressions[i] = next;
		if (sum.count == 1)
			sum = next;
		else if (next.step % sum.step == 0 && next.step / sum.step <= sum.count)
			sum.count += (next.count - 1) * (next.step / sum.step);
		else
			break;
	}
	if (i == count) {
		*out = sum.count;
		return true;
	}
	if (i == count - 1) {
		struct progression next = progressions[i];
		int64_t common = number_gcd(sum.step, next.step);
		*out = sum.count * next.count -
		       number_max(0, sum.count - next.step / common) *
			       number_max(0, next.count - sum.step / common);
		return true;
	}
	int64_t numbers[NEST_OFFSETS_MOST] = {0};
	return list_sums(numbers, 1, progressions, count, out);
}

/* --- from vectors to numbers */

/* One number for an offset of several ranks: weight[r] = product of (span + 1) of ranks before. */
static void find_weights(
	const struct nest_offsets *offsets, uint32_t dimensions, bool *fits, int64_t *weight)
{
	int64_t next = 1;
	for (int r = 0; r < offsets->space->rank_count; r++) {
		const int64_t *coefficient = offsets->space->ranks[r].coefficient;
		int64_t span = 0;
		for (int i = 0; i < offsets->loop_count; i++) {
			const struct nest_loop *loop = offsets->loops[i];
			if (dimensions >> loop->dimension & 1)
				span = checked_add(fits, span,
					checked_mul(fits, loop->bound - 1,
						checked_mul(fits, loop->stride,
							coefficient[loop->dimension])));
		}
		weight[r] = next;
		next = checked_mul(fits, next, span + 1);
	}
}

static struct progression progression_of(const struct nest_offsets *offsets,
	const struct nest_loop *loop, const int64_t *weight, bool *fits)
{
	int64_t step = 0;
	for (int r = 0; r < offsets->space->rank_count; r++)
		step = checked_add(fits, step,
			checked_mul(fits, weight[r],
				offsets->space->ranks[r].coefficient[loop->dimension]));
	return (struct progression){checked_mul(fits, step, loop->stride), loop->bound};
}

/* Dimensions of the loops that have a coefficient in some rank. */
static uint32_t moving_dimensions(const struct nest_offsets *offsets)
{
	uint32_t moving = 0;
	for (int i = 0; i < offsets->loop_count; i++)
		moving |= 1u << offsets->loops[i]->dimension;
	return moving & offsets->space->relevant;
}

static int64_t bounds_of(const struct nest_offsets *offsets, int d)
{
	int64_t bounds = 1;
	for (int i = 0; i < offsets->loop_count; i++)
		if (offsets->loops[i]->dimension == d)
			bounds *= offsets->loops[i]->bound;
	return bounds;
}

bool nest_offsets_count(const struct nest_offsets *offsets, bool *fits, int64_t *out)
{
	uint32_t open = moving_dimensions(offsets), ranks[SHAPE_RANKS_MOST];
	int rank_count = offsets->space->rank_count;
	for (int r = 0; r < rank_count; r++)
		ranks[r] = shape_rank_dimensions(&offsets->space->ranks[r]);
	int64_t product = 1;
	/* A rank that only one dimension moves tells that dimension's index; take it away. */
	for (int r = 0; r < rank_count; r++) {
		uint32_t moving = ranks[r] & open;
		if (!moving || moving & (moving - 1))
			continue;
		product = checked_mul(fits, product, bounds_of(offsets, __builtin_ctz(moving)));
		open &= ~moving;
		r = -1;
	}
	/* What is left falls into parts that have no rank together. */
	while (open) {
		uint32_t part = open & -open, before = 0;
		while (part != before) {
			before = part;
			for (int r = 0; r < rank_count; r++)
				if (ranks[r] & part)
					part |= ranks[r] & open;
		}
		int64_t weight[SHAPE_RANKS_MOST], sums = 0;
		struct progression progressions[NEST_SPATIAL_MOST];
		int count = 0;
		find_weights(offsets, part, fits, weight);
		for (int i = 0; i < offsets->loop_count; i++)
			if (part >> offsets->loops[i]->dimension & 1)
				progressions[count++] =
					progression_of(offsets, offsets->loops[i], weight, fits);
		if (!*fits || !count_sums(progressions, count, &sums))
			return false;
		product = checked_mul(fits, product, sums);
		open &= ~part;
	}
	*out = product;
	return true;
}

bool nest_offsets_count_chosen(const struct nest_offsets *offsets, int chosen, const int *index,
	int count, bool *fits, int64_t *out)
{
	int64_t weight[SHAPE_RANKS_MOST], numbers[NEST_OFFSETS_MOST];
	struct progression progressions[NEST_SPATIAL_MOST];
	find_weights(offsets, UINT32_MAX, fits, weight);
	for (int i = 0; i < offsets->loop_count; i++)
		progressions[i] = progression_of(offsets, offsets->loops[i], weight, fits);
	if (!*fits || count > NEST_OFFSETS_MOST)
		return false;
	for (int i = 0; i < count; i++) {
		numbers[i] = 0;
		for (int k = 0; k < chosen; k++)
			numbers[i] += index[i * chosen + k] * progressions[k].step;
	}
	*out = 0;
	return count == 0 ||
	       list_sums(numbers, count, progressions + chosen, offsets->loop_count - chosen, out);
}
