#ifndef MAP_UNEVEN_CHOICES_H
#define MAP_UNEVEN_CHOICES_H

#include "search/drive/solver.h"
#include "solvers/map/uneven/view.h"

/* All spatial bounds, with a bound on whatever follows; those of the least bound first. */
struct uneven_choice {
	double bound;           /* of the first objective */
	const uint32_t *bounds; /* by spatial tiling level, then dimension */
};

struct uneven_choices {
	size_t count;
	struct uneven_choice *at;
	/* False: there are too many to hold, or it was to stop.  What is not held costs at least
	 * `floor`, of the first objective. */
	bool complete;
	double floor;
	int spatial_count;
	int tiling[ARCH_LEVELS_MOST]; /* the spatial tiling levels */
};

struct uneven_choices uneven_choices_make(
	struct run *run, struct arena *arena, const struct nest_frame *frame);

/* The view of a choice, and bits of space->free for what is kept.  False if some dataspace has no
 * home, or if the least tiles of what is kept do not fit. */
bool uneven_choice_view(const struct nest_frame *frame, const struct uneven_choices *choices,
	const struct uneven_choice *choice, uint64_t residency, struct uneven_view *out);

#endif
