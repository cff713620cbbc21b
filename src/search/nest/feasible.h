#ifndef SEARCH_NEST_FEASIBLE_H
#define SEARCH_NEST_FEASIBLE_H

#include "base/number.h"
#include "base/stopper.h"
#include "search/nest/space.h"

/*
 * Which products the temporal bounds of the innermost storage levels can make, perfect
 * factors within the domain: what a walk from outside may leave to the levels inside.
 * Storage levels are numbered from 0, the innermost.
 */
struct completions {
	int count;                    /* storage levels */
	int tiling[ARCH_LEVELS_MOST]; /* of the space: the temporal loops of a storage level */
	int level[ARCH_LEVELS_MOST];  /* of the hierarchy */
	struct divisors divisors[SHAPE_DIMENSIONS_MOST];
	const bool *makes[SHAPE_DIMENSIONS_MOST]; /* [level * divisors + divisor] */
};

struct completions *completions_make(struct arena *arena, const struct space *space);

/* True if levels 0 .. j together can make `product` of dimension d, a divisor of its extent; with
 * j = -1, whether it is 1. */
bool completions_make_up(const struct completions *completions, int j, int d, int64_t product);

/*
 * The choices that remain when the bounds of a mapping are known: the
 * axes of its spatial loops and the dataspaces that its levels keep.
 * They are exact: if these functions return false, nothing fits.
 */

/* Gives every fan-out an order and a split that the domain allows and that both axes have room
 * for. */
bool fit_axes(const struct space *space, struct mapping *mapping);

/* Words of each dataspace at each level of the hierarchy that is not unlimited: of its tile, and
 * where that differs, `homes`, of all that it must hold as a home; -1: it can be none. */
struct fit_words {
	int64_t tile[ARCH_LEVELS_MOST][SHAPE_SPACES_MOST];
	bool homes;
	int64_t home[ARCH_LEVELS_MOST][SHAPE_SPACES_MOST];
};

/* True if some dataspace may have its home where exact counting asks for more than a tile: inside
 * a level with loops or a fan-out. */
bool fit_minds_homes(const struct domain *domain);

/* The homes of a mapping whose bounds are all set. */
void fit_homes(const struct domain *domain, const struct mapping *mapping, struct fit_words *out);

/* Gives every level a set of dataspaces, and every dataspace a level. */
bool fit_residency(
	const struct domain *domain, const struct fit_words *words, struct mapping *mapping);

/* Words of a tile with these extents; INT64_MAX if they are more. */
int64_t fit_words(const struct shape *shape, int space, const int64_t *extents);

/*
 * The answer if a domain has a mapping that fits: bounds that make up every extent, no more instances than exist
 * along X and Y, tiles of kept dataspaces within every level's size.  Constraints add levels and multipliers that
 * must be busy, a home for every dataspace, and loops over those that must have one.
 *
 * Exact: a search over the tilings of one dimension after the other, which turns
 * back as soon as the least values of the dimensions that are left exceed a
 * limit.  The work is counted; past `work_most` the answer is open.
 */
struct feasible {
	enum verdict verdict;
	struct mapping witness; /* of VERDICT_YES: one that fits */
	uint64_t work;
};

#define FEASIBLE_WORK_MOST UINT64_C(5000000)

struct feasible feasible_find(const struct domain *domain, uint64_t work_most);

/* The same for one of many similar questions; open if the store's stopper says so.  `any_extent`:
 * the bounds of these dimensions need not make up the extent; each is its least. */
struct feasible feasible_find_from(struct factors_store *store, const struct domain *domain,
	uint32_t any_extent, uint64_t work_most);

#endif
