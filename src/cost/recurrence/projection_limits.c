#include "cost/recurrence/projection_limits.h"

#include "base/number.h"

#include <stdlib.h>

void projection_refuse(
	struct projection_facts *facts, enum projection_fault what, int dependence, int axis)
{
	if (facts->fault != PROJECTION_FINE)
		return;
	facts->fault = what;
	facts->dependence = dependence;
	facts->axis = axis;
}

/* Lanes are as many as a vector unit has, and registers stay in them. */
void projection_check_lanes(const struct recurrence *recurrence,
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

void projection_check_limits(const struct recurrence *recurrence,
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
