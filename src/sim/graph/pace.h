#ifndef SIM_PACE_H
#define SIM_PACE_H

#include "base/number.h"

/*
 * Times in ticks: a cycle has as many as make the times of all units of work whole, up to a limit
 * above which times round up instead.
 */

/* Ticks of one unit of work, as a fraction; 0: no time at all. */
struct pace {
	int64_t num, den;
};

/* The least number of ticks to a cycle that makes work/rate whole, joined with those so far; and what makes a
 * time of this many cycles whole. */
int64_t pace_refine(int64_t ticks, int64_t work, struct ratio rate);
int64_t pace_refine_time(int64_t ticks, struct ratio cycles);

/* The pace of units of `work` at a rate, with as many ticks to a cycle. */
struct pace pace_find(int64_t ticks, int64_t work, struct ratio rate);

/* Ticks of this many units, at most `longest`; 0: it takes none, and no server sees it. */
int64_t pace_time(struct pace pace, int64_t work, int64_t longest);

#endif
