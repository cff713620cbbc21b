#include "tests/support/projection_bounds.h"

#include "base/arena.h"
#include "base/number.h"

#include <stdlib.h>
#include <string.h>

/* For a box: the numbers of points by time, one loop after the other, each as a running sum over a
 * window of the ones before. */
static int64_t widest_of_box(const struct recurrence *recurrence, const int64_t *schedule,
	int64_t steps, struct arena *arena)
{
	int64_t *now = arena_array(arena, int64_t, steps),
		*next = arena_array(arena, int64_t, steps);
	int64_t length = 1, widest = 0;
	now[0] = 1;
	for (int i = 0; i < recurrence->loop_count; i++) {
		int64_t by = llabs(schedule[i]), extent = recurrence->loops[i].extent;
		int64_t after = length + by * (extent - 1);
		for (int64_t t = 0; t < after; t++) {
			int64_t sum = by && t >= by ? next[t - by] : 0;
			sum += t < length ? (by ? now[t] : now[t] * extent) : 0;
			if (by && t - by * extent >= 0 && t - by * extent < length)
				sum -= now[t - by * extent];
			next[t] = sum;
		}
		length = after;
		memcpy(now, next, sizeof *now * (size_t)length);
	}
	for (int64_t t = 0; t < length; t++)
		widest = number_max(widest, now[t]);
	return widest;
}

int64_t projection_widest(const struct recurrence *recurrence, const int64_t *schedule)
{
	int64_t steps = 1, first = 0, point[RECURRENCE_LOOPS_MOST], widest = 0;
	if (recurrence_box(recurrence) == INT64_MAX)
		return -1;
	for (int i = 0; i < recurrence->loop_count; i++) {
		const struct loop *loop = &recurrence->loops[i];
		int64_t range, at = schedule[i] < 0 ? loop->least + loop->extent - 1 : loop->least;
		if (schedule[i] == INT64_MIN || !number_mul(schedule[i], at, &at) ||
			!number_add(first, at, &first) ||
			!number_mul(llabs(schedule[i]), loop->extent - 1, &range) ||
			!number_add(steps, range, &steps) || steps > BOUND_STEPS_MOST)
			return -1;
	}
	struct arena *arena = arena_open();
	if (!recurrence->domain) {
		widest = widest_of_box(recurrence, schedule, steps, arena);
	} else if (recurrence_box(recurrence) > BOUND_POINTS_MOST) {
		widest = -1;
	} else {
		int64_t *points = arena_array(arena, int64_t, steps);
		for (bool more = recurrence_first(recurrence, point); more;
			more = recurrence_next(recurrence, point)) {
			int64_t time = -first;
			for (int i = 0; i < recurrence->loop_count; i++)
				time += schedule[i] * point[i];
			widest = number_max(widest, ++points[time]);
		}
	}
	arena_close(arena);
	return widest;
}

static int64_t index_of(const struct recurrence *recurrence, const int64_t *point)
{
	int64_t index = 0;
	for (int i = 0; i < recurrence->loop_count; i++)
		index = index * recurrence->loops[i].extent + point[i] - recurrence->loops[i].least;
	return index;
}

int64_t projection_longest(const struct recurrence *recurrence, uint32_t wires)
{
	int64_t box = recurrence_box(recurrence), left = 0, longest = 0, tail = 0;
	int64_t point[RECURRENCE_LOOPS_MOST], producer[RECURRENCE_LOOPS_MOST];
	if (box > BOUND_POINTS_MOST)
		return -1;
	struct arena *arena = arena_open();
	/* By point: producers that are not done, the longest chain that ends there, the queue. */
	int32_t *waits = arena_array(arena, int32_t, box),
		*chain = arena_array(arena, int32_t, box);
	int64_t(*queue)[RECURRENCE_LOOPS_MOST] =
		arena_alloc_array(arena, (size_t)box, sizeof *queue);
	for (bool more = recurrence_first(recurrence, point); more;
		more = recurrence_next(recurrence, point)) {
		int64_t at = index_of(recurrence, point);
		for (int d = 0; d < recurrence->dependence_count; d++)
			waits[at] += recurrence_producer(
				recurrence, &recurrence->dependences[d], point, producer);
		chain[at] = 1;
		left++;
		if (!waits[at])
			memcpy(queue[tail++], point, sizeof point);
	}
	for (int64_t head = 0; head < tail; head++, left--) {
		int64_t from = index_of(recurrence, queue[head]), consumer[RECURRENCE_LOOPS_MOST];
		longest = number_max(longest, chain[from]);
		for (int d = 0; d < recurrence->dependence_count; d++) {
			const struct dependence *dependence = &recurrence->dependences[d];
			for (int i = 0; i < recurrence->loop_count; i++)
				consumer[i] = queue[head][i] + dependence->vector[i];
			if (!recurrence_producer(recurrence, dependence, consumer, producer))
				continue;
			int64_t to = index_of(recurrence, consumer);
			int32_t step = wires >> dependence->stream & 1 ? 0 : 1;
			chain[to] = (int32_t)number_max(chain[to], chain[from] + step);
			if (!--waits[to])
				memcpy(queue[tail++], consumer, sizeof consumer);
		}
	}
	arena_close(arena);
	return left ? -1 : longest;
}
