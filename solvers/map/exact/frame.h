#ifndef EXACT_FRAME_H
#define EXACT_FRAME_H

#include "search/drive/solver.h"
#include "search/nest/feasible.h"
#include "search/nest/nest_search.h"

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

#endif
