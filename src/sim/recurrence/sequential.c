#include "sim/recurrence/sequential.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"

#include <stdlib.h>
#include <string.h>

struct point_run {
	const struct recurrence *recurrence;
	const struct recurrence_inputs *inputs;
	int64_t points;
	double *values;
	bool *done;   /* by stream and point */
	bool lacking; /* a read of the open value found none: `wanted` */
	int wanted_stream;
	int64_t wanted[RECURRENCE_LOOPS_MOST];
	bool outside, stopped;
	uint64_t unasked;
};

enum { STEPS_UNASKED = 1 << 12 };

bool recurrence_stops(const struct recurrence_inputs *inputs, uint64_t *unasked)
{
	return ++*unasked % STEPS_UNASKED == 0 && stopper_stops(inputs->stopper);
}

int64_t recurrence_index(const struct recurrence *recurrence, const int64_t *point)
{
	int64_t index = 0;
	for (int i = 0; i < recurrence->loop_count; i++)
		index = index * recurrence->loops[i].extent + point[i] - recurrence->loops[i].least;
	return index;
}

static double read_value(void *user, int stream, const int64_t *place)
{
	struct point_run *run = user;
	const struct recurrence *recurrence = run->recurrence;
	if (recurrence->streams[stream].kind == STREAM_INPUT)
		return run->inputs->read(run->inputs->user, stream, place);
	if (run->lacking)
		return 0;
	if (!recurrence_holds(recurrence, place)) {
		run->outside = true;
		return 0;
	}
	int64_t at = stream * run->points + recurrence_index(recurrence, place);
	if (run->done[at])
		return run->values[at];
	run->lacking = true;
	run->wanted_stream = stream;
	memcpy(run->wanted, place, sizeof *place * (size_t)recurrence->loop_count);
	return 0;
}

struct open_value {
	int stream;
	int64_t point[RECURRENCE_LOOPS_MOST];
};

/* One value after those that it reads; the open ones wait on a stack. */
static const char *compute(
	struct point_run *run, int stream, const int64_t *point, struct arena *arena)
{
	struct arena_mark mark = arena_mark(arena);
	struct array(struct open_value) stack = {0};
	const char *fault = NULL;
	struct open_value *first = array_add(arena, &stack);
	first->stream = stream;
	memcpy(first->point, point, sizeof first->point);
	while (stack.count && !fault) {
		struct open_value task = stack.at[stack.count - 1];
		int64_t at =
			task.stream * run->points + recurrence_index(run->recurrence, task.point);
		struct term_values values = {task.point, run, read_value};
		run->lacking = false;
		if (recurrence_stops(run->inputs, &run->unasked)) {
			fault = "it was stopped";
			run->stopped = true;
			break;
		}
		double value =
			run->done[at]
				? run->values[at]
				: term_value(run->recurrence->streams[task.stream].body, &values);
		if (run->outside) {
			fault = "a value is read outside the domain";
		} else if (run->lacking) {
			struct open_value *next = array_add(arena, &stack);
			next->stream = run->wanted_stream;
			memcpy(next->point, run->wanted, sizeof next->point);
			if (stack.count >
				(size_t)run->points * (size_t)run->recurrence->stream_count)
				fault = "a value is needed to compute itself";
		} else {
			run->values[at] = value;
			run->done[at] = true;
			stack.count--;
		}
	}
	arena_release(arena, mark);
	return fault;
}

static int compare_outputs(const void *left, const void *right)
{
	const struct recurrence_output *a = left, *b = right;
	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	for (int i = 0; i < RECURRENCE_LOOPS_MOST; i++)
		if (a->place[i] != b->place[i])
			return a->place[i] < b->place[i] ? -1 : 1;
	return 0;
}

bool recurrence_sort_outputs(struct recurrence_output *outputs, size_t count)
{
	if (count)
		qsort(outputs, count, sizeof *outputs, compare_outputs);
	for (size_t i = 1; i < count; i++)
		if (!compare_outputs(&outputs[i - 1], &outputs[i]))
			return false;
	return true;
}

bool recurrence_write(const struct recurrence *recurrence, int stream,
	const struct term_values *values, struct recurrence_outputs *outputs, struct arena *arena)
{
	const struct stream *to = &recurrence->streams[stream];
	if (!recurrence_writes(to, values->point))
		return false;
	struct recurrence_output *output = array_add(arena, outputs);
	output->stream = stream;
	for (int i = 0; i < to->rank; i++)
		output->place[i] =
			loop_sum_value(&to->place[i], recurrence->loop_count, values->point);
	output->value = term_value(to->body, values);
	return true;
}

struct recurrence_values sequential_run(const struct recurrence *recurrence,
	const struct recurrence_inputs *inputs, struct arena *arena)
{
	struct recurrence_values out = {.points = recurrence_box(recurrence)};
	int64_t all;
	if (!number_mul(out.points, recurrence->stream_count, &all) ||
		all > SEQUENTIAL_VALUES_MOST) {
		out.fault = "too many points to execute one by one";
		return out;
	}
	struct point_run run = {.recurrence = recurrence,
		.inputs = inputs,
		.points = out.points,
		.values = arena_array(arena, double, all),
		.done = arena_array(arena, bool, all)};
	struct arena *scratch = arena_open();
	int64_t point[RECURRENCE_LOOPS_MOST] = {0};
	for (bool more = recurrence_first(recurrence, point); more && !out.fault;
		more = recurrence_next(recurrence, point))
		for (int s = 0; s < recurrence->stream_count && !out.fault; s++)
			if (recurrence->streams[s].kind == STREAM_RECURRENT)
				out.fault = compute(&run, s, point, scratch);
	arena_close(scratch);
	struct recurrence_outputs outputs = {0};
	struct term_values here = {point, &run, read_value};
	for (bool more = recurrence_first(recurrence, point); more && !out.fault;
		more = recurrence_next(recurrence, point)) {
		if (recurrence_stops(inputs, &run.unasked)) {
			out.fault = "it was stopped";
			run.stopped = true;
		}
		for (int s = 0; s < recurrence->stream_count && !run.stopped; s++)
			if (recurrence->streams[s].kind == STREAM_OUTPUT)
				recurrence_write(recurrence, s, &here, &outputs, arena);
	}
	if (run.stopped)
		return out;
	if (run.outside)
		out.fault = "a value is read outside the domain";
	if (!out.fault && !recurrence_sort_outputs(outputs.at, outputs.count))
		out.fault = "an output gets two values at one place";
	out.values = run.values;
	out.outputs = outputs.at;
	out.output_count = outputs.count;
	return out;
}
