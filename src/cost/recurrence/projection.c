#include "cost/recurrence/projection.h"

#include "base/arena.h"
#include "base/lattice.h"
#include "base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- limits of links, lanes and arrays, once channels and bounds are known */

/* The first fault is kept. */
static void projection_refuse(
	struct projection_facts *facts, enum projection_fault what, int dependence, int axis);

static void projection_check_lanes(const struct recurrence *recurrence,
	const struct projection *projection, struct projection_facts *facts);
static void projection_check_limits(const struct recurrence *recurrence,
	const struct projection *projection, const struct space_time *limits,
	struct projection_facts *facts);

static void projection_refuse(
	struct projection_facts *facts, enum projection_fault what, int dependence, int axis)
{
	if (facts->fault != PROJECTION_FINE)
		return;
	facts->fault = what;
	facts->dependence = dependence;
	facts->axis = axis;
}

/* Lanes are as many as a vector unit has, and registers stay in them. */
static void projection_check_lanes(const struct recurrence *recurrence,
	const struct projection *projection, struct projection_facts *facts)
{
	for (int r = 0; r < projection->space_count; r++) {
		if (!projection->lanes[r])
			continue;
		for (int d = 0; d < recurrence->dependence_count; d++) {
			const struct channel *channel = &facts->channels[d];
			int stream = recurrence->dependences[d].stream;
			if (channel->is_live && channel->delay > 0 && channel->move[r] &&
				!(projection->shuffles >> stream & 1))
				projection_refuse(facts, PROJECTION_SHUFFLE, d, r);
		}
		if (facts->space[r].extent > projection->lanes[r])
			projection_refuse(facts, PROJECTION_LANES, -1, r);
	}
}

/* Along a row without links for a stream it has no registers move, along one without wires none. */
static void check_row(const struct recurrence *recurrence, const struct space_time *limits, int row,
	struct projection_facts *facts)
{
	for (int d = 0; d < recurrence->dependence_count; d++) {
		const struct channel *channel = &facts->channels[d];
		uint32_t bit = UINT32_C(1) << recurrence->dependences[d].stream;
		if (!channel->is_live || !channel->move[row])
			continue;
		if (channel->delay > 0 && limits->no_links[row] & bit)
			projection_refuse(facts, PROJECTION_LINK, d, row);
		if (!channel->delay && limits->no_wires[row] & bit)
			projection_refuse(facts, PROJECTION_WIRE, d, row);
	}
}

static void projection_check_limits(const struct recurrence *recurrence,
	const struct projection *projection, const struct space_time *limits,
	struct projection_facts *facts)
{
	int spaces = projection->space_count;
	for (int d = 0; d < recurrence->dependence_count; d++) {
		const struct channel *channel = &facts->channels[d];
		bool far = false, moves = false;
		for (int r = 0; r < spaces; r++) {
			moves |= channel->move[r] != 0;
			/* A value goes no farther in one step than links reach. */
			far |= limits->reach && channel->delay > 0 &&
			       number_ceil_div(llabs(channel->move[r]), limits->reach) >
				       channel->delay;
		}
		if (!channel->is_live)
			continue;
		if (far)
			projection_refuse(facts, PROJECTION_FAR, d, -1);
		if (moves && limits->stays >> recurrence->dependences[d].stream & 1)
			projection_refuse(facts, PROJECTION_MOVES, d, -1);
	}
	for (int r = 0; r < spaces; r++) {
		check_row(recurrence, limits, r, facts);
		if (limits->array[r] && facts->space[r].extent > limits->array[r])
			projection_refuse(facts, PROJECTION_LARGE, -1, r);
	}
}

/* PEs by stream and by dependence that have a port for it. */
struct array_ports {
	const struct recurrence *recurrence;
	int64_t cells, pe, count;
	uint64_t *seen; /* by port kind, then PE */
	const int64_t *point;
};

enum { CELLS_MOST = 1 << 28, STOP_POINTS = 1 << 12 };

static void open_port(struct array_ports *ports, int kind)
{
	int64_t at = kind * ports->cells + ports->pe;
	ports->count += !(ports->seen[at / 64] >> (at % 64) & 1);
	ports->seen[at / 64] |= UINT64_C(1) << (at % 64);
}

/* The inputs that a term reads at the point: of a select only the part that is taken. */
static void visit_inputs(struct array_ports *ports, const struct term *term)
{
	if (!term)
		return;
	if (term->kind == TERM_STREAM) {
		if (ports->recurrence->streams[term->index].kind == STREAM_INPUT)
			open_port(ports, term->index);
		return;
	}
	if (term->kind == TERM_SELECT) {
		visit_inputs(
			ports, term_holds(term->of[0], ports->point) ? term->of[1] : term->of[2]);
		return;
	}
	for (int i = 0; i < 3; i++)
		visit_inputs(ports, term->of[i]);
}

static void visit_point(struct array_ports *ports)
{
	const struct recurrence *recurrence = ports->recurrence;
	int64_t producer[RECURRENCE_LOOPS_MOST];
	for (int s = 0; s < recurrence->stream_count; s++) {
		const struct stream *stream = &recurrence->streams[s];
		if (stream->kind == STREAM_INPUT)
			continue;
		if (stream->kind == STREAM_OUTPUT && !recurrence_writes(stream, ports->point))
			continue;
		if (stream->kind == STREAM_OUTPUT)
			open_port(ports, s);
		if (recurrence->has_bodies)
			visit_inputs(ports, stream->body);
	}
	for (int d = 0; d < recurrence->dependence_count; d++) {
		const struct dependence *dependence = &recurrence->dependences[d];
		for (int i = 0; i < recurrence->loop_count; i++)
			producer[i] = ports->point[i] - dependence->vector[i];
		if (term_holds(dependence->when, ports->point) &&
			!recurrence_holds(recurrence, producer))
			open_port(ports, recurrence->stream_count + d);
	}
}

int64_t projection_ports(const struct recurrence *recurrence, const struct projection *projection,
	const struct projection_facts *facts, const struct stopper *stopper)
{
	struct array_ports ports = {.recurrence = recurrence, .cells = 1};
	int64_t kinds = recurrence->stream_count + recurrence->dependence_count, all;
	for (int r = 0; r < projection->space_count; r++)
		if (!number_mul(ports.cells, facts->space[r].extent, &ports.cells))
			return -1;
	if (facts->fault == PROJECTION_UNKNOWN ||
		recurrence_box(recurrence) > PROJECTION_PORT_POINTS_MOST ||
		!number_mul(ports.cells, kinds, &all) || all > CELLS_MOST)
		return -1;
	struct arena *arena = arena_open();
	struct stop_poll poll = {stopper, .every = STOP_POINTS};
	int64_t point[RECURRENCE_LOOPS_MOST];
	ports.seen = arena_array(arena, uint64_t, all / 64 + 1);
	ports.point = point;
	for (bool more = recurrence_first(recurrence, point); more;
		more = recurrence_next(recurrence, point)) {
		if (stop_poll_ends(&poll, 1)) {
			ports.count = -1;
			break;
		}
		ports.pe = 0;
		for (int r = 0; r < projection->space_count; r++) {
			int64_t at = 0;
			number_dot(projection->space[r], point, recurrence->loop_count, &at);
			ports.pe = ports.pe * facts->space[r].extent + at - facts->space[r].least;
		}
		visit_point(&ports);
	}
	arena_close(arena);
	return ports.count;
}

const char *const channel_names[] = {"stationary", "systolic", "wire", "chain", "shared", NULL};

/* Coefficients tried while points that meet are looked for. */
static const int64_t walk_steps = 20000000;

struct facts_work {
	const struct recurrence *recurrence;
	const struct projection *projection;
	struct projection_facts *facts;
	int64_t looked; /* points, for consumers */
	uint32_t copies;
	int64_t extents[RECURRENCE_LOOPS_MOST];
	int64_t matrix[RECURRENCE_LOOPS_MOST][RECURRENCE_LOOPS_MOST]; /* P, then s */
};

/* The least of a row over the box: each coefficient takes the end of its loop that makes it least. */
static bool find_bounds(const struct recurrence *recurrence, const int64_t *row, struct bounds *out)
{
	*out = (struct bounds){0, 1};
	for (int i = 0; i < recurrence->loop_count; i++) {
		const struct loop *loop = &recurrence->loops[i];
		int64_t at = row[i] < 0 ? loop->least + loop->extent - 1 : loop->least, low, range;
		if (!number_mul(row[i], at, &low) || !number_add(out->least, low, &out->least) ||
			!number_mul(llabs(row[i]), loop->extent - 1, &range) ||
			!number_add(out->extent, range, &out->extent))
			return false;
	}
	return true;
}

/* Time of the rows as one number: an inner row runs through all its extent at each step of the
 * next outer one. */
static bool facts_work_flatten(struct facts_work *work)
{
	struct projection_facts *facts = work->facts;
	int loops = work->recurrence->loop_count;
	int64_t scale = 1;
	for (int r = work->projection->time_count - 1; r >= 0; r--) {
		for (int i = 0; i < loops; i++) {
			int64_t product;
			if (!number_mul(work->projection->time[r][i], scale, &product) ||
				!number_add(facts->schedule[i], product, &facts->schedule[i]) ||
				facts->schedule[i] == INT64_MIN)
				return false;
		}
		if (!find_bounds(work->recurrence, work->projection->time[r], &facts->rows[r]) ||
			!number_mul(scale, facts->rows[r].extent, &scale))
			return false;
	}
	return find_bounds(work->recurrence, facts->schedule, &facts->time);
}

/* A loop compared with a number: its range where that holds. */
static void narrow_loop(struct loop *loop, double least, double end)
{
	double first = (double)loop->least, last = first + (double)loop->extent;
	first = fmax(first, ceil(least));
	last = fmin(last, ceil(end));
	loop->extent = last > first ? (int64_t)(last - first) : 0;
	if (loop->extent)
		loop->least = (int64_t)first;
}

/* Narrows a box to where a condition may hold, as far as that is plain: comparisons of a loop with a
 * number, joined by and. */
static void recurrence_narrow(struct recurrence *box, const struct term *term, bool holds)
{
	if (term->kind == TERM_NOT) {
		recurrence_narrow(box, term->of[0], !holds);
		return;
	}
	if (term->kind == (holds ? TERM_AND : TERM_OR)) {
		recurrence_narrow(box, term->of[0], holds);
		recurrence_narrow(box, term->of[1], holds);
		return;
	}
	if (term->kind != TERM_LESS && term->kind != TERM_AT_MOST)
		return;
	const struct term *left = term->of[0], *right = term->of[1];
	/* not (a < b) is b <= a, and the other way round. */
	bool less = (term->kind == TERM_LESS) == holds;
	if (!holds) {
		left = term->of[1];
		right = term->of[0];
	}
	if (left->kind == TERM_NUMBER && right->kind == TERM_LOOP)
		narrow_loop(&box->loops[right->index],
			less ? floor(left->number) + 1 : left->number, INFINITY);
	if (left->kind == TERM_LOOP && right->kind == TERM_NUMBER)
		narrow_loop(&box->loops[left->index], -INFINITY,
			less ? right->number : floor(right->number) + 1);
}

/* The first consumer of a dependence; false: there is none, or it takes too long to find. */
static bool find_consumer(
	struct facts_work *work, const struct dependence *dependence, struct grid_point *out)
{
	struct recurrence inside = {.loop_count = work->recurrence->loop_count};
	const struct recurrence *recurrence = work->recurrence;
	for (int i = 0; i < recurrence->loop_count; i++) {
		const struct loop *loop = &recurrence->loops[i];
		if (llabs(dependence->vector[i]) >= loop->extent)
			return false;
		out->at[i] = loop->least + number_max(0, dependence->vector[i]);
		inside.loops[i].least = out->at[i];
		inside.loops[i].extent = loop->extent - llabs(dependence->vector[i]);
	}
	if (!recurrence->domain && !dependence->when)
		return true;
	if (dependence->when)
		recurrence_narrow(&inside, dependence->when, true);
	if (recurrence->domain)
		recurrence_narrow(&inside, recurrence->domain, true);
	for (int i = 0; i < inside.loop_count; i++) {
		if (!inside.loops[i].extent)
			return false;
		out->at[i] = inside.loops[i].least;
	}
	int64_t producer[RECURRENCE_LOOPS_MOST];
	bool more = true;
	while (more && !recurrence_producer(recurrence, dependence, out->at, producer)) {
		more = recurrence_next(&inside, out->at);
		if (work->looked++ == PROJECTION_POINTS_MOST)
			return false;
	}
	return more;
}

uint64_t projection_used(const struct recurrence *recurrence)
{
	uint64_t used = 0;
	for (int d = 0; d < recurrence->dependence_count; d++) {
		struct facts_work work = {.recurrence = recurrence};
		struct grid_point consumer;
		if (find_consumer(&work, &recurrence->dependences[d], &consumer) ||
			work.looked > PROJECTION_POINTS_MOST)
			used |= UINT64_C(1) << d;
	}
	return used;
}

static enum channel_kind kind_of(const struct channel *channel, int rows)
{
	bool moves = false;
	for (int r = 0; r < rows; r++)
		moves |= channel->move[r] != 0;
	if (channel->delay > 0)
		return moves ? CHANNEL_SYSTOLIC : CHANNEL_STATIONARY;
	return moves ? CHANNEL_WIRE : CHANNEL_CHAIN;
}

bool projection_shares(
	const struct projection *projection, uint32_t copies, int stream, const int64_t *move)
{
	bool shared = false;
	for (int r = 0; r < projection->space_count; r++) {
		if (move[r] && !projection->lanes[r])
			return false;
		shared |= move[r] != 0;
	}
	return shared && copies >> stream & 1;
}

static bool find_channels(struct facts_work *work)
{
	const struct recurrence *recurrence = work->recurrence;
	const struct projection *projection = work->projection;
	struct projection_facts *facts = work->facts;
	for (int d = 0; d < recurrence->dependence_count; d++) {
		const struct dependence *dependence = &recurrence->dependences[d];
		struct channel *channel = &facts->channels[d];
		struct grid_point consumer = {{0}};
		for (int r = 0; r < projection->space_count; r++)
			if (!number_dot(projection->space[r], dependence->vector,
				    recurrence->loop_count, &channel->move[r]))
				return false;
		if (!number_dot(facts->schedule, dependence->vector, recurrence->loop_count,
			    &channel->delay))
			return false;
		channel->kind = kind_of(channel, projection->space_count);
		channel->is_live = find_consumer(work, dependence, &consumer);
		if (work->looked > PROJECTION_POINTS_MOST)
			return false;
		if (!channel->is_live)
			continue;
		int64_t *registers = &facts->registers[dependence->stream];
		*registers = number_max(*registers, channel->delay);
		bool wire = projection->wires >> dependence->stream & 1;
		if (!channel->delay && projection_shares(projection, work->copies,
					       dependence->stream, channel->move)) {
			channel->kind = CHANNEL_SHARED;
			wire = true;
		}
		if (channel->delay > 0 || (channel->delay == 0 && wire))
			continue;
		if (facts->causal)
			facts->late = consumer;
		facts->causal = false;
		projection_refuse(facts, PROJECTION_LATE, d, -1);
	}
	return true;
}

/* In a box: the pair of points that meet whose later one comes first, then whose earlier one
 * does. */
struct meeting {
	struct facts_work *work;
	bool found;
	struct grid_point a, b;
};

/* g has a positive first entry: the point that g leads to comes later. */
static bool meet(void *user, const int64_t *g)
{
	struct meeting *meeting = user;
	const struct recurrence *recurrence = meeting->work->recurrence;
	struct dependence along = {0};
	struct grid_point a, b;
	memcpy(along.vector, g, sizeof(int64_t) * (size_t)recurrence->loop_count);
	if (!find_consumer(meeting->work, &along, &b))
		return true;
	for (int i = 0; i < recurrence->loop_count; i++)
		a.at[i] = b.at[i] - g[i];
	int order = lattice_compare(b.at, meeting->b.at, recurrence->loop_count);
	if (!order)
		order = lattice_compare(a.at, meeting->a.at, recurrence->loop_count);
	if (!meeting->found || order < 0) {
		meeting->a = a;
		meeting->b = b;
	}
	meeting->found = true;
	return true;
}

static bool find_conflict(struct facts_work *work)
{
	struct lattice kernel;
	int64_t most[RECURRENCE_LOOPS_MOST];
	int loops = work->recurrence->loop_count, rows = work->projection->space_count + 1;
	if (lattice_has_digits(rows, loops, work->matrix, work->extents))
		return true;
	if (!lattice_kernel(rows, loops, work->matrix, &kernel))
		return false;
	for (int i = 0; i < loops; i++)
		most[i] = work->extents[i] - 1;
	struct meeting meeting = {.work = work};
	if (!lattice_walk(&kernel, most, walk_steps, meet, &meeting) && !meeting.found)
		return false;
	work->facts->conflicts = 0;
	if (!meeting.found)
		return true;
	work->facts->conflicts = -1;
	work->facts->meeting[0] = meeting.a;
	work->facts->meeting[1] = meeting.b;
	projection_refuse(work->facts, PROJECTION_CONFLICT, -1, -1);
	return true;
}

/* The PE of a point, numbered through the box of PEs, and its time from the first. */
static int64_t pe_of(const struct facts_work *work, const int64_t *point)
{
	int64_t pe = 0;
	for (int r = 0; r < work->projection->space_count; r++) {
		int64_t at = 0;
		number_dot(work->projection->space[r], point, work->recurrence->loop_count, &at);
		pe = pe * work->facts->space[r].extent + at - work->facts->space[r].least;
	}
	return pe;
}

static int64_t point_time(const struct facts_work *work, const int64_t *point)
{
	int64_t time = 0;
	number_dot(work->facts->schedule, point, work->recurrence->loop_count, &time);
	return time - work->facts->time.least;
}

static bool projection_mark(uint64_t *bits, int64_t at)
{
	bool is_new = !(bits[at / 64] >> (at % 64) & 1);
	bits[at / 64] |= UINT64_C(1) << (at % 64);
	return is_new;
}

/* `later` meets a point before it. */
static void meet_earlier(struct facts_work *work, const struct grid_point *later)
{
	struct projection_facts *facts = work->facts;
	struct grid_point earlier;
	recurrence_first(work->recurrence, earlier.at);
	while (pe_of(work, earlier.at) != pe_of(work, later->at) ||
		point_time(work, earlier.at) != point_time(work, later->at))
		recurrence_next(work->recurrence, earlier.at);
	facts->meeting[0] = earlier;
	facts->meeting[1] = *later;
	projection_refuse(facts, PROJECTION_CONFLICT, -1, -1);
}

/* A domain with a condition, point by point. */
static bool count_points(struct facts_work *work)
{
	const struct recurrence *recurrence = work->recurrence;
	struct projection_facts *facts = work->facts;
	int64_t cells = 1, both;
	for (int r = 0; r < work->projection->space_count; r++)
		if (!number_mul(cells, facts->space[r].extent, &cells))
			return false;
	if (recurrence_box(recurrence) > PROJECTION_POINTS_MOST ||
		!number_mul(cells, facts->time.extent, &both) || both > LATTICE_CELLS_MOST)
		return false;
	struct arena *arena = arena_open();
	uint64_t *places = arena_array(arena, uint64_t, cells / 64 + 1);
	uint64_t *pairs = arena_array(arena, uint64_t, both / 64 + 1);
	struct grid_point point;
	int64_t first = INT64_MAX, last = INT64_MIN;
	for (bool more = recurrence_first(recurrence, point.at); more;
		more = recurrence_next(recurrence, point.at)) {
		int64_t pe = pe_of(work, point.at), time = point_time(work, point.at);
		first = number_min(first, time);
		last = number_max(last, time);
		facts->points++;
		facts->pes += projection_mark(places, pe);
		if (projection_mark(pairs, pe * facts->time.extent + time))
			continue;
		if (!facts->conflicts++)
			meet_earlier(work, &point);
	}
	facts->cycles = facts->points ? last - first + 1 : 0;
	arena_close(arena);
	return true;
}

static bool count_box(struct facts_work *work)
{
	struct projection_facts *facts = work->facts;
	int loops = work->recurrence->loop_count, spaces = work->projection->space_count;
	if (!find_conflict(work))
		return false;
	facts->points = recurrence_box(work->recurrence);
	facts->cycles = facts->time.extent;
	facts->pes = lattice_images(spaces, loops, work->matrix, work->extents);
	if (facts->points == INT64_MAX || facts->pes < 0)
		return false;
	if (facts->conflicts < 0) {
		int64_t images = lattice_images(spaces + 1, loops, work->matrix, work->extents);
		facts->conflicts = images < 0 ? -1 : facts->points - images;
	}
	return true;
}

/* The steps of the reverse transform at one point; false where a loop comes out wrong. */
static bool turns_back(const struct facts_work *work, const int64_t *point, int *wrong)
{
	const struct projection *projection = work->projection;
	int loops = work->recurrence->loop_count, rows = projection->space_count;
	int64_t values[3 * RECURRENCE_LOOPS_MOST] = {0};
	for (int r = 0; r < rows; r++)
		number_dot(projection->space[r], point, loops, &values[r]);
	for (int r = 0; r < projection->time_count; r++)
		number_dot(projection->time[r], point, loops, &values[rows + r]);
	rows += projection->time_count;
	/* Loops without a term are rows of time of their own, or follow from nothing. */
	memcpy(values + rows, point, sizeof *point * (size_t)loops);
	for (int k = 0; k < projection->reverse_count; k++) {
		int loop = projection->reverse_order[k];
		struct term_values at = {.point = values};
		if (term_value(projection->reverse[loop], &at) != (double)point[loop]) {
			*wrong = loop;
			return false;
		}
	}
	return true;
}

static bool check_reverse(struct facts_work *work)
{
	struct grid_point point;
	int wrong = -1;
	if (!work->projection->reverse_count)
		return true;
	if (recurrence_box(work->recurrence) > PROJECTION_POINTS_MOST)
		return false;
	for (bool more = recurrence_first(work->recurrence, point.at); more;
		more = recurrence_next(work->recurrence, point.at))
		if (!turns_back(work, point.at, &wrong)) {
			work->facts->astray = point;
			projection_refuse(work->facts, PROJECTION_REVERSE, -1, wrong);
			return true;
		}
	return true;
}

static bool find_vectors(struct facts_work *work)
{
	struct lattice kernel;
	struct projection_facts *facts = work->facts;
	int loops = work->recurrence->loop_count;
	if (!lattice_kernel(work->projection->space_count, loops, work->matrix, &kernel))
		return false;
	facts->vector_count = kernel.rank;
	for (int i = 0; i < kernel.rank; i++) {
		memcpy(facts->vectors[i], kernel.rows[i], sizeof facts->vectors[i]);
		if (!number_dot(facts->schedule, kernel.rows[i], loops, &facts->busy[i]) ||
			facts->busy[i] == INT64_MIN)
			return false;
		facts->busy[i] = llabs(facts->busy[i]);
	}
	return true;
}

/* Vector units, and pairs of one and a step in which it has a point: rows that are not lanes, then
 * these and time. */
static void count_units(struct facts_work *work)
{
	struct projection_facts *facts = work->facts;
	const struct recurrence *recurrence = work->recurrence;
	struct projection units = {.time_count = 1};
	int64_t rows[RECURRENCE_LOOPS_MOST][RECURRENCE_LOOPS_MOST];
	size_t row = sizeof *rows;
	for (int r = 0; r < work->projection->space_count; r++)
		if (!work->projection->lanes[r])
			memcpy(units.space[units.space_count++], work->projection->space[r], row);
	if (units.space_count == work->projection->space_count)
		return;
	if (recurrence->domain) {
		memcpy(units.time[0], facts->schedule, row);
		struct projection_facts counted = projection_facts(recurrence, &units, NULL);
		bool known = counted.fault != PROJECTION_UNKNOWN;
		facts->units = known ? counted.pes : -1;
		facts->issues = known ? counted.points - counted.conflicts : -1;
		return;
	}
	memcpy(rows, units.space, sizeof rows);
	memcpy(rows[units.space_count], facts->schedule, row);
	facts->units =
		lattice_images(units.space_count, recurrence->loop_count, rows, work->extents);
	facts->issues =
		lattice_images(units.space_count + 1, recurrence->loop_count, rows, work->extents);
}

static bool find_facts(struct facts_work *work)
{
	struct projection_facts *facts = work->facts;
	const struct projection *projection = work->projection;
	size_t row = sizeof *work->matrix;
	if (!facts_work_flatten(work)) {
		facts->time = (struct bounds){0};
		return false;
	}
	for (int r = 0; r < projection->space_count; r++) {
		memcpy(work->matrix[r], projection->space[r], row);
		if (!find_bounds(work->recurrence, projection->space[r], &facts->space[r]))
			return false;
	}
	if (projection->space_count == RECURRENCE_LOOPS_MOST)
		return false;
	memcpy(work->matrix[projection->space_count], facts->schedule, row);
	if (!find_vectors(work) || !find_channels(work) ||
		!(work->recurrence->domain ? count_points(work) : count_box(work)))
		return false;
	count_units(work);
	projection_check_lanes(work->recurrence, projection, facts);
	return true;
}

struct projection_facts projection_facts(const struct recurrence *recurrence,
	const struct projection *projection, const struct space_time *limits)
{
	struct projection_facts facts = {.dependence = -1, .axis = -1, .causal = true};
	struct facts_work work = {.recurrence = recurrence,
		.projection = projection,
		.facts = &facts,
		.copies = recurrence_copies(recurrence)};
	for (int i = 0; i < recurrence->loop_count; i++)
		work.extents[i] = recurrence->loops[i].extent;
	bool known = find_facts(&work);
	if (known && limits)
		projection_check_limits(recurrence, projection, limits, &facts);
	known = known && check_reverse(&work);
	if (!known && facts.fault == PROJECTION_FINE)
		facts.fault = PROJECTION_UNKNOWN;
	return facts;
}

enum { LOOPS = RECURRENCE_LOOPS_MOST, ROWS = 2 * RECURRENCE_LOOPS_MOST };

struct reverse_work {
	const struct recurrence *recurrence;
	int row_count;
	int64_t rows[ROWS][LOOPS]; /* of the projection: space, then time */
	uint32_t known;            /* loops */
	struct reverse *out;
};

/* Rows combined: the coefficients of loops, then by how much each row takes part. */
struct mix {
	int64_t loops[LOOPS], rows[ROWS];
};

static int count_unknown(const struct reverse_work *work, const int64_t *loops, int *last)
{
	int count = 0;
	for (int i = 0; i < work->recurrence->loop_count; i++)
		if (loops[i] && !(work->known >> i & 1)) {
			count++;
			*last = i;
		}
	return count;
}

/* a * x - b * y, over their common divisor. */
static bool projection_combine(int64_t *a, int64_t x, const int64_t *b, int64_t y, int count)
{
	for (int i = 0; i < count; i++) {
		int64_t left, right;
		if (!number_mul(a[i], x, &left) || !number_mul(b[i], -y, &right) ||
			!number_add(left, right, &a[i]) || a[i] == INT64_MIN)
			return false;
	}
	return true;
}

/* Gauss and Jordan on the unknown columns; known ones come along. */
static bool reverse_work_eliminate(const struct reverse_work *work, struct mix *mixes)
{
	int done = 0;
	for (int i = 0; i < work->recurrence->loop_count; i++) {
		int at = done;
		if (work->known >> i & 1)
			continue;
		while (at < work->row_count && !mixes[at].loops[i])
			at++;
		if (at == work->row_count)
			continue;
		struct mix pivot = mixes[at];
		mixes[at] = mixes[done];
		mixes[done] = pivot;
		for (int r = 0; r < work->row_count; r++) {
			int64_t x = pivot.loops[i], y = mixes[r].loops[i], divisor;
			if (r == done || !y)
				continue;
			divisor = number_gcd(llabs(x), llabs(y));
			if (!projection_combine(
				    mixes[r].loops, x / divisor, pivot.loops, y / divisor, LOOPS) ||
				!projection_combine(
					mixes[r].rows, x / divisor, pivot.rows, y / divisor, ROWS))
				return false;
		}
		done++;
	}
	return true;
}

static struct reverse_step *reverse_work_add_step(
	struct reverse_work *work, enum reverse_kind kind, int loop)
{
	struct reverse_step *step = &work->out->steps[work->out->step_count++];
	*step = (struct reverse_step){.kind = kind, .loop = loop, .sign = 1, .divisor = 1};
	work->known |= UINT32_C(1) << loop;
	return step;
}

/* The one unknown loop of a mix. */
static void reverse_divide(struct reverse_work *work, const struct mix *mix, int loop)
{
	int64_t by = mix->loops[loop], sign = by < 0 ? -1 : 1;
	struct reverse_step *step = reverse_work_add_step(work, REVERSE_DIVIDE, loop);
	memcpy(step->rows, mix->rows, sizeof step->rows);
	for (int r = 0; r < ROWS; r++)
		step->rows[r] *= sign;
	for (int i = 0; i < LOOPS; i++)
		step->loops[i] = i == loop ? 0 : -sign * mix->loops[i];
	step->divisor = llabs(by);
	step->even = step->divisor != 1;
}

/* A row of its own, else any combination; prefers what divides by one. */
static bool divide_some(struct reverse_work *work, bool *fits)
{
	struct mix mixes[ROWS] = {0};
	int loop = -1;
	for (int r = 0; r < work->row_count; r++) {
		memcpy(mixes[r].loops, work->rows[r], sizeof mixes[r].loops);
		mixes[r].rows[r] = 1;
	}
	for (int r = 0; r < work->row_count; r++)
		if (count_unknown(work, mixes[r].loops, &loop) == 1 &&
			llabs(mixes[r].loops[loop]) == 1) {
			reverse_divide(work, &mixes[r], loop);
			return true;
		}
	*fits = reverse_work_eliminate(work, mixes);
	for (int r = 0; *fits && r < work->row_count; r++)
		if (count_unknown(work, mixes[r].loops, &loop) == 1) {
			reverse_divide(work, &mixes[r], loop);
			return true;
		}
	return false;
}

/* The unknown loops of a row, those that step farthest first; 0 if they are not digits. */
static int find_digits(const struct reverse_work *work, const int64_t *row, int *digits)
{
	int count = 0;
	for (int i = 0; i < work->recurrence->loop_count; i++) {
		if (!row[i] || work->known >> i & 1)
			continue;
		int at = count++;
		for (; at > 0 && llabs(row[digits[at - 1]]) < llabs(row[i]); at--)
			digits[at] = digits[at - 1];
		digits[at] = i;
	}
	int64_t reach = 0;
	for (int k = count - 1; k >= 0; k--) {
		int64_t step = llabs(row[digits[k]]), more;
		if (step <= reach ||
			!number_mul(step, work->recurrence->loops[digits[k]].extent - 1, &more) ||
			!number_add(reach, more, &reach))
			return 0;
	}
	return count;
}

/* Digits of a row, from zero up: those with negative steps are counted from their end. */
static bool take_digits(struct reverse_work *work, int r, const int *digits, int count)
{
	const int64_t *row = work->rows[r];
	int64_t constant = 0;
	uint32_t own = 0;
	for (int k = 0; k < count; k++) {
		const struct loop *loop = &work->recurrence->loops[digits[k]];
		int64_t from = row[digits[k]] < 0 ? loop->least + loop->extent - 1 : loop->least;
		int64_t part;
		own |= UINT32_C(1) << digits[k];
		if (!number_mul(row[digits[k]], from, &part) ||
			!number_add(constant, -part, &constant))
			return false;
	}
	for (int k = 0; k < count; k++) {
		int i = digits[k];
		const struct loop *loop = &work->recurrence->loops[i];
		int64_t from = row[i] < 0 ? loop->least + loop->extent - 1 : loop->least;
		struct reverse_step *step = reverse_work_add_step(work, REVERSE_DIGIT, i);
		step->rows[r] = 1;
		step->constant = constant;
		step->base = from;
		step->sign = row[i] < 0 ? -1 : 1;
		step->divisor = llabs(row[i]);
		for (int other = 0; other < work->recurrence->loop_count; other++)
			if (other != i && work->known >> other & 1)
				step->loops[other] = -row[other];
		/* The digit's share is taken from its start, as the constant is. */
		constant += row[i] * from;
	}
	return own != 0;
}

static bool take_some_digits(struct reverse_work *work, bool *fits)
{
	for (int r = 0; r < work->row_count; r++) {
		int digits[LOOPS], count = find_digits(work, work->rows[r], digits);
		if (count < 2)
			continue;
		*fits = take_digits(work, r, digits, count);
		return *fits;
	}
	return false;
}

static void scan_one(struct reverse_work *work)
{
	int best = -1;
	for (int i = 0; i < work->recurrence->loop_count; i++)
		if (!(work->known >> i & 1) &&
			(best < 0 || work->recurrence->loops[i].extent <
					     work->recurrence->loops[best].extent))
			best = i;
	reverse_work_add_step(work, REVERSE_SCAN, best);
}

/* A row holds of itself where one division by one was made from it alone. */
static uint32_t find_checks(const struct reverse_work *work)
{
	uint32_t checked = (UINT32_C(1) << work->row_count) - 1;
	for (int k = 0; k < work->out->step_count; k++) {
		const struct reverse_step *step = &work->out->steps[k];
		int row = -1, count = 0;
		for (int r = 0; r < work->row_count; r++)
			if (step->rows[r]) {
				row = r;
				count++;
			}
		if (step->kind == REVERSE_DIVIDE && step->divisor == 1 && count == 1)
			checked &= ~(UINT32_C(1) << row);
	}
	return checked;
}

struct reverse projection_reverse(
	const struct recurrence *recurrence, const struct projection *projection)
{
	struct reverse out = {0};
	struct reverse_work work = {.recurrence = recurrence, .out = &out};
	for (int r = 0; r < projection->space_count; r++)
		memcpy(work.rows[work.row_count++], projection->space[r], sizeof *work.rows);
	for (int r = 0; r < projection->time_count; r++)
		memcpy(work.rows[work.row_count++], projection->time[r], sizeof *work.rows);
	bool fits = true;
	while (fits && out.step_count < recurrence->loop_count)
		if (!divide_some(&work, &fits) && fits && !take_some_digits(&work, &fits) && fits)
			scan_one(&work);
	if (!fits)
		out.why = "numbers of the reverse transform do not fit";
	out.checked = find_checks(&work);
	return out;
}
