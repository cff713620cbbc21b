#ifndef SIM_SEQUENTIAL_H
#define SIM_SEQUENTIAL_H

#include "base/array.h"
#include "base/stopper.h"
#include "model/recurrence/recurrence.h"

/*
 * What a recurrence means: every value computed once, after those that it reads, with no array and
 * no clock.
 */
struct arena;

/* Values of input streams; equal questions get equal answers.  `stopper` may end an execution; NULL:
 * nobody. */
struct recurrence_inputs {
	void *user;
	double (*read)(void *user, int stream, const int64_t *place);
	const struct stopper *stopper;
};

/* A value that an output gets. */
struct recurrence_output {
	int stream;
	int64_t place[RECURRENCE_LOOPS_MOST]; /* by axis, the rest 0 */
	double value;
};

enum { SEQUENTIAL_VALUES_MOST = 1 << 24 }; /* streams times points of the box */

struct recurrence_values {
	const char *fault;    /* NULL: all was computed */
	int64_t points;       /* of the box; those outside the domain have no value */
	const double *values; /* by recurrent stream (all streams counted), then point */
	size_t output_count;
	const struct recurrence_output *outputs; /* by stream, then place */
};

/* Counts a step in *unasked; true once the stopper has said so, which it is asked now and then. */
bool recurrence_stops(const struct recurrence_inputs *inputs, uint64_t *unasked);

/* Stopped, or too many points: `values` is NULL and `fault` says which. */
struct recurrence_values sequential_run(const struct recurrence *recurrence,
	const struct recurrence_inputs *inputs, struct arena *arena);

/* The number of a point in the box, in lexicographic order. */
int64_t recurrence_index(const struct recurrence *recurrence, const int64_t *point);

/* Adds what an output gets at a point, worked out from `values` there; false: it gets nothing. */
struct recurrence_outputs array(struct recurrence_output);
bool recurrence_write(const struct recurrence *recurrence, int stream,
	const struct term_values *values, struct recurrence_outputs *outputs, struct arena *arena);

/* By stream, then place; false if one place gets two values. */
bool recurrence_sort_outputs(struct recurrence_output *outputs, size_t count);

#endif
