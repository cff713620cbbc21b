#include "sim/recurrence/systolic.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"

#include <assert.h>
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
	bool outside;
	struct stop_poll poll;
};

struct recurrence_outputs array(struct recurrence_output);

/* Values between two calls of the stopper. */
enum { STOP_VALUES = 1 << 12 };

int64_t recurrence_index(const struct recurrence *recurrence, const int64_t *point)
{
	int64_t index = 0;
	for (int i = 0; i < recurrence->loop_count; i++)
		index = index * recurrence->loops[i].extent + point[i] - recurrence->loops[i].least;
	return index;
}

static double read_stream(void *user, int stream, const int64_t *place)
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
static const char *compute_point(
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
		struct term_values values = {task.point, run, read_stream};
		run->lacking = false;
		if (stop_poll_ends(&run->poll, 1)) {
			fault = "it was stopped";
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

/* By stream, then place; false if one place gets two values. */
static bool recurrence_sort_outputs(struct recurrence_output *outputs, size_t count)
{
	if (count)
		qsort(outputs, count, sizeof *outputs, compare_outputs);
	for (size_t i = 1; i < count; i++)
		if (!compare_outputs(&outputs[i - 1], &outputs[i]))
			return false;
	return true;
}

/* Adds the value that an output gets at a point, computed from `values` there; false: it gets none. */
static bool recurrence_write(const struct recurrence *recurrence, int stream,
	const struct term_values *values, struct recurrence_outputs *outputs, struct arena *arena)
{
	const struct stream *to = &recurrence->streams[stream];
	if (!recurrence_writes(to, values->point))
		return false;
	struct recurrence_output *output = array_add(arena, outputs);
	output->stream = stream;
	for (int i = 0; i < to->rank; i++)
		output->place[i] =
			affine_value(&to->place[i], recurrence->loop_count, values->point);
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
		.poll = {inputs->stopper, .every = STOP_VALUES},
		.points = out.points,
		.values = arena_array(arena, double, all),
		.done = arena_array(arena, bool, all)};
	struct arena *scratch = arena_open();
	int64_t point[RECURRENCE_LOOPS_MOST] = {0};
	for (bool more = recurrence_first(recurrence, point); more && !out.fault;
		more = recurrence_next(recurrence, point))
		for (int s = 0; s < recurrence->stream_count && !out.fault; s++)
			if (recurrence->streams[s].kind == STREAM_RECURRENT)
				out.fault = compute_point(&run, s, point, scratch);
	arena_close(scratch);
	struct recurrence_outputs outputs = {0};
	struct term_values here = {point, &run, read_stream};
	for (bool more = recurrence_first(recurrence, point); more && !out.fault;
		more = recurrence_next(recurrence, point)) {
		if (stop_poll_ends(&run.poll, 1))
			out.fault = "it was stopped";
		for (int s = 0; s < recurrence->stream_count && !out.fault; s++)
			if (recurrence->streams[s].kind == STREAM_OUTPUT)
				recurrence_write(recurrence, s, &here, &outputs, arena);
	}
	if (run.poll.stopped)
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

/* The step of a point; false: its number is too large. */
static bool visits_time(const struct visits *visits, const int64_t *point, int64_t *out)
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

/* The PE of a point; -1: none of the box. */
static int64_t visits_pe(const struct visits *visits, const int64_t *point)
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

/* The vector unit of a PE, numbered as PEs, and its lane there; PEs without lanes are units. */
static int64_t visits_unit(const struct visits *visits, int64_t pe, int64_t *lane)
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

/* The box of PEs, the strides and the count.  False: more than VISITS_PES_MOST, or numbers that are
 * too large. */
static bool visits_measure(struct visits *visits)
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

/* The list, after the measure.  False: a step's number is too large. */
static bool visits_list(struct visits *visits, struct arena *arena)
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
	assert(count == visits->count);
	if (count)
		qsort(visits->at, count, sizeof *visits->at, compare_visits);
	return true;
}

void visits_point(const struct visits *visits, int64_t index, int64_t *point)
{
	for (int i = visits->recurrence->loop_count - 1; i >= 0; i--) {
		const struct loop *loop = &visits->recurrence->loops[i];
		point[i] = loop->least + index % loop->extent;
		index /= loop->extent;
	}
}

enum { CELLS_MOST = 1 << 26, WIRES_DEEP_MOST = 20000, SHIFTS_MOST = 2000000000 };

struct array_run {
	const struct recurrence *recurrence;
	const struct projection *projection;
	const struct recurrence_inputs *inputs;
	struct visits visits;
	struct systolic_result *result;
	double *values;  /* by stream, then point */
	uint8_t *states; /* the same: 0 not made, 1 being made, 2 made */
	/* By stream: chains of all PEs, slot t mod length of each holds what was made at t. */
	double *chains[RECURRENCE_STREAMS_MOST];
	int64_t *makers[RECURRENCE_STREAMS_MOST]; /* the point that made it; -1 */
	int64_t now;
	int64_t *here;        /* by PE: the point that it computes now; -1 */
	int64_t in_step;      /* inputs and outputs of this step */
	const int64_t *point; /* whose value is being made */
	int64_t pe;
	bool has_lanes;
	uint32_t copies;
	int64_t *issued; /* by vector unit: steps until the last in which it had a point; 0: none */
	int64_t steps;
	struct stop_poll poll; /* of values */
	int deep;              /* calls that are open, of terms and of wires from one to the next */
	struct arena *arena;
};

static bool array_run_fail(struct array_run *run, enum systolic_fault fault, int stream,
	const int64_t *point, const int64_t *other)
{
	size_t size = sizeof *point * (size_t)run->recurrence->loop_count;
	if (run->result->fault != SYSTOLIC_FINE)
		return false;
	run->result->fault = fault;
	run->result->stream = stream;
	if (point)
		memcpy(run->result->point, point, size);
	if (other)
		memcpy(run->result->other, other, size);
	return false;
}

/* Makes the chain of each stream, as long as the longest way in time to a reader. */
static bool make_chains(struct array_run *run)
{
	const struct recurrence *recurrence = run->recurrence;
	int64_t point[RECURRENCE_LOOPS_MOST], producer[RECURRENCE_LOOPS_MOST], made, used;
	uint64_t open = 0; /* dependences that no point was seen to use */
	for (int d = 0; d < recurrence->dependence_count; d++)
		open |= UINT64_C(1) << d;
	for (bool more = recurrence_first(recurrence, point); more && open;
		more = recurrence_next(recurrence, point))
		for (int d = 0; d < recurrence->dependence_count; d++) {
			const struct dependence *dependence = &recurrence->dependences[d];
			if (!(open >> d & 1) ||
				!recurrence_producer(recurrence, dependence, point, producer))
				continue;
			open &= ~(UINT64_C(1) << d);
			if (!visits_time(&run->visits, producer, &made) ||
				!visits_time(&run->visits, point, &used))
				return false;
			if (used < made)
				return array_run_fail(
					run, SYSTOLIC_EARLY, dependence->stream, point, producer);
			int64_t *length = &run->result->registers[dependence->stream];
			*length = number_max(*length, used - made);
		}
	for (int s = 0; s < recurrence->stream_count; s++) {
		int64_t cells, length = run->result->registers[s];
		if (!number_mul(run->visits.pe_count, length, &cells) || cells > CELLS_MOST)
			return false;
		run->chains[s] = arena_array(run->arena, double, cells);
		run->makers[s] = arena_array(run->arena, int64_t, cells);
		memset(run->makers[s], -1, sizeof(int64_t) * (size_t)cells);
	}
	return true;
}

static double make_value(struct array_run *run, int stream, int64_t index, int64_t pe);

static double read_wire(struct array_run *run, int stream, int64_t index, int64_t pe)
{
	struct systolic_result *result = run->result;
	int64_t at = stream * result->points + index;
	const int64_t *reader = run->point;
	int64_t reader_pe = run->pe, maker[RECURRENCE_LOOPS_MOST];
	visits_point(&run->visits, index, maker);
	if (run->here[pe] != index) {
		array_run_fail(run, SYSTOLIC_STALE, stream, reader, maker);
		return 0;
	}
	if (run->states[at] == 1 || run->deep > WIRES_DEEP_MOST) {
		array_run_fail(run, run->states[at] == 1 ? SYSTOLIC_CIRCLE : SYSTOLIC_LARGE, stream,
			maker, NULL);
		return 0;
	}
	result->wire_reads++;
	if (run->states[at] == 2)
		return run->values[at];
	double value = make_value(run, stream, index, pe);
	run->point = reader;
	run->pe = reader_pe;
	return value;
}

/* True if a value may come from another lane; counts it. */
static bool cross_lanes(struct array_run *run, int stream, int64_t pe, int64_t delay)
{
	struct systolic_result *result = run->result;
	const struct projection *projection = run->projection;
	int64_t from, to, unit = visits_unit(&run->visits, pe, &from);
	bool same = unit == visits_unit(&run->visits, run->pe, &to);
	result->link_moves += !same;
	if (from == to)
		return true;
	if (delay) {
		result->lane_shuffles++;
		return projection->shuffles >> stream & 1;
	}
	result->lane_multicasts += same;
	return (same && run->copies >> stream & 1) || projection->wires >> stream & 1;
}

static double read_value(void *user, int stream, const int64_t *place)
{
	struct array_run *run = user;
	struct systolic_result *result = run->result;
	if (run->recurrence->streams[stream].kind == STREAM_INPUT) {
		result->input_reads++;
		run->in_step++;
		return run->inputs->read(run->inputs->user, stream, place);
	}
	int64_t pe = visits_pe(&run->visits, place), made;
	if (pe < 0 || !recurrence_holds(run->recurrence, place) ||
		!visits_time(&run->visits, place, &made)) {
		array_run_fail(run, SYSTOLIC_STALE, stream, run->point, place);
		return 0;
	}
	int64_t index = recurrence_index(run->recurrence, place);
	int64_t delay = run->now - made, length = result->registers[stream];
	if (!run->has_lanes)
		result->link_moves += pe != run->pe;
	else if (!cross_lanes(run, stream, pe, delay))
		array_run_fail(run, SYSTOLIC_LANES, stream, run->point, place);
	if (delay == 0)
		return read_wire(run, stream, index, pe);
	if (delay < 0 || delay > length) {
		array_run_fail(run, delay < 0 ? SYSTOLIC_EARLY : SYSTOLIC_STALE, stream, run->point,
			place);
		return 0;
	}
	/* Slots of negative times count from the same zero. */
	int64_t slot = pe * length + ((run->now - delay) % length + length) % length;
	result->register_reads++;
	if (run->makers[stream][slot] != index)
		array_run_fail(run, SYSTOLIC_STALE, stream, run->point, place);
	return run->chains[stream][slot];
}

static double make_value(struct array_run *run, int stream, int64_t index, int64_t pe)
{
	int64_t point[RECURRENCE_LOOPS_MOST], at = stream * run->result->points + index;
	struct term_values values = {point, run, read_value};
	int deep = run->recurrence->streams[stream].body->height + 4;
	visits_point(&run->visits, index, point);
	run->point = point;
	run->pe = pe;
	run->states[at] = 1;
	run->deep += deep;
	run->values[at] = term_value(run->recurrence->streams[stream].body, &values);
	run->deep -= deep;
	run->states[at] = 2;
	return run->values[at];
}

static void write_output(struct array_run *run, int stream, const int64_t *point, int64_t pe,
	struct recurrence_outputs *outputs)
{
	struct term_values values = {point, run, read_value};
	run->point = point;
	run->pe = pe;
	bool writes = recurrence_write(run->recurrence, stream, &values, outputs, run->arena);
	run->result->output_writes += writes;
	run->in_step += writes;
}

static void count_issue(struct array_run *run, int64_t pe)
{
	int64_t lane;
	if (!run->has_lanes)
		return;
	int64_t *last = &run->issued[visits_unit(&run->visits, pe, &lane)];
	run->result->units += !*last;
	run->result->issues += *last != run->steps;
	*last = run->steps;
}

/* True after a fault, or once the stopper has ended the run. */
static bool is_over(struct array_run *run)
{
	if (stop_poll_ends(&run->poll, 1))
		array_run_fail(run, SYSTOLIC_STOPPED, -1, NULL, NULL);
	return run->result->fault != SYSTOLIC_FINE;
}

/* All points of one step: their values, then what goes out, then the shift. */
static void systolic_take_step(struct array_run *run, const struct visit *visits, size_t count,
	struct recurrence_outputs *outputs)
{
	const struct recurrence *recurrence = run->recurrence;
	int64_t point[RECURRENCE_LOOPS_MOST], other[RECURRENCE_LOOPS_MOST];
	run->now = visits[0].time;
	run->in_step = 0;
	run->steps++;
	for (size_t i = 0; i < count; i++) {
		if (i && visits[i].pe == visits[i - 1].pe) {
			visits_point(&run->visits, visits[i].index, point);
			visits_point(&run->visits, visits[i - 1].index, other);
			array_run_fail(run, SYSTOLIC_CLASH, -1, point, other);
		}
		run->here[visits[i].pe] = visits[i].index;
		count_issue(run, visits[i].pe);
	}
	for (size_t i = 0; i < count && !is_over(run); i++)
		for (int s = 0; s < recurrence->stream_count; s++) {
			int64_t at = s * run->result->points + visits[i].index;
			if (recurrence->streams[s].kind == STREAM_RECURRENT && !run->states[at])
				make_value(run, s, visits[i].index, visits[i].pe);
		}
	for (size_t i = 0; i < count && !is_over(run); i++) {
		visits_point(&run->visits, visits[i].index, point);
		for (int s = 0; s < recurrence->stream_count; s++)
			if (recurrence->streams[s].kind == STREAM_OUTPUT)
				write_output(run, s, point, visits[i].pe, outputs);
	}
	run->result->ports = number_max(run->result->ports, run->in_step);
}

/* Shifts the values of the step into the chains; idle PEs shift in nothing. */
static void array_run_shift(
	struct array_run *run, int64_t time, const struct visit *visits, size_t count)
{
	for (int s = 0; s < run->recurrence->stream_count; s++) {
		int64_t length = run->result->registers[s];
		if (!length)
			continue;
		int64_t slot = (time % length + length) % length;
		for (int64_t pe = 0; pe < run->visits.pe_count; pe++)
			run->makers[s][pe * length + slot] = -1;
		for (size_t i = 0; i < count; i++) {
			int64_t at = visits[i].pe * length + slot;
			run->chains[s][at] = run->values[s * run->result->points + visits[i].index];
			run->makers[s][at] = visits[i].index;
		}
		/* A value is written into each register of its chain on its way. */
		run->result->register_writes += (int64_t)count * length;
	}
}

/* Chains that are shifted in all steps: of PEs, each for as many steps as some has registers. */
static int64_t count_shifts(const struct array_run *run)
{
	int64_t longest = 0, chains = 0, shifts = 0;
	for (int s = 0; s < run->recurrence->stream_count; s++) {
		longest = number_max(longest, run->result->registers[s]);
		chains += run->result->registers[s] ? run->visits.pe_count : 0;
	}
	for (size_t i = 1; i < run->visits.count && shifts <= SHIFTS_MOST; i++)
		shifts += chains *
			  number_min(longest, run->visits.at[i].time - run->visits.at[i - 1].time);
	return shifts;
}

static void run_steps(struct array_run *run)
{
	struct systolic_result *result = run->result;
	struct recurrence_outputs outputs = {0};
	int64_t next = run->visits.count ? run->visits.at[0].time : 0;
	memset(run->here, -1, sizeof *run->here * (size_t)run->visits.pe_count);
	for (size_t i = 0, end; i < run->visits.count && !is_over(run); i = end) {
		for (end = i; end < run->visits.count &&
			      run->visits.at[end].time == run->visits.at[i].time;)
			end++;
		/* Steps without any point: after as many as the longest chain has registers all are
		 * empty, and more change nothing. */
		int64_t longest = 0;
		for (int s = 0; s < run->recurrence->stream_count; s++)
			longest = number_max(longest, result->registers[s]);
		if (run->visits.at[i].time - next > longest)
			next = run->visits.at[i].time - longest;
		for (; next < run->visits.at[i].time && !is_over(run); next++)
			array_run_shift(run, next, NULL, 0);
		systolic_take_step(run, run->visits.at + i, end - i, &outputs);
		array_run_shift(run, next++, run->visits.at + i, end - i);
		for (size_t k = i; k < end; k++)
			run->here[run->visits.at[k].pe] = -1;
	}
	if (run->visits.count)
		result->cycles =
			run->visits.at[run->visits.count - 1].time - run->visits.at[0].time + 1;
	result->outputs = outputs.at;
	result->output_count = outputs.count;
	if (result->fault == SYSTOLIC_FINE && !recurrence_sort_outputs(outputs.at, outputs.count))
		array_run_fail(run, SYSTOLIC_OUTPUT, -1, NULL, NULL);
}

static int64_t count_pes(struct array_run *run)
{
	int64_t count = 0;
	for (size_t i = 0; i < run->visits.count; i++)
		count += !run->here[run->visits.at[i].pe]++;
	return count;
}

struct systolic_result systolic_run(const struct recurrence *recurrence,
	const struct projection *projection, const struct recurrence_inputs *inputs,
	struct arena *arena)
{
	struct systolic_result result = {.stream = -1, .points = recurrence_box(recurrence)};
	struct array_run run = {.recurrence = recurrence,
		.poll = {inputs->stopper, .every = STOP_VALUES},
		.projection = projection,
		.inputs = inputs,
		.visits = {.recurrence = recurrence, .projection = projection},
		.result = &result,
		.has_lanes = projection_has_lanes(projection),
		.copies = recurrence_copies(recurrence),
		.arena = arena};
	int64_t all;
	if (!number_mul(result.points, recurrence->stream_count, &all) ||
		all > SEQUENTIAL_VALUES_MOST || !visits_measure(&run.visits)) {
		result.fault = SYSTOLIC_LARGE;
		return result;
	}
	run.values = arena_array(arena, double, all);
	run.states = arena_array(arena, uint8_t, all);
	run.here = arena_array(arena, int64_t, run.visits.pe_count);
	run.issued = arena_array(arena, int64_t, run.has_lanes ? run.visits.pe_count : 0);
	bool fits = visits_list(&run.visits, arena);
	if (fits)
		result.pes = count_pes(&run);
	if (!fits || !make_chains(&run) || count_shifts(&run) > SHIFTS_MOST) {
		array_run_fail(&run, SYSTOLIC_LARGE, -1, NULL, NULL);
		return result;
	}
	run_steps(&run);
	result.values = run.values;
	result.visits = arena_copy(arena, &run.visits, sizeof run.visits);
	result.points = (int64_t)run.visits.count;
	return result;
}
