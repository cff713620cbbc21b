#ifndef MAP_EXACT_EXACT_H
#define MAP_EXACT_EXACT_H

#include "base/tuning.h"
#include "search/drive/solver.h"
#include "search/drive/wishes.h"
#include "search/nest/feasible.h"
#include "search/nest/nest_search.h"

/* The branch and bound over perfect factors.  A tick of the budget is a mapping evaluated. */
#define EXACT_OPTIONS(OPTION)                                                                        \
	OPTION(PARTS_MOST, 16, 1, 1024,                                                              \
		"parts of a round: more than a machine has threads, for any number of these")        \
	OPTION(PART_BRANCHES_MOST, 64, 1, 1 << 20,                                                   \
		"outer branches of a part: few enough that rounds end and share incumbents")         \
	OPTION(WARM_CHAINS, 16, 0, 1024, "chains of annealing before the proof begins, at most")     \
	OPTION(WARM_AGREED, 2, 1, 1024, "chains that agree on the best: it is mostly the optimum")   \
	OPTION(WARM_TICKS, 3000, 1, 1 << 30, "mappings that each chain looks at")                    \
	OPTION(WARM_PART, 8, 1, 1024, "all chains get one part of the budget in this many")          \
	OPTION(WARM_FACTORS, 1000000, 0, 1 << 30,                                                    \
		"choices of factors below which a proof is quicker without chains")                  \
	OPTION(SPATIAL_MOST, 1000000, 1, 1 << 30, "spatial bounds that are listed: memory")          \
	OPTION(FREE_MOST, 12, 1, 24, "levels free to keep one dataspace: 2^12 places are listed")    \
	OPTION(FREE_ALL_MOST, 20, 1, 60,                                                             \
		"levels free to keep any: with more of them nothing is proven, and few are looked "  \
		"at")                                                                                \
	OPTION(PLACES_TICKS, 16, 1, 1 << 20,                                                         \
		"what it is worth to find the places of all dataspaces")                             \
	OPTION(WEIGHED_PER_TICK, 1024, 1, 1 << 20, "residencies weighed for a tick of the budget")   \
	OPTION(EDGES_PER_TICK, 16, 1, 1 << 20,                                                       \
		"bounds made for a tick: about as long as a mapping")                                \
	OPTION(ARRANGEMENTS_COUNTED_MOST, 16, 1, 1 << 20,                                            \
		"arrangements under which the model counts the levels outside, else a bound serves") \
	OPTION(FELT_PER_TICK, 16, 1, 1 << 20,                                                        \
		"classes of orders compared with another for a tick")                                \
	OPTION(TILES_TRIED_MOST, 100000, 1, 1 << 30,                                                 \
		"tiles tried for one set of dataspaces; with more, the largest are not known")       \
	OPTION(TURNING_MOST, 10, 1, 24,                                                              \
		"spatial loops of blocks with two axes of a systolic array, all arrangements tried")

OPTIONS(EXACT_OPTIONS)

/*
 * The facts of a problem that hold for all choices of the exact search: the
 * machine's storage levels, how dataspaces depend on dimensions, and the meters.  Storage
 * levels are numbered from 0, the innermost; boundary j lies above level j.
 */
struct nest_space {
	bool plain;  /* ranks of one dimension each, coefficient 1, no dimension twice */
	bool simple; /* no dimension is in two ranks */
	bool dense;  /* all coefficients are 1 */
	bool silent; /* nothing is known of what it moves: it counts as free */
	uint32_t relevant;
	uint32_t alone;  /* dimensions that move a rank of their own: tiles along them are
			  * disjoint */
	uint32_t paired; /* dimensions of ranks that add some: windows slide along them */
	uint32_t own[SHAPE_RANKS_MOST];        /* the rank's dimensions that no earlier rank has */
	bool splits;                           /* spatial no_reuse somewhere, and prices know it */
	int8_t rank_of[SHAPE_DIMENSIONS_MOST]; /* a rank that has the dimension; -1 */
};

/*
 * Meters measure the cost of a mapping, each a weighted sum of the words that levels read, fill and update: meter 0
 * is energy, then comes what the objectives name, then ports, in cycles.  Ports beyond METERS_MOST are not
 * measured; bounds stay valid.
 */
typedef double nest_lanes __attribute__((vector_size(32)));

enum { METER_LANES = 4, METER_GROUPS_MOST = 6, METERS_MOST = METER_LANES * METER_GROUPS_MOST };

struct nest_meter {
	int j;            /* storage level; -1: all of them, by their prices */
	unsigned actions; /* bit a: enum nest_action */
	struct ratio rate;
	double weight; /* of a word */
};

struct nest_sums {
	nest_lanes at[METER_GROUPS_MOST];
};

struct nest_frame {
	const struct nest_search *search;
	bool timeloop;
	/* Networks cost energy by the way that words go, in Timeloop's counting: orders and axes are
	 * searched for it, but not all that may matter are known to be, so nothing is proven. */
	bool ways;
	bool uneven; /* some factors need not divide */
	/* Some flag changes who serves whom: in exact counting with perfect factors prices know it;
	 * elsewhere they are blind to it, and windows bound no cost. */
	bool flagged, blind;
	double macs;                  /* all of them */
	int count;                    /* storage levels */
	int level[ARCH_LEVELS_MOST];  /* of the hierarchy */
	int tiling[ARCH_LEVELS_MOST]; /* of the space: its temporal loops */
	uint32_t loose;               /* levels whose temporal loops may be any */
	struct nest_space spaces[SHAPE_SPACES_MOST];
	bool plain;     /* all dataspaces are, none is silent */
	int port_first; /* ports are the meters from here on */
	int port_of[ARCH_LEVELS_MOST +
		    1]; /* those of storage level j: port_of[j] .. port_of[j + 1] - 1 */
	int meter_count;
	int group_count;
	struct nest_meter meters[METERS_MOST];
	int objective_meter[OBJECTIVE_COUNT]; /* 0: none of its own */
};

struct nest_frame nest_frame_make(const struct nest_search *search);

/* Words of a dataspace's tile of these extents, by dimension. */
double nest_frame_words(const struct nest_frame *frame, int space, const double *extents);

/* Makes each meter no larger than another sum's. */
static inline void nest_sums_lower(
	const struct nest_frame *frame, struct nest_sums *to, const struct nest_sums *other)
{
	for (int g = 0; g < frame->group_count; g++)
		for (int i = 0; i < METER_LANES; i++)
			to->at[g][i] =
				other->at[g][i] < to->at[g][i] ? other->at[g][i] : to->at[g][i];
}

/* Adds price x factor, meter by meter. */
static inline void nest_sums_add(const struct nest_frame *frame, struct nest_sums *to,
	const struct nest_sums *price, double factor)
{
	nest_lanes by = {factor, factor, factor, factor};
	for (int g = 0; g < frame->group_count; g++)
		to->at[g] += price->at[g] * by;
}

static inline double nest_meter(const struct nest_sums *sums, int meter)
{
	return sums->at[meter / METER_LANES][meter % METER_LANES];
}

/*
 * Temporal bounds that a level may have, dimension by dimension, given what all levels up
 * to it must make together: those of the domain that divide it and leave something that
 * the levels inside can make.  What is left is named by its place among the divisors of
 * the extent.
 */
struct level_factor {
	int64_t bound;
	int64_t rest; /* for the levels inside */
	int at;       /* its place among the divisors */
};

struct level_factor_list {
	int count;
	const struct level_factor *at; /* bounds ascending */
};

struct level_factors {
	const struct completions *completions;
	const struct level_factor_list *lists[ARCH_LEVELS_MOST][SHAPE_DIMENSIONS_MOST];
};

struct level_factors *level_factors_make(struct arena *arena, const struct nest_frame *frame);

/* The place of a divisor. */
int level_factors_place(const struct level_factors *options, int dimension, int64_t divisor);

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

/*
 * Another solver of mappings is asked, for `ticks` at most, as chain number `chain` of
 * `chains` where it works in chains.  What it does counts as done by `run`; its answer lives in the
 * arena, and nothing of it is offered yet.
 */
struct answer nest_ask(struct run *run, const char *solver, const struct nest_search *search,
	uint64_t chain, uint64_t chains, uint64_t ticks, struct arena *arena);

/*
 * An outer branch, compiled: residency and spatial bounds are chosen, and this is what the
 * temporal loops, still to be chosen, will cost.
 *
 * A dataspace crosses from a level that keeps it to the next one inwards.  In a plain dataspace W temporal tiles x
 * the loops that fetch them again, X, cross; every meter is linear in the X of all crossings, so that a crossing
 * has a price for X = 1.  In any other, a window, the price is that of a word that enters one instance.
 *
 * Prices of reads at the parent count what children share once.  If neighbours may pass words on
 * (links), a window has two prices, the one without links being the higher.  A level that keeps
 * nothing from one iteration to the next (temporal no_reuse) is entered at each iteration outside.
 *
 * If factors need not divide (frame->uneven), nothing is linear: crossings have no prices
 * (uneven/uneven.h counts them), and cycles and utilized instances are the least there can be.
 */
struct nest_rest {
	struct nest_sums all;
	/* Sums that are added up in space: X of crossings further inwards may be any from this
	 * one's to the cycles; the least that `all` may lose for each more. */
	struct nest_sums sag;
};

struct nest_crossing {
	int level;              /* the child; -1: the multipliers */
	bool resets;            /* and keeps nothing */
	struct nest_sums price; /* least, if there may be links */
	/* Plain: of this crossing and those further inwards, [1]: those that reset. */
	struct nest_rest rest[2];
	struct nest_sums apart; /* window: without links */
	/* Window: what rounded averages may lose where there are links, or where groups of children
	 * differ in size. */
	struct nest_sums rounding;
	bool uneven;
	double inside[SHAPE_DIMENSIONS_MOST]; /* window: spatial loops inside the child */
	double size; /* window, exact counting: words that an instance may hold */
	bool united; /* the parent reads the union of its children's words: */
	struct nest_sums parent_price;
	double parent_inside[SHAPE_DIMENSIONS_MOST], parent_many;
};

struct nest_chain {
	int count;
	int kept[ARCH_LEVELS_MOST]; /* levels that keep it, outermost first */
	uint32_t passing; /* and those, not among them, that count what passes (no_coalesce) */
	int crossing_count;
	struct nest_crossing crossings[ARCH_LEVELS_MOST];
	int next[ARCH_LEVELS_MOST + 1]; /* [j + 1]: the first crossing at boundary j or inside */
	double words;                   /* plain: product of the relevant temporal bounds */
	bool sags, resets;              /* some crossing does */
	/* Exact counting: what the home holds, under all temporal loops; 0: its tile at least,
	 * of windows.  `apart`: sums would end in several instances of it. */
	double home_words;
	bool apart;
	int held_at;           /* PEs of an array hold it there, and it comes from outside; -1 */
	double rate;           /* not held by PEs: cycles of a step, at least */
	double load_cycles;    /* of a tile of one temporal iteration (skew.h) */
	struct nest_sums base; /* what does not depend on temporal loops */
};

struct nest_view {
	const struct nest_frame *frame;
	struct mapping mapping;                  /* residency and spatial bounds set */
	int64_t temporal[SHAPE_DIMENSIONS_MOST]; /* iterations of its temporal loops together */
	double cycles;                           /* of compute */
	double network_cycles;
	double skew_cycles; /* of a systolic array, in a pass, at least */
	double multipliers;
	double leak_pj;                            /* in a cycle */
	double instances[ARCH_LEVELS_MOST];        /* by storage level, as spatial bounds say */
	double utilized[ARCH_LEVELS_MOST];         /* that have work, by level of the hierarchy */
	double pj[ARCH_LEVELS_MOST][NEST_ACTIONS]; /* per word */
	bool direct;                               /* multipliers keep nothing from step to step */
	/* Spatial loops inside a storage level, and words that they span; [count]: all loops. */
	double inside[ARCH_LEVELS_MOST + 1][SHAPE_DIMENSIONS_MOST];
	double spread[ARCH_LEVELS_MOST][SHAPE_SPACES_MOST];
	struct nest_sums base; /* of all chains, and the MACs */
	struct nest_chain chains[SHAPE_SPACES_MOST];

	/*
	 * Uneven factors only.  Among the spatial loops between storage level j - 1 and j (`count`: those
	 * around them all) the outermost one with a bound above 1, and the product of those inside
	 * it; 1 without one.  And the largest bound of a spatial loop outside level j: that many
	 * instances have work.
	 */
	int64_t edge[ARCH_LEVELS_MOST + 1][SHAPE_DIMENSIONS_MOST];
	int64_t within_edge[ARCH_LEVELS_MOST + 1][SHAPE_DIMENSIONS_MOST];
	double apart[ARCH_LEVELS_MOST + 1][SHAPE_DIMENSIONS_MOST];
};

/* For a mapping whose residency and spatial bounds are set. */
void nest_view_make(
	const struct nest_frame *frame, const struct mapping *mapping, struct nest_view *out);

/* The same in two steps: the spatial bounds, then what keeps a dataspace. */
void nest_view_spread(
	const struct nest_frame *frame, const struct mapping *mapping, struct nest_view *out);
void nest_view_keep(struct nest_view *view, int space, uint32_t residency);

/* The bound of a dimension's loop in the block below a level of the hierarchy. */
static inline uint32_t nest_spatial_bound(const struct nest_view *view, int level, int dimension)
{
	int row = view->frame->search->hierarchy->levels[level].block_row;
	return view->mapping.rows[row].spatial[dimension];
}

/* The levels between a parent and its child (-1: the multipliers) that count what passes. */
static inline uint32_t nest_view_passed(const struct nest_chain *chain, int parent, int child)
{
	return chain->passing & ((1u << parent) - 1) & ~((1u << (child + 1)) - 1);
}

/* Words of one action of a dataspace at storage level j, all instances together. */
void nest_view_add(const struct nest_view *view, int space, int j, enum nest_action action,
	double words, struct nest_sums *sums);

/* The time of the rows, at least, of words that a level reads for one inside; child -1: the multipliers, whose words
 * are not in rows.  Exactly, and with perfect factors, a row is as long as a tile of the child, and no longer than
 * the dataspace. */
void nest_view_add_rows(const struct nest_view *view, int space, int j, int child, double words,
	struct nest_sums *sums);

/* True if the tiles of what a level keeps fit, with `left` temporal iterations inside the
 * boundary above it; homes with all that they hold, unless factors are uneven. */
bool nest_view_fits(const struct nest_view *view, int j, const int64_t *left);

/* True if every dataspace has a home, no sums end apart there, and the least tiles fit. */
bool nest_view_least_fits(const struct nest_view *view);

/* True if some block between two storage levels that keep a window has children along two-term
 * ranks of it, who may hand on words to each other. */
bool nest_view_may_hand_on(const struct nest_view *view, int space);

/* A lower bound of the cost: all meters, and the values that follow. */
struct nest_cost {
	struct nest_sums sums;
	double array_cycles; /* that a systolic array takes longer; set before the rest */
	double cycles, energy_pj;
};

/* Cycles and energy of the sums. */
void nest_cost_finish(const struct nest_view *view, struct nest_cost *cost);

/* The value of an objective. */
double nest_cost_value(
	const struct nest_view *view, const struct nest_cost *cost, enum objective objective);

/*
 * The cut that the known mappings make: it excludes all costs that are at least those of one of them in every
 * objective.  With a slack above 1 it also excludes costs that are less by no more than that factor.
 */
struct nest_cut {
	const struct objectives *objectives;
	double slack;
	size_t count;
	double *values;  /* of point i, objective k: [i * objectives->count + k] */
	double excluded; /* the least value of one objective that the slack alone excluded */
};

struct nest_cut nest_cut_make(struct arena *arena, const struct frontier *kept,
	const struct objectives *objectives, double slack);

bool nest_cut_excludes_values(struct nest_cut *cut, const double *values);
bool nest_cut_excludes(
	struct nest_cut *cut, const struct nest_view *view, const struct nest_cost *cost);

/*
 * A label: the known cost of a mapping once the temporal loops
 * outside one boundary are chosen, and a lower bound on the rest.
 *
 * Plain dataspaces.  A tile is fetched again by every loop outside it but those that are irrelevant and inside the
 * innermost relevant one: X = W x `reload`.  Loops further inwards only add to that, so that X bounds what crosses
 * every boundary inside.
 *
 * Windows (of ranks that add dimensions).  Between two moves of any other rank, `times` of
 * them, the loops of the innermost moving rank, its run, slide the window; every word under it
 * crosses at least once: prod over ranks (1 + sum (X - 1)) words, X the distinct indices
 * of a dimension, which holds for strided gaps too.  Loops of that rank outside of an irrelevant
 * loop may bring nothing in Timeloop's counting, and count as one.  Exactly, an instance
 * keeps from one run to the next what it holds, no more than its size and than a tile.  There, and where
 * a dimension is in two ranks, another bound is that tiles are disjoint along loops over dimensions that
 * have a rank to themselves: between two iterations of the innermost of these, `lone_times` of them, the
 * union counts.
 */
struct window_slide {
	double times, pending;             /* pending: irrelevant loops inside the run */
	int rank;                          /* of the run; -1: none */
	double run[SHAPE_DIMENSIONS_MOST]; /* its loops; 1 elsewhere */
	double lone_times;
	double since[SHAPE_DIMENSIONS_MOST];
};

struct nest_label {
	int boundary;   /* above this storage level; the outermost at the start */
	bool linked;    /* neighbours may hand on words of windows, further outside or here */
	int innermost;  /* dimension of the innermost loop outside; -1: there is none */
	double outside; /* product of all temporal bounds outside */
	double irrelevant[SHAPE_SPACES_MOST]; /* of the irrelevant ones */
	double reload[SHAPE_SPACES_MOST];     /* and of these, outside a relevant one */
	double passes,
		load_cycles; /* of a systolic array, as far as what its PEs hold has crossed */
	struct window_slide slides[SHAPE_SPACES_MOST];
	struct nest_sums passed; /* crossings of plain dataspaces outside */
	/* Crossings of windows outside and at the boundary, as the model counts them. */
	struct nest_sums counted[SHAPE_SPACES_MOST];
};

/* Loops of one level, with bounds above 1. */
struct nest_order {
	int count;
	uint8_t at[SHAPE_DIMENSIONS_MOST]; /* innermost first; in a loose order, any */
	bool loose;                        /* the best order for each dataspace alone */
	bool rough; /* bounds may still grow, and what is left shrink: none of that costs less */
};

struct nest_label nest_label_first(const struct nest_view *view);

/* At least what it costs to choose `bounds`, in this order, for the next level, with `left`
 * temporal iterations inside: all by dimension. */
void nest_label_weigh(const struct nest_view *view, const struct nest_label *from,
	const struct nest_order *order, const int64_t *bounds, const int64_t *left,
	struct nest_cost *out);

/* The label of that choice; the order must not be loose.  `linked` and `counted` stay as they
 * were. */
void nest_label_enter(const struct nest_view *view, const struct nest_label *from,
	const struct nest_order *order, const int64_t *bounds, struct nest_label *out);

/* Puts bounds of windows that cross the boundary where no count is to be had; `linked` must be
 * known. */
void nest_label_estimate(
	const struct nest_view *view, int space, const int64_t *left, struct nest_label *label);

/* No mapping with these choices costs less. */
void nest_label_bound(const struct nest_view *view, const struct nest_label *label,
	const int64_t *left, struct nest_cost *out);

/* Adds the lower bound of one dataspace to *sums, nothing chosen. */
void nest_label_start(const struct nest_view *view, int space, struct nest_sums *sums);

/*
 * True if the arrangement of spatial loops can make a difference for a window, because children there may take
 * words from neighbours.  All temporal loops outside the label's boundary are in the mapping.
 *
 * In Timeloop's counting only those of the block next to the child do, and only under one condition: a
 * move tau (cost/nest/nest_timeloop.c has them) leads from one child's place to another's, and brings as
 * many words as the move before it, which the innermost loop made, or came after.
 * In `exact` counting, or if a dimension is in two ranks, it is enough that the innermost loop slides the
 * window.
 */
bool nest_links_possible(const struct nest_view *view, const struct mapping *mapping,
	const struct nest_label *label, const int64_t *left, int space);

/* The same if the children are multipliers, which pass on every operand in Timeloop's
 * counting: true if blocks further outwards than the one next to them matter, for all loops. */
bool nest_links_around_multipliers(const struct nest_view *view, int space);

/*
 * Cycles that a systolic array adds at least (cost/nest/nest_home.h): the least skew of all arrangements of its
 * spatial loops for every pass, the rate at which dataspaces come that PEs do not hold, and the loads of those that
 * they do.  There are as many passes as any of their tiles moves; X as in label.h counts the words, and only grows
 * inwards.
 */

/* The least skew of a mapping's spatial bounds; and different tiles of a dataspace along an axis at
 * least: in blocks with that axis alone, rank by rank as many as a sum of sets has,
 * |A + B| >= |A| + |B| - 1. */
double nest_skew_least(const struct nest_frame *frame, const struct mapping *mapping);
double nest_skew_tiles(
	const struct nest_frame *frame, const struct mapping *mapping, int space, bool y);

/* For what keeps one dataspace in a view. */
void nest_skew_keep(struct nest_view *view, int space);

/* True if a larger tile at a storage level may take longer, though it moves less often. */
bool nest_skew_minds(const struct nest_frame *frame, int j);

/* True if the axes along which a block's loops run can change the cycles. */
bool nest_skew_turns(const struct nest_frame *frame, const struct tiling_level *level);

/* With the loops outside the label's boundary, and those of one more level; NULL: of none. */
double nest_skew_bound(const struct nest_view *view, const struct nest_label *from,
	const struct nest_order *order, const int64_t *bounds);

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
struct tile_cache;
struct tile_cache *tile_cache_make(
	struct arena *arena, const struct nest_frame *frame, const struct level_factors *options);

/* For the dataspaces in `kept`, at storage level j.  What is found comes from the arena, which must
 * live as long as the cache. */
const struct nest_tiles *tile_cache_find(
	struct tile_cache *cache, struct arena *arena, int j, uint32_t kept);

/* For a dimension's extent. */
const struct divisors *tile_cache_divisors(const struct tile_cache *cache, int dimension);

/* The place of the largest divisor that is no larger than that at `place` and divides that at
 * `whole`. */
int tile_cache_part(const struct tile_cache *cache, int dimension, int place, int whole);

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
	struct tile_cache *cache, const struct nest_view *view);

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
	struct tile_cache *cache; /* NULL: there are windows */
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

/*
 * Orders of one level's temporal loops that can make a difference.  Only dataspaces that
 * cross a boundary further inwards feel an order:
 *
 *	plain    which loops are inside its innermost relevant one; more of them are never
 *	         worse, unless sums are written and counted in `exact`
 *	window   the sequence, but for neighbours that are all irrelevant, up to the innermost loop that
 *	         moves tiles to disjoint places: all loops outside that fetch whole
 *	         tiles.  In Timeloop's counting every loop outside of two moving ranks does, too;
 *	         if neighbours may pass words on, the sequence does not end
 *there, unless the innermost loop does not slide the window
 *
 * Under flags every order is a class.
 */
struct order_class {
	uint64_t index; /* of the space's arrangements of that level */
	struct nest_order order;
};

struct order_classes {
	size_t count;
	struct order_class *at;
};

/* The classes for one residency; they are found when first asked for, by any thread. */
struct order_book;

/* Books in the arena; one that serves a choice, made unless there is one. */
struct order_books;
struct order_books *order_books_make(struct arena *arena);
struct order_book *order_books_find(struct order_books *books, const struct nest_view *view);

/* For loops of level j, just those in `busy` with bounds above 1 in the mapping.  What is found
 * comes from run_arena, which must live as long as the book.  NULL if the run is to stop. */
const struct order_classes *order_book_find(struct order_book *book, struct run *run, int j,
	uint32_t busy, const struct mapping *mapping);

/*
 * Everything that is left once residency and spatial bounds are chosen: from the outermost
 * storage level inwards, a level's temporal bounds and the class of their order at a time.
 *
 * At a level, first the set of loops with a bound above 1 is chosen, then the class, then the
 * bounds, one dimension after the other; each step has a bound of all that may
 * follow (label.h), in which what is not chosen yet is as small as it can be.  What none of the
 * mappings found excludes goes on, the most promising first; what arrives at the
 * innermost level is evaluated, under every arrangement of the spatial loops that can
 * make a difference.
 *
 * If all dataspaces are plain, no tile is left smaller than it might be.  Let the innermost
 * loop of a level give a factor to the level inside, whose tiles still fit then.  All loops
 * stay in their sequence, so nothing changes further inwards; what crosses the boundary between
 * comes in larger tiles and is fetched by fewer loops, X no larger.  If the level inside has a loop
 * over that dimension, the two become one at the place of the inner one: every dataspace has
 * as much or more of its irrelevant loops inside its innermost relevant one.  Unless sums
 * sag (view.h) smaller X cost no more, so that the larger tile is as good.  The same
 * holds for another loop of the level if as the innermost one it would close no more of
 * what crosses further inwards.  Both levels must be free to have any loops in any order.
 *
 * If windows cross a boundary, the model itself counts the levels outside: those
 * counts do not depend on the loops inside.
 */
struct nest_descent {
	struct run *run;
	struct arena *scratch;
	const struct level_factors *options;
	struct order_book *book;
	struct nest_offers offers;
	struct nest_view view;
	double slack;
	uint64_t edges, labels; /* bounds made; labels kept to go on from */
	bool stopped;
	double open; /* stopped: nothing left undone is below, of the first objective */

	/* its own */
	struct nest_cut cut;
	struct mapping mapping;
	uint32_t packs; /* storage levels that leave to the level inside what it has room for */
	uint64_t arranged[2]; /* tiling levels whose arrangement matters: always, with links */
};

/* Searches the choice that descent->view has; nothing in it is below `bound`. */
void nest_descend(struct nest_descent *descent, double bound);

#endif
