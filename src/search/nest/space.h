#ifndef SEARCH_NEST_SPACE_H
#define SEARCH_NEST_SPACE_H

#include "model/machine/mapping.h"
#include "model/nest/constraint.h"
#include "search/nest/factors.h"

/*
 * All mappings of a domain, as numbers.  A mapping is four choices:
 *
 *	factors    a bound for every loop of every dimension (search/nest/factors.h);
 *	orders     of the loops of every tiling level;
 *	splits     of the loops of every fan-out over X and Y;
 *	residency  the levels that keep each dataspace, if the domain leaves it free.
 *
 * Fan-out, capacity and utilization are not checked here: a mapping of the
 * space may fail when it is evaluated.
 *
 * Exhaustively, every mapping once:
 *
 *	for (uint64_t f = 0; f < space_factors_count(space); f++) {
 *		space_factors(space, f, &mapping);
 *		(no rest will help factors that exceed a fan-out)
 *		for (uint64_t r = 0; r < space_rest_count(space, &mapping); r++) {
 *			space_rest(space, r, &mapping);
 *			evaluate(&mapping);
 *		}
 *	}
 *
 * Residency changes fastest: of space_residency_count successive numbers only the residency
 * differs.  At random: space_draw.  Dimension by dimension, as branch and bound does:
 * space->factors[d] has the bounds of dimension d at space->levels, in their order;
 * space_set_factors puts them into a mapping.
 *
 * Given the factors, loops of bound 1 have no place in an order, and a fan-out along one axis has one split, the one
 * with most loops along it.  Orders that no count depends on have one form: temporal loops of the innermost storage,
 * and loops of a fan-out along one axis, unless neighbours may pass words on or networks cost energy.  So the
 * mappings are fewer than `space_sizes`, which counts as Timeloop does.
 *
 * A space is not changed by its use; threads share it.
 */
enum space_choice { CHOICE_FACTORS, CHOICE_ORDERS, CHOICE_SPLITS, CHOICE_RESIDENCY, CHOICE_COUNT };
extern const char *const space_choice_names[]; /* "factors", "orders", "splits", "residency" */

/* One row of loops: temporal ones of a storage or dummy level, or spatial ones of a fan-out. */
struct tiling_level {
	int row;   /* of the mapping */
	int level; /* of the hierarchy: it has these loops, or the block below it has */
	bool spatial;
};

struct space {
	const struct domain *domain;
	int level_count;
	struct tiling_level levels[FACTORS_LOOPS_MOST];       /* innermost first */
	const struct factors *factors[SHAPE_DIMENSIONS_MOST]; /* loops as in `levels` */
	struct mapping blank; /* factors 1, orders 0, 1, 2, ..., what the domain says is kept */
	int free_count;       /* residency: one bit each */
	struct {
		uint8_t row, space;
	} free[ARCH_LEVELS_MOST * SHAPE_SPACES_MOST];
};

const struct space *space_make(struct arena *arena, const struct domain *domain);

/* For a question or two: nothing is listed ahead.  With factorizations from a store, which must
 * live as long (NULL: none).  NULL if the store's stopper says so. */
const struct space *space_make_from(
	struct factors_store *store, struct arena *arena, const struct domain *domain);

/* The same space as space_make would make it. */
const struct space *space_listed(struct arena *arena, const struct space *space);

/*
 * Number of values of each choice, in decimal digits.  Counted as Timeloop counts its mapspace: factors, the
 * product over dimensions; orders, (dimensions that no permutation places)! for every tiling level, for all bounds
 * (InitLoopPermutationSpace of its mapspaces/uber.cpp), where the temporal loops of the innermost tiling level and
 * a fan-out along one axis without a permutation have one order; splits, dimensions + 1 for every fan-out whose
 * split is not given; residency, 2 for each free bit.
 */
struct space_sizes {
	const char *dimensions[SHAPE_DIMENSIONS_MOST]; /* factorizations of each */
	const char *choices[CHOICE_COUNT];
	const char *all; /* their product */
};
struct space_sizes space_sizes(const struct space *space, struct arena *arena);

/* Choices of factors; UINT64_MAX: that many or more. */
uint64_t space_factors_count(const struct space *space);

/* Mapping number `index` of them, all else as in space->blank. */
void space_factors(const struct space *space, uint64_t index, struct mapping *out);

/* Bounds of one dimension, one for each tiling level. */
void space_set_factors(
	const struct space *space, int dimension, const int64_t *bounds, struct mapping *mapping);

/* Distinct choices of all else for a mapping with factors; UINT64_MAX: that many or more. */
uint64_t space_rest_count(const struct space *space, const struct mapping *mapping);
uint64_t space_residency_count(const struct space *space);

/* Gives a mapping with factors number `index` of the rest; or any, each equally likely. */
void space_rest(const struct space *space, uint64_t index, struct mapping *mapping);
void space_draw_rest(const struct space *space, struct random *random, struct mapping *mapping);

/* Factors, each choice equally likely; then all else, each equally likely given the factors.
 * There must be factors at all: every factors_count above 0. */
void space_draw(const struct space *space, struct random *random, struct mapping *out);

/* The same of one tiling level alone: its distinct orders and splits, order slowest; one of them. */
uint64_t space_level_count(
	const struct space *space, const struct tiling_level *level, const struct mapping *mapping);
void space_level_arrange(const struct space *space, const struct tiling_level *level,
	uint64_t index, struct mapping *mapping);

/* Gives a fan-out an order and split in which of its loops with bounds above 1 just these run
 * along X; false if the domain has none. */
bool space_set_axes(const struct space *space, const struct tiling_level *level, uint32_t along_x,
	struct mapping *mapping);

/* Gives a tiling level the order, and a fan-out the split, of the space that come nearest to these:
 * all loops innermost first, those along X. */
void space_level_follow(const struct space *space, const struct tiling_level *level,
	const uint8_t *order, uint32_t along_x, struct mapping *mapping);

/* Gives the temporal loops an order that the domain allows. */
void space_set_orders(const struct space *space, struct mapping *mapping);

/*
 * The factorizations of one dimension that matter to what fits.  A mapping fits
 * by the extents of its tiles at limited levels and by its spatial bounds; what
 * else the bounds are does not matter, and of two factorizations that differ
 * only by one being larger there, the smaller one is enough (unless something
 * must be filled: then values count exactly).
 */
enum watch {
	WATCH_NOT,
	WATCH_LEAST, /* less is never worse */
	WATCH_EXACT,
};

/* Per tiling level of the space: its spatial bound, or the extent of the tile with its temporal
 * loops inside; 0 if it is not watched. */
struct dimension_tiling {
	const int64_t *values, *bounds;
};

struct tilings {
	size_t count;
	struct dimension_tiling *at; /* smaller ones first */
	bool complete;               /* false: work ran out before all were found */
};

/* Work that may still be done: one for each choice tried.  None any more if the stopper says so. */
struct tilings_work {
	uint64_t done, most;
	struct stop_poll poll;
};
bool work_is_out(struct tilings_work *work);

struct tilings_question {
	const struct space *space;
	int dimension;
	const enum watch *watches; /* by tiling level */

	/* True if a value leaves room for the other dimensions. */
	bool (*room)(void *context, int dimension, int tiling_level, int64_t value);
	void *context;
};
struct tilings tilings_find(
	const struct tilings_question *question, struct tilings_work *work, struct arena *arena);

#endif
