#ifndef MAP_EXACT_ORDER_CLASSES_H
#define MAP_EXACT_ORDER_CLASSES_H

#include "search/drive/solver.h"
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
 *	         where neighbours may hand on words, that is no reason to stop, unless
 *	         the innermost loop does not slide the window
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

#endif
