#ifndef MAP_EXACT_BRANCHES_H
#define MAP_EXACT_BRANCHES_H

#include "search/drive/solver.h"
#include "solvers/map/exact/floor.h"
#include "solvers/map/exact/level_factors.h"
#include "solvers/map/exact/spatial.h"

/*
 * What the exact search fixes first: which levels keep what, and all spatial bounds.
 *
 * Spatial bounds are listed at once, those of the least bound first, for all that is kept;
 * given these, dataspaces do not ask each other where they are kept, but for
 * room: so residencies are only made of those that nothing found excludes.  Of plain dataspaces
 * what they need room for bounds them, too (floor.h).
 */
struct outer_branch {
	double bound;       /* of the first objective */
	uint64_t residency; /* bits of space->free */
	uint32_t spatial;
};

struct outer_branches {
	const struct nest_frame *frame;
	const struct level_factors *options;
	/* False: there are too many to hold, or it was to stop.  What is not held costs at least
	 * `floor`, of the first objective. */
	bool complete;
	double floor;
	struct nest_shelf *shelf; /* NULL: there are windows */
	int free_most; /* places of a dataspace that may keep it or not; the rest do not */
	size_t count;
	struct spatial_choice *at;
	double *least; /* of spatial choice s and objective k: [s * objectives + k] */
	struct spatial_bounds spatial;
	struct expansion *expansion; /* room for one at a time: it is large */
};

struct outer_branches *outer_branches_make(struct run *run, struct arena *arena,
	const struct nest_frame *frame, const struct level_factors *options);

/* The choices with spatial bounds number i that a cut does not exclude, those of the least bound
 * first.  None if the run is to stop. */
struct outer_branch_list {
	size_t count;
	struct outer_branch *at;
	bool stopped;
};
struct outer_branch_list outer_branches_expand(struct run *run, struct arena *arena,
	const struct outer_branches *choices, size_t i, struct nest_cut *cut);

/* Puts a choice into a mapping. */
void outer_branch_set(const struct outer_branches *choices, const struct outer_branch *choice,
	struct mapping *mapping);

#endif
