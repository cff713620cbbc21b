#include "base/number.h"
#include "search/recurrence/projections.h"

#include <stdlib.h>
#include <string.h>

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
		if (delay)
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
