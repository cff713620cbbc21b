#ifndef MAP_UNEVEN_BRANCHES_H
#define MAP_UNEVEN_BRANCHES_H

#include "solvers/map/exact/spatial.h"
#include "solvers/map/exact/view.h"

/* The outer branches where factors need not divide: all spatial bounds, with a bound on what
 * follows, those of the least bound first. */
struct uneven_branches {
	size_t count;
	struct spatial_choice *at;
	/* False: there are too many to hold, or it was to stop.  What is not held costs at least
	 * `floor`, of the first objective. */
	bool complete;
	double floor;
	struct spatial_bounds spatial;
};

struct uneven_branches uneven_branches_make(
	struct run *run, struct arena *arena, const struct nest_frame *frame);

/* The view of branch number i, and bits of space->free for what is kept.  False if some dataspace
 * has no home, or if the least tiles of what is kept do not fit. */
bool uneven_branch_view(const struct nest_frame *frame, const struct uneven_branches *branches,
	size_t i, uint64_t residency, struct nest_view *out);

#endif
