#ifndef SEARCH_RECURRENCE_PROJECTIONS_H
#define SEARCH_RECURRENCE_PROJECTIONS_H

#include "base/lattice.h"
#include "cost/recurrence/projection.h"
#include "search/drive/solver.h"

/*
 * All projections of a recurrence with one row of time and a number of rows of space whose
 * entries lie in given ranges.
 *
 * If the domain is a box, PEs and conflicts of an allocation depend only on the vectors that it sends to zero: two
 * points share a PE if and only if their difference is one.  So allocations that agree in those, and in the length
 * of their wires, are one class.
 */
struct schedule {
	int64_t vector[RECURRENCE_LOOPS_MOST];
	int64_t cycles;
	int64_t registers; /* per PE, all streams */
};

struct allocation {
	int64_t rows[RECURRENCE_LOOPS_MOST][RECURRENCE_LOOPS_MOST]; /* the first of its class */
	struct lattice kernel;
	int64_t wire; /* sum over dependences of the steps that P e takes */
	int64_t pes;
	int64_t count; /* matrices of the class, rows in any order */
};

struct projections {
	const struct space_time *spec;
	int rows;
	uint64_t used; /* dependences that some point uses, as bits: only they have to be obeyed */
	size_t schedule_count, allocation_count;
	const struct schedule *schedules;     /* legal ones, by cycles, then vector */
	const struct allocation *allocations; /* by PEs, then wire, then rows */
	uint64_t candidates;                  /* pairs of matrices and vectors in the ranges */
	const char *why;                      /* they cannot be listed; NULL */
	struct run *run;                      /* that is asked whether to go on; NULL */
	bool stopped;                         /* it said no: the lists are of no use */
};

enum {
	PROJECTION_ROWS_MOST = 1 << 24,    /* vectors, and sets of them, that are looked at */
	PROJECTION_LOOKS_MOST = 200000000, /* at points of a domain while they are listed */
	PROJECTION_STEPS_MOST = 1000000,   /* coefficients tried where points may meet */
};

struct arena;
/* Given parts of the projection stay as they are. */
struct projections projections_list(
	const struct space_time *spec, struct run *run, struct arena *arena);

/* True if the wires suffice, lanes having in common what they may. */
bool projections_wired(const struct projections *space, const struct allocation *allocation,
	const struct schedule *schedule);

/* True if no two points meet; *known says whether it could be found out. */
bool projections_apart(const struct projections *space, const struct allocation *allocation,
	const struct schedule *schedule, bool *known);

/* Returns both as one projection. */
struct projection projections_make(const struct projections *space,
	const struct allocation *allocation, const struct schedule *schedule);

#endif
