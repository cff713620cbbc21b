#ifndef PLACE_PACK_SEARCH_H
#define PLACE_PACK_SEARCH_H

#include "search/drive/solver.h"
#include "solvers/place/pack/pack.h"
#include "solvers/place/pack/room.h"

/*
 * Places the items of one room, or finds that they cannot be placed.
 *
 * It branches on one section: which item stands next on its floor, or none?  A niche is a run of
 * sections whose floors are level and whose neighbours' are higher; an item that may stand on a
 * niche's floor lies wholly in it.  The next section of all niches is the one with the fewest choices
 * and the most failures so far.  Without loss, items lie as low as those below let
 * them.
 */
struct pack_search;

struct pack_search *pack_search_open(const struct room *room, struct arena *arena);

/*
 * Goes on, from a new start, until this many failures (0: to the end); nodes are charged to the run
 * and counted.  What it learned is kept from one call to the next.  The order says which items
 * are tried first, the seed how strictly, and what is drawn; before all others, if it returns, one
 * that was placed last where it is to stand now.
 */
enum pack_order {
	PACK_LONGEST,
	PACK_LARGEST,
	PACK_HIGHEST,
	PACK_LONG_AND_LARGE,
	PACK_DRAWN, /* by a power of the width, and a smaller one of the size */
};
enum verdict pack_search_run(struct pack_search *search, struct run *run, uint64_t failures,
	uint64_t nodes, uint64_t seed, enum pack_order order, bool returns);

/* All sections weigh the same again. */
void pack_search_forget(struct pack_search *search);

uint64_t pack_search_nodes(const struct pack_search *search);

/* After VERDICT_YES: of item i, in units. */
int64_t pack_search_address(const struct pack_search *search, int item);

/* Where it failed most: the section with the greatest weight. */
int pack_search_hardest(const struct pack_search *search);

#endif
