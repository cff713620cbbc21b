#ifndef MAP_EXACT_DESCENT_H
#define MAP_EXACT_DESCENT_H

#include "search/drive/solver.h"
#include "search/nest/nest_search.h"
#include "solvers/map/exact/frame.h"
#include "solvers/map/exact/label.h"

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
