#ifndef PLACE_PACK_FILLING_H
#define PLACE_PACK_FILLING_H

#include "solvers/place/pack/room.h"

/*
 * The same room with fillings: items that nobody asked for, so that every section is full.  A room
 * that was cut into items, some of which were lost, is full again with those: what a section has
 * to spare rises by the size of a lost item where its life began, and falls by it where it ended.
 * A packing with fillings is one without; the reverse need not hold.  Where nothing is wasted the
 * search has far fewer choices.
 */
struct filled {
	const struct room *room; /* NULL: nothing is to be filled, or too much meets */
	bool is_likely;          /* each filling ended where just its size was given back */
};
struct filled pack_filling(const struct room *room, struct arena *arena);

#endif
