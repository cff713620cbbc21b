#include "search/recurrence/projections.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"

#include <stdlib.h>
#include <string.h>

struct vectors {
	int64_t (*at)[RECURRENCE_LOOPS_MOST];
	size_t count;
};

/* Ticks of a step that looks at all points of a domain: the stopper is called each time. */
enum { LONG_TICKS = 64 };

/* True if a listing may go on after so much work. */
static bool goes_on(struct projections *space, uint64_t ticks)
{
	space->stopped = space->run && !run_go_on(space->run, ticks);
	return !space->stopped;
}

/* All vectors with entries of a range, the lexicographically greatest first; none: too many. */
static struct vectors list_vectors(
	const struct projection_range *range, int loops, struct arena *arena)
{
	int64_t count = 1, width = range->most - range->least + 1;
	for (int i = 0; i < loops; i++)
		if (!number_mul(count, width, &count) || count > PROJECTION_ROWS_MOST)
			return (struct vectors){0};
	struct vectors vectors = {
		arena_alloc_array(arena, (size_t)count, sizeof *vectors.at), (size_t)count};
	for (int64_t n = 0; n < count; n++) {
		int64_t left = n;
		for (int i = loops - 1; i >= 0; i--) {
			vectors.at[n][i] = range->most - left % width;
			left /= width;
		}
	}
	return vectors;
}

/* Causal, and no more values of the same step than wires allow; those that lanes may share are
 * looked at when the allocation is known. */
static bool is_causal(const struct projections *space, const int64_t *vector, int64_t *registers)
{
	const struct space_time *spec = space->spec;
	const struct recurrence *recurrence = &spec->recurrence;
	uint32_t free = spec->projection.wires;
	if (projection_has_lanes(&spec->projection))
		free |= recurrence_copies(recurrence);
	int64_t depth[RECURRENCE_STREAMS_MOST] = {0};
	int wires = 0;
	*registers = 0;
	for (int d = 0; d < recurrence->dependence_count; d++) {
		const struct dependence *dependence = &recurrence->dependences[d];
		int64_t delay;
		if (!number_dot(vector, dependence->vector, recurrence->loop_count, &delay))
			return false;
		if (!(space->used >> d & 1))
			continue;
		bool is_free = free >> dependence->stream & 1;
		if (delay < 0 || (!delay && !is_free && ++wires > spec->wires_most))
			return false;
		depth[dependence->stream] = number_max(depth[dependence->stream], delay);
	}
	for (int s = 0; s < recurrence->stream_count; s++)
		if (!number_add(*registers, depth[s], registers))
			return false;
	return true;
}

static int compare_schedules(const void *left, const void *right)
{
	const struct schedule *a = left, *b = right;
	if (a->cycles != b->cycles)
		return a->cycles < b->cycles ? -1 : 1;
	return lattice_compare(a->vector, b->vector, RECURRENCE_LOOPS_MOST);
}

/* Steps between the first and the last point of the domain. */
static int64_t count_cycles(const struct recurrence *recurrence, const int64_t *vector)
{
	int64_t cycles = 1;
	if (!recurrence->domain) {
		for (int i = 0; i < recurrence->loop_count; i++)
			cycles += llabs(vector[i]) * (recurrence->loops[i].extent - 1);
		return cycles;
	}
	int64_t point[RECURRENCE_LOOPS_MOST], first = INT64_MAX, last = INT64_MIN;
	for (bool more = recurrence_first(recurrence, point); more;
		more = recurrence_next(recurrence, point)) {
		int64_t time = 0;
		number_dot(vector, point, recurrence->loop_count, &time);
		first = number_min(first, time);
		last = number_max(last, time);
	}
	return last < first ? 0 : last - first + 1;
}

/* True if all points of the box can be looked at so often. */
static bool is_walkable(const struct recurrence *recurrence, size_t times)
{
	int64_t looks;
	return number_mul(recurrence_box(recurrence), (int64_t)times, &looks) &&
	       looks <= PROJECTION_LOOKS_MOST;
}

static void list_schedules(struct projections *space, struct arena *arena)
{
	const struct space_time *spec = space->spec;
	struct array(struct schedule) list = {0};
	struct vectors vectors = {0};
	int loops = spec->recurrence.loop_count;
	bool fit = true;
	if (spec->has_time) {
		/* Several rows of time are one vector when they are flattened. */
		struct projection_facts facts =
			projection_facts(&spec->recurrence, &spec->projection, NULL);
		fit = facts.time.extent > 0;
		vectors.at = arena_copy(arena, facts.schedule, sizeof facts.schedule);
		vectors.count = 1;
	} else {
		vectors = list_vectors(&spec->time_range, loops, arena);
	}
	if (!fit)
		space->why = "times of the schedule do not fit into 64 bits";
	else if (!vectors.count)
		space->why = "there are too many schedules: narrow search: {schedule: [..]}";
	else if (spec->recurrence.domain && !is_walkable(&spec->recurrence, vectors.count))
		space->why = "the domain has too many points to look at for every schedule: "
			     "narrow search: {schedule: [..]}, or take the domain's condition out";
	if (space->why)
		return;
	space->candidates = vectors.count;
	uint64_t ticks = spec->recurrence.domain ? LONG_TICKS : 1;
	for (size_t i = 0; i < vectors.count && goes_on(space, ticks); i++) {
		struct schedule schedule = {{0}, 0, 0};
		memcpy(schedule.vector, vectors.at[i], sizeof schedule.vector);
		if (!is_causal(space, schedule.vector, &schedule.registers))
			continue;
		schedule.cycles = count_cycles(&spec->recurrence, schedule.vector);
		*array_add(arena, &list) = schedule;
	}
	if (list.count)
		qsort(list.at, list.count, sizeof *list.at, compare_schedules);
	space->schedules = list.at;
	space->schedule_count = list.count;
}

/* Limits that depend on the rows themselves: how far values move, which stay, the array's size.
 * The steps that all of them take, too. */
static bool row_fits(const struct projections *space, const int64_t *row, int64_t *wire)
{
	const struct recurrence *recurrence = &space->spec->recurrence;
	*wire = 0;
	for (int d = 0; d < recurrence->dependence_count; d++) {
		const struct dependence *dependence = &recurrence->dependences[d];
		int64_t move = 0;
		number_dot(row, dependence->vector, recurrence->loop_count, &move);
		if (move && space->used >> d & 1 && space->spec->stays >> dependence->stream & 1)
			return false;
		*wire += llabs(move);
	}
	return true;
}

struct classes array(struct allocation);

static int compare_kernels(const struct allocation *a, const struct allocation *b)
{
	if (a->kernel.rank != b->kernel.rank)
		return a->kernel.rank - b->kernel.rank;
	for (int r = 0; r < a->kernel.rank; r++) {
		int order =
			lattice_compare(a->kernel.rows[r], b->kernel.rows[r], a->kernel.columns);
		if (order)
			return order;
	}
	return (a->wire > b->wire) - (a->wire < b->wire);
}

static int compare_kinds(const void *left, const void *right)
{
	return compare_kernels(left, right);
}

static int compare_classes(const void *left, const void *right)
{
	const struct allocation *a = left, *b = right;
	int order = compare_kernels(a, b);
	for (int r = 0; !order && r < RECURRENCE_LOOPS_MOST; r++) /* the greatest stands for all */
		order = lattice_compare(b->rows[r], a->rows[r], RECURRENCE_LOOPS_MOST);
	return order;
}

static int compare_allocations(const void *left, const void *right)
{
	const struct allocation *a = left, *b = right;
	if (a->pes != b->pes)
		return a->pes < b->pes ? -1 : 1;
	if (a->wire != b->wire)
		return a->wire < b->wire ? -1 : 1;
	return compare_classes(a, b);
}

/* One of each class is left, with the number of all; `rows_count`: of equal matrices alone. */
static void merge_classes(struct classes *classes, bool rows_count)
{
	size_t kept = 0;
	if (classes->count)
		qsort(classes->at, classes->count, sizeof *classes->at, compare_classes);
	for (size_t i = 0; i < classes->count; i++) {
		if (kept && !(rows_count ? compare_classes : compare_kinds)(
				    &classes->at[kept - 1], &classes->at[i]))
			classes->at[kept - 1].count += classes->at[i].count;
		else
			classes->at[kept++] = classes->at[i];
	}
	classes->count = kept;
}

/* Sets of rows in rising order; `same` counts how often the last row was taken. */
struct row_choice {
	struct projections *space;
	const struct space_time *spec;
	const struct vectors *vectors;
	const int64_t *wires; /* by vector; -1: it breaks a limit */
	int rows;
	bool limited; /* reach, array and the like judge the rows themselves */
	bool ordered; /* and not all rows alike */
	struct allocation draft;
	int64_t orders;
	struct classes classes;
	struct arena *arena;
};

static void choose_rows(struct row_choice *choice, int row, size_t from, int same)
{
	if (row == choice->rows) {
		struct allocation *to = array_add(choice->arena, &choice->classes);
		*to = choice->draft;
		to->count = choice->orders;
		if (!lattice_kernel(choice->rows, choice->spec->recurrence.loop_count, to->rows,
			    &to->kernel))
			choice->classes.count--;
		if (choice->classes.count >= 1 << 18)
			merge_classes(&choice->classes, choice->limited);
		return;
	}
	int64_t orders = choice->orders, wire = choice->draft.wire;
	for (size_t i = choice->ordered ? 0 : from; i < choice->vectors->count; i++) {
		if (!goes_on(choice->space, 1))
			return;
		int again = i == from && row ? same + 1 : 1;
		if (choice->wires[i] < 0)
			continue;
		memcpy(choice->draft.rows[row], choice->vectors->at[i],
			sizeof choice->draft.rows[row]);
		choice->draft.wire =
			wire + (choice->spec->projection.lanes[row] ? 0 : choice->wires[i]);
		/* Rows so far could stand in (row + 1)! orders, less those of equal ones. */
		choice->orders = choice->ordered ? 1 : orders * (row + 1) / again;
		choose_rows(choice, row + 1, i, again);
	}
	choice->orders = orders;
	choice->draft.wire = wire;
}

static void count_pes(struct projections *space, struct classes *classes)
{
	const struct recurrence *recurrence = &space->spec->recurrence;
	int64_t extents[RECURRENCE_LOOPS_MOST];
	for (int i = 0; i < recurrence->loop_count; i++)
		extents[i] = recurrence->loops[i].extent;
	for (size_t c = 0; c < classes->count && goes_on(space, LONG_TICKS); c++) {
		struct allocation *allocation = &classes->at[c];
		if (recurrence->domain) {
			static const struct schedule none = {{0}, 0, 0};
			struct projection projection = projections_make(space, allocation, &none);
			allocation->pes = projection_facts(recurrence, &projection, NULL).pes;
		} else {
			allocation->pes = lattice_images(
				space->rows, recurrence->loop_count, allocation->rows, extents);
		}
		if (allocation->pes < 0)
			space->why = "PEs of an allocation are too many to be counted";
	}
}

/* Each projection vector, up to its sign and length, has the rows that are orthogonal to it. */
static void choose_vectors(struct row_choice *choice, const struct vectors *vectors)
{
	int loops = choice->spec->recurrence.loop_count;
	for (size_t i = 0; i < vectors->count && goes_on(choice->space, 1); i++) {
		int64_t divisor = 0, first = 0, wire;
		struct lattice rows;
		for (int k = 0; k < loops; k++) {
			divisor = number_gcd(divisor, llabs(vectors->at[i][k]));
			first = first ? first : vectors->at[i][k];
		}
		if (divisor != 1 || first < 0 || !lattice_kernel(1, loops, &vectors->at[i], &rows))
			continue;
		struct allocation *to = array_add(choice->arena, &choice->classes);
		*to = (struct allocation){.count = 1};
		memcpy(to->rows, rows.rows, sizeof rows.rows);
		bool fits = lattice_kernel(rows.rank, loops, to->rows, &to->kernel);
		for (int r = 0; fits && r < rows.rank; r++) {
			fits = row_fits(choice->space, to->rows[r], &wire);
			to->wire += choice->spec->projection.lanes[r] ? 0 : wire;
		}
		choice->classes.count -= !fits;
	}
}

/* Notes if rows have limits of their own, and if these differ. */
static void compare_rows(struct row_choice *choice)
{
	const struct space_time *spec = choice->spec;
	choice->limited = spec->reach != 0;
	for (int r = 0; r < choice->rows; r++) {
		choice->limited |= spec->array[r] || spec->projection.lanes[r] ||
				   spec->no_links[r] || spec->no_wires[r];
		choice->ordered |= spec->array[r] != spec->array[0] ||
				   spec->projection.lanes[r] != spec->projection.lanes[0] ||
				   spec->no_links[r] != spec->no_links[0] ||
				   spec->no_wires[r] != spec->no_wires[0];
	}
}

/* The allocation that the spec gives. */
static void choose_given(struct row_choice *choice)
{
	const struct space_time *spec = choice->spec;
	memcpy(choice->draft.rows, spec->projection.space, sizeof choice->draft.rows);
	for (int r = 0; r < choice->rows; r++) {
		int64_t wire;
		row_fits(choice->space, choice->draft.rows[r], &wire);
		choice->draft.wire += spec->projection.lanes[r] ? 0 : wire;
	}
	choice->rows = 0;
	choose_rows(choice, 0, 0, 0);
	if (choice->classes.count)
		lattice_kernel(choice->space->rows, spec->recurrence.loop_count,
			choice->classes.at[0].rows, &choice->classes.at[0].kernel);
}

/* All sets of rows of the range; false where they are too many. */
static bool choose_of_range(struct row_choice *choice)
{
	const struct space_time *spec = choice->spec;
	struct vectors vectors =
		list_vectors(&spec->space_range, spec->recurrence.loop_count, choice->arena);
	int64_t sets = 1;
	for (int r = 0; r < choice->rows; r++)
		if (!number_mul(sets, (int64_t)vectors.count, &sets))
			sets = INT64_MAX;
	if (!vectors.count || sets > PROJECTION_ROWS_MOST)
		return false;
	choice->space->candidates *= (uint64_t)sets;
	int64_t *wires = arena_array(choice->arena, int64_t, vectors.count);
	for (size_t i = 0; i < vectors.count; i++)
		if (!row_fits(choice->space, vectors.at[i], &wires[i]))
			wires[i] = -1;
	choice->vectors = &vectors;
	choice->wires = wires;
	choose_rows(choice, 0, 0, 0);
	choice->vectors = NULL;
	return true;
}

static void list_allocations(struct projections *space, struct arena *arena)
{
	const struct space_time *spec = space->spec;
	struct row_choice choice = {
		.space = space, .spec = spec, .rows = space->rows, .orders = 1, .arena = arena};
	compare_rows(&choice);
	if (spec->has_space) {
		choose_given(&choice);
	} else if (spec->by_vectors) {
		struct vectors vectors =
			list_vectors(&spec->vector_range, spec->recurrence.loop_count, arena);
		choose_vectors(&choice, &vectors);
		space->candidates *= choice.classes.count;
	} else if (!choose_of_range(&choice)) {
		space->why = "there are too many allocations: narrow search: {allocation: "
			     "[..], rows: ..}";
		return;
	}
	if (space->stopped)
		return;
	merge_classes(&choice.classes, choice.limited);
	if (spec->recurrence.domain && !is_walkable(&spec->recurrence, choice.classes.count)) {
		space->why = "the domain has too many points to look at for every allocation: "
			     "narrow search: {allocation: [..], rows: ..}";
		return;
	}
	count_pes(space, &choice.classes);
	if (choice.classes.count)
		qsort(choice.classes.at, choice.classes.count, sizeof *choice.classes.at,
			compare_allocations);
	space->allocations = choice.classes.at;
	space->allocation_count = choice.classes.count;
}

struct projections projections_list(
	const struct space_time *spec, struct run *run, struct arena *arena)
{
	struct projections space = {.spec = spec,
		.run = run,
		.rows = spec->has_space ? spec->projection.space_count : spec->space_rows,
		.used = projection_used(&spec->recurrence)};
	list_schedules(&space, arena);
	if (!space.why && !space.stopped)
		list_allocations(&space, arena);
	return space;
}

/* Streams that need a wire are added to *wires: they are used in the step that makes them, and not
 * by lanes of one unit alone.  Answers how many dependences that are, beside the declared ones. */
static int find_wires(const struct projections *space, const struct allocation *allocation,
	const struct schedule *schedule, uint32_t *wires)
{
	const struct space_time *spec = space->spec;
	const struct recurrence *recurrence = &spec->recurrence;
	uint32_t copies =
		projection_has_lanes(&spec->projection) ? recurrence_copies(recurrence) : 0;
	uint32_t declared = spec->projection.wires;
	struct projection rows = spec->projection;
	int count = 0;
	rows.space_count = space->rows;
	for (int d = 0; d < recurrence->dependence_count; d++) {
		const struct dependence *dependence = &recurrence->dependences[d];
		int64_t delay = 0, move[RECURRENCE_LOOPS_MOST] = {0};
		number_dot(schedule->vector, dependence->vector, recurrence->loop_count, &delay);
		if (delay || !(space->used >> d & 1))
			continue;
		for (int r = 0; r < space->rows; r++)
			number_dot(allocation->rows[r], dependence->vector, recurrence->loop_count,
				&move[r]);
		if (projection_shares(&rows, copies, dependence->stream, move))
			continue;
		*wires |= UINT32_C(1) << dependence->stream;
		count += !(declared >> dependence->stream & 1);
	}
	return count;
}

bool projections_wired(const struct projections *space, const struct allocation *allocation,
	const struct schedule *schedule)
{
	uint32_t wires = 0;
	return !projection_has_lanes(&space->spec->projection) ||
	       find_wires(space, allocation, schedule, &wires) <= space->spec->wires_most;
}

struct projection projections_make(const struct projections *space,
	const struct allocation *allocation, const struct schedule *schedule)
{
	static const char *const space_names[] = {"p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8"};
	struct projection projection = space->spec->projection;
	projection.space_count = space->rows;
	memcpy(projection.space, allocation->rows, sizeof projection.space);
	if (!space->spec->has_time) {
		projection.time_count = 1;
		memcpy(projection.time[0], schedule->vector, sizeof projection.time[0]);
	}
	for (int r = 0; r < space->rows; r++)
		if (!projection.space_names[r])
			projection.space_names[r] = space_names[r];
	if (!projection.time_names[0])
		projection.time_names[0] = "t";
	find_wires(space, allocation, schedule, &projection.wires);
	return projection;
}

static bool is_met(void *user, const int64_t *g)
{
	bool *met = user;
	(void)g;
	*met = true;
	return false;
}

bool projections_apart(const struct projections *space, const struct allocation *allocation,
	const struct schedule *schedule, bool *known)
{
	const struct recurrence *recurrence = &space->spec->recurrence;
	int loops = recurrence->loop_count;
	int64_t rows[RECURRENCE_LOOPS_MOST][RECURRENCE_LOOPS_MOST], most[RECURRENCE_LOOPS_MOST];
	*known = true;
	if (recurrence->domain) {
		struct projection projection = projections_make(space, allocation, schedule);
		struct projection_facts facts = projection_facts(recurrence, &projection, NULL);
		*known = facts.fault != PROJECTION_UNKNOWN;
		return *known && facts.conflicts == 0;
	}
	if (allocation->kernel.rank == 1) {
		/* Points of a PE lie along one vector: they meet if it takes no time and one step
		 * along it stays inside. */
		const int64_t *along = allocation->kernel.rows[0];
		int64_t time = 0;
		bool inside = true;
		for (int i = 0; i < loops; i++) {
			time += along[i] * schedule->vector[i];
			inside &= llabs(along[i]) < recurrence->loops[i].extent;
		}
		return time || !inside;
	}
	memcpy(rows, allocation->rows, sizeof rows);
	memcpy(rows[space->rows], schedule->vector, sizeof schedule->vector);
	struct lattice kernel;
	if (!lattice_kernel(space->rows + 1, loops, rows, &kernel)) {
		*known = false;
		return false;
	}
	for (int i = 0; i < loops; i++)
		most[i] = recurrence->loops[i].extent - 1;
	bool met = false, all = lattice_walk(&kernel, most, PROJECTION_STEPS_MOST, is_met, &met);
	*known = all || met;
	return all;
}
