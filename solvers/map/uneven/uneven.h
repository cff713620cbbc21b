#ifndef MAP_UNEVEN_UNEVEN_H
#define MAP_UNEVEN_UNEVEN_H

#include "base/tuning.h"
#include "search/drive/solver.h"
#include "search/nest/nest_search.h"
#include "solvers/map/exact/exact.h"

/* The branch and bound where factors need not divide.  A tick of the budget is a mapping evaluated. */
#define UNEVEN_OPTIONS(OPTION)                                                                     \
	OPTION(UNEVEN_SPATIAL_MOST, 500000, 1, 1 << 30, "spatial bounds that are listed: memory")  \
	OPTION(UNEVEN_FREE_MOST, 24, 1, 62, "free bits of residency: 2^24 are tried one by one")   \
	OPTION(BOUND_TICKS, 16, 1, 1 << 20,                                                        \
		"what it is worth to bound one list of spatial bounds")                            \
	OPTION(BOUNDS_PER_TICK, 4, 1, 1 << 20,                                                     \
		"bounds made for a tick: about as long as a mapping")                              \
	OPTION(NODES_MIB_MOST, 512, 1, 1 << 20, "MiB of open nodes; with more the search ends")    \
	OPTION(LOOK_AFTER, 50000, 1, 1 << 30,                                                      \
		"bounds before good mappings are looked for elsewhere: short proofs need none")    \
	OPTION(LOOK_AGAIN, 10, 2, 1000, "times as many bounds before they are looked for again")   \
	OPTION(LOOK_TIMES, 4, 1, 1000, "ticks for that, times those of the bounds made so far")    \
	OPTION(REPORT_AFTER, 1000, 1, 1 << 30, "bounds between two reports of the gap")            \
	OPTION(LOCAL_SHARE, 4, 2, 100, "one part of the ticks in this many is for local search")   \
	OPTION(LOCAL_TURNS, 3, 1, 100, "turns of it, each from the best so far")

OPTIONS(UNEVEN_OPTIONS)

/*
 * A part of the mappings of an outer branch whose factors need not divide: the temporal loops of
 * the levels above one are chosen, from the outermost storage level inwards.
 *
 * All loops inside the outermost one with a bound above 1 make up a product P, and that one
 * has ceil(extent / P) iterations.  So a part of a mapping is known by `rest`, the product of the
 * temporal loops inside a storage level: as long as no loop outside has a bound above 1 a
 * dimension is open, and any rest will do; afterwards rests divide one another.
 *
 * Which rests can a level leave?  All divisors of what is left to it; for an open dimension
 * what makes the extent up.  All of those that have the same number of rounds outside count:
 * the smallest is mostly the best, but a larger one leaves a shorter last round, in which a tile
 * may stay where it is.
 *
 * Storage levels are numbered from 0, the innermost; level `count` stands for what fans out
 * around them all.
 */
struct uneven_part {
	int level; /* those above are chosen, `level` as far as its rests lie between two */
	int64_t rest[ARCH_LEVELS_MOST + 1][SHAPE_DIMENSIONS_MOST];
	int64_t bound[ARCH_LEVELS_MOST + 1][SHAPE_DIMENSIONS_MOST];
	const uint8_t *order[ARCH_LEVELS_MOST + 1]; /* innermost first */
	uint32_t open[ARCH_LEVELS_MOST + 1];        /* dimensions without a loop down to here */
	int first; /* of `level`: the dimension of the innermost loop above 1; -1: no such loop */
	int64_t least[SHAPE_DIMENSIONS_MOST], most[SHAPE_DIMENSIONS_MOST];
};

/* True if no level above part->level has a loop of dimension d above 1, nor has what fans out
 * between. */
bool uneven_is_open(const struct nest_view *view, const struct uneven_part *part, int d);

/* The rest that leaves a level, and the spatial loops between it and the next one inwards, nothing
 * to do: of an open dimension it stands for all that do so. */
int64_t uneven_cover(const struct nest_view *view, int j, int d);

/* Moves *least up and *most down to rests that part->level can leave; false if there is none between
 * them.  `first` as in the part: -1 asks for bounds of 1, and a dimension's own number for more. */
bool uneven_clip(const struct nest_view *view, const struct uneven_part *part, int d, int first,
	int64_t *least, int64_t *most);

/* The bounds that part->least leaves to part->level, whose rests they become; what is open inside. */
void uneven_choose(const struct nest_view *view, struct uneven_part *part);

/*
 * No mapping with these choices costs less.  The words of a dataspace whose ranks have one
 * dimension each enter a level at least once for every round of the other dimensions outside its
 * innermost loop, a round being a share of the extent, not a whole number; but for the
 * last rounds of a dimension of its own: where one has a single iteration of the loop that moves the
 * tile, what it touches may stay.
 *
 * A systolic array adds cycles (cost/nest/nest_home.h), under all temporal loops: PEs hold
 * no more than fits, so that tiles of a dataspace move as often as all of its words need, and every
 * word is loaded once; what they do not hold comes at its rate.
 */
struct score uneven_bound(const struct nest_view *view, const struct uneven_part *part);

/* The same of the spatial bounds alone: each dataspace where it costs least, as far as the space
 * leaves that free. */
struct score uneven_bound_anywhere(struct nest_view *view);

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

/*
 * Good mappings to begin with.  The extents are padded to the next ones with small prime factors;
 * the search over perfect factors maps the padded problem, and its loops are cut back to the real
 * extents (map_moves_adopt), which adds no work.  Annealing goes on from the best mapping.
 * `ticks` is what all of it may cost; no mapping is below `bound`, of the first objective, which is
 * reported beside what is found.
 */
void uneven_padded(struct run *run, const struct nest_search *search, struct nest_offers *offers,
	uint64_t ticks, double bound);

/* The first extent from this one on without a prime factor above 7. */
int64_t uneven_padded_extent(int64_t extent);

/*
 * The exact search if some factors need not divide.  It branches on all that is not known to be worse, best bound
 * first: spatial bounds and residency, ranges of what a level's loops leave, halved until each is one value, the
 * orders of these loops, and so inwards.  It proves the optimum when nothing is left; cut short, it leaves the
 * least bound of what is.  It records no cells, because ranges that were halved as bounds allowed are not a
 * partition that a plain search could walk again.  So it leaves no certificate (certificate_covers), as `check
 * --certificate` reports.
 *
 * When that takes long it looks for good mappings in other ways now and then (uneven_padded).
 */
void uneven_run(struct run *run, const struct problem *problem);

#endif
