#ifndef MAP_EXACT_SPATIAL_H
#define MAP_EXACT_SPATIAL_H

#include "search/drive/solver.h"
#include "search/nest/completions.h"
#include "solvers/map/exact/frame.h"

/*
 * All spatial bounds of a mapspace: one for each fan-out and dimension, within the domain and no
 * more in a block than it has instances.  Even bounds are divisors of the extents that temporal
 * bounds can complete; uneven ones are any that leave no instance without work.
 */
struct spatial_bounds {
	size_t count;
	const uint32_t *at; /* each: by fan-out, then dimension */
	bool complete;      /* false: there are more, or the run is to stop */
	int fanout_count;
	int fanouts[ARCH_LEVELS_MOST]; /* tiling levels of the space */
};

/* Bounds number `spatial`, and what every mapping with them costs at least in the first objective. */
struct spatial_choice {
	double bound;
	size_t spatial;
};

/* Smallest bound first. */
void spatial_choices_sort(struct spatial_choice *choices, size_t count);

/* `most` of them.  `completions`: of even bounds; NULL: they are uneven. */
struct spatial_bounds spatial_bounds_find(struct run *run, struct arena *arena,
	const struct nest_frame *frame, const struct completions *completions, size_t most);

/* The space's blank mapping with bounds number s. */
void spatial_bounds_set(const struct spatial_bounds *bounds, const struct space *space, size_t s,
	struct mapping *out);

#endif
