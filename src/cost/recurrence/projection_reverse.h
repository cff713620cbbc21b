#ifndef COST_PROJECTION_REVERSE_H
#define COST_PROJECTION_REVERSE_H

#include "model/recurrence/recurrence.h"

/*
 * Which point, if any, a PE computes at a time: loops from rows of space and time, one after the
 * other.
 *
 *	z = base + sign * floor((numerator) / divisor)
 *
 * The numerator is a sum over the rows (space first, then time) and the loops that are known by
 * then.  Where rows that are combined leave one unknown loop, it is a division, which must come out
 * even if `even` (with one row of each kind this is the inverse matrix, and the check is that of
 * parity).  Where a row has several unknown loops each of which steps farther than all smaller ones
 * together, they are digits of a mixed radix, largest first.  Where neither helps, a loop is
 * scanned.  At the end, every row must be what the loops make of it.
 */
enum reverse_kind { REVERSE_DIVIDE, REVERSE_DIGIT, REVERSE_SCAN };

struct reverse_step {
	enum reverse_kind kind;
	int loop;
	int64_t base, sign;
	int64_t constant, rows[2 * RECURRENCE_LOOPS_MOST], loops[RECURRENCE_LOOPS_MOST];
	int64_t divisor; /* > 0 */
	bool even;
};

struct reverse {
	int step_count; /* one for each loop */
	struct reverse_step steps[RECURRENCE_LOOPS_MOST];
	uint32_t checked; /* by row: the steps do not make sure of it */
	const char *why;  /* numbers do not fit; NULL */
};

struct reverse projection_reverse(
	const struct recurrence *recurrence, const struct projection *projection);

#endif
