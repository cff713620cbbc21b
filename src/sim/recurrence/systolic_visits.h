#ifndef SIM_SYSTOLIC_VISITS_H
#define SIM_SYSTOLIC_VISITS_H

#include "model/recurrence/recurrence.h"

/*
 * Where and when the points of a recurrence run under a projection, each of them looked at.  PEs are
 * numbered within the box that all of them need, the last row of space innermost; steps follow each
 * other as loops over the rows of time do.
 */
enum { VISITS_PES_MOST = 1 << 26 };

struct arena;

struct visit {
	int64_t time, pe;
	int64_t index; /* recurrence_index of the point */
};

struct visits {
	const struct recurrence *recurrence;
	const struct projection *projection;
	int64_t strides[RECURRENCE_LOOPS_MOST]; /* of time rows, flattened */
	int64_t least[RECURRENCE_LOOPS_MOST], extents[RECURRENCE_LOOPS_MOST]; /* of space rows */
	int64_t pe_count; /* of the box of PEs */
	size_t count;
	struct visit *at; /* by time, then PE */
};

/* The box of PEs, the strides and the count.  False: more than VISITS_PES_MOST, or numbers that are
 * too large. */
bool visits_measure(struct visits *visits);

/* The list, after the measure.  False: a step's number is too large. */
bool visits_list(struct visits *visits, struct arena *arena);

/* The step of a point; false: its number is too large. */
bool visits_time(const struct visits *visits, const int64_t *point, int64_t *out);

/* The PE of a point; -1: none of the box. */
int64_t visits_pe(const struct visits *visits, const int64_t *point);

/* The vector unit of a PE, numbered as PEs, and its lane there; PEs without lanes are units. */
int64_t visits_unit(const struct visits *visits, int64_t pe, int64_t *lane);

/* The point of an index. */
void visits_point(const struct visits *visits, int64_t index, int64_t *point);

#endif
