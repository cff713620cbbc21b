#include "solvers/joint/cut_dp/toll.h"

#include "base/number.h"

/* Tensors count where bundles do. */
static bool counts(const struct frame *frame)
{
	return frame->args_most && frame->over[frame->width_most];
}

/* One row for each rank. */
static size_t row_size(const struct frame *frame)
{
	return counts(frame) ? (size_t)frame->args_most + 1 : 1;
}

static size_t ended(const struct frame *frame)
{
	return (size_t)frame->rank_count * row_size(frame);
}

size_t toll_count(const struct frame *frame)
{
	return ended(frame) + 1;
}

void toll_set(const struct frame *frame, int64_t *tolls, int64_t value)
{
	for (size_t i = 0; i <= ended(frame); i++)
		tolls[i] = value;
}

size_t toll_index(const struct frame *frame, int args, int widest)
{
	return (size_t)frame->ranks[widest] * row_size(frame) + (counts(frame) ? (size_t)args : 0);
}

static int64_t over(const struct frame *frame, int rank)
{
	return frame->over[frame->widths[rank]];
}

static size_t fresh_of(const struct frame *frame, const struct toll_step *step)
{
	return counts(frame) ? (size_t)step->fresh : 0;
}

void toll_take(const struct frame *frame, int64_t *tolls, const struct toll_step *step,
	const int64_t *behind)
{
	size_t size = row_size(frame), fresh = fresh_of(frame, step);
	if (step->value >= TOLL_NEVER || fresh >= size)
		return;
	for (int r = frame->ranks[step->cores]; r < frame->rank_count; r++) {
		int64_t *row = tolls + (size_t)r * size;
		const int64_t *from = behind + (size_t)r * size + fresh;
		for (size_t a = 0; a + fresh < size; a++)
			row[a] = number_min(row[a],
				step->value + (step->ends_bundle ? behind[ended(frame)] : from[a]));
	}
}

void toll_close(const struct frame *frame, int64_t *tolls)
{
	size_t size = row_size(frame), end = ended(frame);
	for (int r = frame->rank_count - 1; r >= 0; r--) {
		int64_t *row = tolls + (size_t)r * size;
		int64_t wider = r + 1 < frame->rank_count ? over(frame, r + 1) - over(frame, r) : 0;
		for (size_t a = 0; a < size && r + 1 < frame->rank_count; a++)
			row[a] = number_min(row[a], row[a + size] + wider);
		tolls[end] = number_min(tolls[end], row[0] + over(frame, r));
	}
	for (size_t i = 0; i < end; i++)
		tolls[i] = number_min(tolls[i], tolls[end]);
}

void toll_spread(const struct frame *frame, int64_t *costs)
{
	size_t size = row_size(frame), end = ended(frame);
	for (size_t i = 0; i < end; i++)
		costs[end] = number_min(costs[end], costs[i]);
	for (int r = 0; r < frame->rank_count; r++) {
		int64_t *row = costs + (size_t)r * size;
		int64_t wider = r ? over(frame, r) - over(frame, r - 1) : 0;
		row[0] = number_min(row[0], costs[end] + over(frame, r));
		for (size_t a = 0; a < size; a++) {
			if (a)
				row[a] = number_min(row[a], row[a - 1]);
			if (r)
				row[a] = number_min(row[a], row[a - size] + wider);
		}
	}
}

void toll_start(const struct frame *frame, int64_t *costs)
{
	toll_set(frame, costs, TOLL_NEVER);
	costs[ended(frame)] = 0;
}

bool toll_pay(const struct frame *frame, const int64_t *costs, const struct toll_step *step,
	int64_t *behind)
{
	size_t size = row_size(frame), fresh = fresh_of(frame, step), end = ended(frame);
	bool is_cheaper = false;
	if (step->value >= TOLL_NEVER || fresh >= size)
		return false;
	for (int r = frame->ranks[step->cores]; r < frame->rank_count; r++) {
		const int64_t *row = costs + (size_t)r * size;
		int64_t *to = behind + (size_t)r * size + fresh;
		for (size_t a = 0; a + fresh < size; a++) {
			int64_t *at = step->ends_bundle ? &behind[end] : &to[a];
			int64_t cost = row[a] + step->value;
			is_cheaper |= cost < *at;
			*at = number_min(*at, cost);
		}
	}
	return is_cheaper;
}

static int64_t least_behind(const struct frame *frame, const int64_t *costs,
	const struct toll_step *step, const int64_t *behind)
{
	size_t size = row_size(frame), fresh = fresh_of(frame, step);
	int64_t least = TOLL_NEVER;
	if (step->value >= TOLL_NEVER || fresh >= size)
		return TOLL_NEVER;
	for (int r = frame->ranks[step->cores]; r < frame->rank_count; r++) {
		const int64_t *row = costs + (size_t)r * size;
		const int64_t *from = behind + (size_t)r * size + fresh;
		for (size_t a = 0; a + fresh < size; a++)
			least = number_min(least,
				row[a] + (step->ends_bundle ? behind[ended(frame)] : from[a]));
	}
	return cut_add(least, step->value);
}

int64_t toll_least(const struct frame *frame, const int64_t *costs, const struct toll_step *step,
	const int64_t *behind)
{
	int64_t least = TOLL_NEVER;
	if (step)
		return least_behind(frame, costs, step, behind);
	for (size_t i = 0; i < toll_count(frame); i++)
		least = number_min(least, costs[i] + behind[i]);
	return least;
}
