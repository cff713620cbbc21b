#ifndef MAP_NEST_CHOICES_H
#define MAP_NEST_CHOICES_H

#include "solvers/map/nest_view.h"

/*
 * What the exact search fixes first: which levels keep what, and all spatial bounds.
 * Each choice has a bound on whatever follows; those of the least bound come first.
 */
struct nest_choice {
	double bound;       /* of the first objective */
	uint64_t residency; /* bits of space->free */
	uint32_t spatial;
};

struct nest_choices {
	size_t count;
	struct nest_choice *at;
	bool complete;          /* false: there were too many to hold */
	const uint32_t *bounds; /* of spatial choice s: by spatial tiling level, then dimension */
	int spatial_count;
	int tiling[ARCH_LEVELS_MOST]; /* the spatial tiling levels */
};

/* Which products of temporal bounds levels 0 .. j can make, by dimension. */
struct nest_reach {
	int divisor_count[SHAPE_DIMENSIONS_MOST];
	const int64_t *divisors[SHAPE_DIMENSIONS_MOST];
	const bool *reached[SHAPE_DIMENSIONS_MOST]; /* [j * divisor_count + divisor] */
};

struct nest_reach nest_reach_make(struct arena *arena, const struct nest_frame *frame);
bool nest_reaches(const struct nest_reach *reach, int dimension, int j, int64_t product);

struct nest_choices nest_choices_make(
	struct arena *arena, const struct nest_frame *frame, const struct nest_reach *reach);

/* Puts a choice into a mapping. */
void nest_choice_set(const struct nest_frame *frame, const struct nest_choices *choices,
	const struct nest_choice *choice, struct mapping *mapping);

#endif
