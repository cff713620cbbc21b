#ifndef SIM_RECURRENCE_SYSTOLIC_H
#define SIM_RECURRENCE_SYSTOLIC_H

#include "base/array.h"
#include "base/stopper.h"
#include "model/recurrence/recurrence.h"

/*
 * The meaning of a recurrence: every value computed once, after those that it reads, without an array
 * or a clock.
 */
struct arena;

/* Values of input streams; equal arguments get equal results.  `stopper` may end an execution; NULL:
 * none. */
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

/* Stopped, or too many points: `values` is NULL and `fault` says which. */
struct recurrence_values sequential_run(const struct recurrence *recurrence,
	const struct recurrence_inputs *inputs, struct arena *arena);

/* The number of a point in the box, in lexicographic order. */
int64_t recurrence_index(const struct recurrence *recurrence, const int64_t *point);

/*
 * Place and time of each point of a recurrence under a projection.  PEs are
 * numbered within the box that all of them need, the last row of space innermost; steps follow each
 * other as loops over the rows of time do.
 */
enum { VISITS_PES_MOST = 1 << 26 };

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

/* The point of an index. */
void visits_point(const struct visits *visits, int64_t index, int64_t *point);

/*
 * A recurrence on the array that a projection makes of it, cycle by cycle.  Every PE has a chain of
 * shift registers for each recurrent stream, as long as its longest delay.  In a step each PE that
 * has a point computes its values: it reads a value that was made d steps ago by register d of the
 * PE that made it, and one of the same step by a wire.  Then all chains shift, those of idle PEs
 * too.
 *
 * Registers remember which point made what they hold.  A value that is not the one asked for, a
 * second point on a PE in one step, and a value that is needed to make itself are faults.
 *
 * Lanes are PEs that a vector unit makes work in lock step: all of them read before any writes, so
 * that they have in common what is only handed on, but nothing that one of them computes in the step
 * unless a wire adds it up; and what a register of a lane holds stays there unless it is shuffled.
 */
enum systolic_fault {
	SYSTOLIC_FINE,
	SYSTOLIC_CLASH,  /* two points on one PE in one step: `point`, `other` */
	SYSTOLIC_STALE,  /* `stream` at `other` is not in the register where `point` looks for it */
	SYSTOLIC_EARLY,  /* it would be read before it is made */
	SYSTOLIC_CIRCLE, /* `stream` at `point` is needed to make itself within one step */
	SYSTOLIC_LANES, /* `stream` at `other` is in another lane than `point`, and may not leave it */
	SYSTOLIC_OUTPUT,  /* an output gets two values at one place */
	SYSTOLIC_LARGE,   /* too many points, PEs or registers to execute */
	SYSTOLIC_STOPPED, /* by the stopper of the inputs: nothing else of the result is of use */
};

struct systolic_result {
	enum systolic_fault fault;
	int stream;
	int64_t point[RECURRENCE_LOOPS_MOST], other[RECURRENCE_LOOPS_MOST];
	int64_t points, pes, cycles;                /* from the first point's step to the last's */
	int64_t registers[RECURRENCE_STREAMS_MOST]; /* per PE: the length of the chain */
	int64_t register_reads, register_writes;    /* values; shifts of live values are writes */
	int64_t link_moves; /* values read from another PE's registers or wires; lanes are one PE */
	int64_t wire_reads, input_reads, output_writes;
	/* Vector units, the steps in which they have a point, summed up, and values that a lane has
	 * from the same unit's step or by a shuffle; 0 without lanes. */
	int64_t units, issues, lane_multicasts, lane_shuffles;
	int64_t ports;        /* the most inputs read and outputs written in one step */
	const double *values; /* as sequential_run */
	size_t output_count;
	const struct recurrence_output *outputs;
	const struct visits *visits; /* when and where each point ran; NULL: SYSTOLIC_LARGE */
};

struct systolic_result systolic_run(const struct recurrence *recurrence,
	const struct projection *projection, const struct recurrence_inputs *inputs,
	struct arena *arena);

#endif
