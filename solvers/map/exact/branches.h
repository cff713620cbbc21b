#ifndef MAP_EXACT_BRANCHES_H
#define MAP_EXACT_BRANCHES_H

#include "search/drive/solver.h"
#include "solvers/map/exact/frame.h"
#include "solvers/map/exact/label.h"

/*
 * The largest tiles of some dataspaces that a level can hold together: extents, divisors
 * dimension by dimension, of which none can be the next larger divisor.  Whatever the level
 * holds has no extent above that of one of them.  Dimensions that move none of
 * the dataspaces have all of their extent.
 */
struct nest_tiles {
	bool known;         /* false: they were too many */
	size_t count;       /* 0: not even single words fit */
	const uint16_t *at; /* places among the divisors: [tile * dimensions + dimension] */
};

/* Tiles are found when first asked for, by any thread. */
struct nest_shelf;
struct nest_shelf *nest_shelf_make(
	struct arena *arena, const struct nest_frame *frame, const struct level_factors *options);

/* For the dataspaces in `kept`, at storage level j.  What is found comes from the arena, which must
 * live as long as the shelf. */
const struct nest_tiles *nest_shelf_find(
	struct nest_shelf *shelf, struct arena *arena, int j, uint32_t kept);

/* For a dimension's extent. */
const struct divisors *nest_shelf_divisors(const struct nest_shelf *shelf, int dimension);

/* The place of the largest divisor that is no larger than that at `place` and divides that at
 * `whole`. */
int nest_shelf_part(const struct nest_shelf *shelf, int dimension, int place, int whole);

/*
 * Lower bounds of plain dataspaces, given the levels that keep them and the spatial
 * loops: tiles must fit where they are kept, and small tiles are fetched often.
 *
 * Let tiles of level j leave n_d temporal iterations of dimension d outside, and let c be the dimension of the
 * innermost loop there that has a bound above 1.  A dataspace that c is relevant to is fetched again by every loop
 * outside that is irrelevant to it: X = W x the product of their n_d.  Any other crosses once at least.  Both fall
 * as tiles grow, and every tile that fits lies within one of the largest.  So the least over c and those is a bound
 * of what enters level j, meter by meter; levels are added up.
 *
 * Sums that sag are apart: what they cost at one level depends on those further inwards.
 */
struct nest_floors;

/* For the spatial loops of a view, which must live as long; of plain dataspaces only. */
struct nest_floors *nest_floors_open(struct arena *arena, const struct level_factors *options,
	struct nest_shelf *shelf, const struct nest_view *view);

/* Adds what all dataspaces cost with the residency that the view has now.  Tiles come from the
 * arena.  False if some level cannot hold what it keeps. */
bool nest_floors_add(struct nest_floors *floors, struct arena *tiles, struct nest_sums *sums);

/*
 * The outer branches of the exact search: the levels that keep each dataspace, and all spatial bounds.
 *
 * Spatial bounds are listed at once, those of the least bound first, whatever is kept.
 * Given these, dataspaces depend on each other only by room, so
 * residencies are made only of those that no known mapping excludes.
 * Plain dataspaces are bounded by the room that they need, too.
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
