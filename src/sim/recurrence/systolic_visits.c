#include "sim/recurrence/systolic_visits.h"

#include "base/arena.h"
#include "base/number.h"
#include "sim/recurrence/sequential.h"

#include <stdlib.h>

bool visits_time(const struct visits *visits, const int64_t *point, int64_t *out)
{
	*out = 0;
	for (int r = 0; r < visits->projection->time_count; r++) {
		int64_t value, product;
		if (!number_dot(visits->projection->time[r], point, visits->recurrence->loop_count,
			    &value) ||
			!number_mul(value, visits->strides[r], &product) ||
			!number_add(*out, product, out))
			return false;
	}
	return true;
}

int64_t visits_pe(const struct visits *visits, const int64_t *point)
{
	int64_t pe = 0;
	for (int r = 0; r < visits->projection->space_count; r++) {
		int64_t at;
		if (!number_dot(visits->projection->space[r], point, visits->recurrence->loop_count,
			    &at) ||
			at < visits->least[r] || at - visits->least[r] >= visits->extents[r])
			return -1;
		pe = pe * visits->extents[r] + at - visits->least[r];
	}
	return pe;
}

int64_t visits_unit(const struct visits *visits, int64_t pe, int64_t *lane)
{
	int64_t unit = 0, stride = 1, lane_stride = 1;
	*lane = 0;
	for (int r = visits->projection->space_count - 1; r >= 0; r--) {
		int64_t at = pe % visits->extents[r];
		pe /= visits->extents[r];
		if (visits->projection->lanes[r]) {
			*lane += at * lane_stride;
			lane_stride *= visits->extents[r];
		} else {
			unit += at * stride;
			stride *= visits->extents[r];
		}
	}
	return unit;
}

/* The least and greatest of each row of space over the points of the domain. */
static bool measure_space(struct visits *visits)
{
	const struct projection *projection = visits->projection;
	int64_t point[RECURRENCE_LOOPS_MOST], value;
	for (int r = 0; r < RECURRENCE_LOOPS_MOST; r++) {
		visits->least[r] = INT64_MAX;
		visits->extents[r] = INT64_MIN;
	}
	for (bool more = recurrence_first(visits->recurrence, point); more;
		more = recurrence_next(visits->recurrence, point)) {
		for (int r = 0; r < projection->space_count; r++) {
			if (!number_dot(projection->space[r], point, visits->recurrence->loop_count,
				    &value))
				return false;
			visits->least[r] = number_min(visits->least[r], value);
			visits->extents[r] = number_max(visits->extents[r], value);
		}
		visits->count++;
	}
	visits->pe_count = 1;
	for (int r = 0; visits->count && r < projection->space_count; r++) {
		visits->extents[r] -= visits->least[r] - 1;
		if (!number_mul(visits->pe_count, visits->extents[r], &visits->pe_count) ||
			visits->pe_count > VISITS_PES_MOST)
			return false;
	}
	return true;
}

/* An inner row of time runs through the box's range of it in each step of an outer one: the
 * machine's clock knows loops, not domains. */
static bool measure_time(struct visits *visits)
{
	const struct recurrence *recurrence = visits->recurrence;
	int64_t stride = 1;
	for (int r = visits->projection->time_count - 1; r >= 0; r--) {
		int64_t range = 1;
		visits->strides[r] = stride;
		for (int i = 0; i < recurrence->loop_count; i++) {
			int64_t part;
			if (!number_mul(llabs(visits->projection->time[r][i]),
				    recurrence->loops[i].extent - 1, &part) ||
				!number_add(range, part, &range))
				return false;
		}
		if (!number_mul(stride, range, &stride))
			return false;
	}
	return true;
}

bool visits_measure(struct visits *visits)
{
	return measure_space(visits) && measure_time(visits);
}

static int compare_visits(const void *left, const void *right)
{
	const struct visit *a = left, *b = right;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	if (a->pe != b->pe)
		return a->pe < b->pe ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

bool visits_list(struct visits *visits, struct arena *arena)
{
	int64_t point[RECURRENCE_LOOPS_MOST];
	size_t count = 0;
	visits->at = arena_array(arena, struct visit, visits->count);
	for (bool more = recurrence_first(visits->recurrence, point); more;
		more = recurrence_next(visits->recurrence, point)) {
		struct visit *visit = &visits->at[count++];
		visit->pe = visits_pe(visits, point);
		visit->index = recurrence_index(visits->recurrence, point);
		if (!visits_time(visits, point, &visit->time))
			return false;
	}
	if (count)
		qsort(visits->at, count, sizeof *visits->at, compare_visits);
	return true;
}

void visits_point(const struct visits *visits, int64_t index, int64_t *point)
{
	for (int i = visits->recurrence->loop_count - 1; i >= 0; i--) {
		const struct recurrence_loop *loop = &visits->recurrence->loops[i];
		point[i] = loop->least + index % loop->extent;
		index /= loop->extent;
	}
}
