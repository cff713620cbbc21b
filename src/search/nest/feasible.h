#ifndef SEARCH_FEASIBLE_H
#define SEARCH_FEASIBLE_H

#include "base/verdict.h"
#include "search/nest/tilings.h"

/*
 * Whether a domain has a mapping that fits at all: bounds that make up every
 * extent, no more instances than there are along X and Y, tiles of what must be
 * kept within every level's size, levels as full and multipliers as busy as is
 * asked, a home for every dataspace, loops over those that must have one.
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
