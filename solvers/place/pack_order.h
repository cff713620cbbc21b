#ifndef PLACE_PACK_ORDER_H
#define PLACE_PACK_ORDER_H

#include "solvers/place/pack_room.h"

/*
 * The same room, but some items keep their order: of two that meet, the one that was below stays
 * below.  Their addresses may change.  Where most of a packing is known the search has only the
 * rest to decide.
 */

/* Addresses in units, by item; -1: free.  Those of two that meet must differ. */
struct room *pack_order(const struct room *room, const int64_t *addresses, struct arena *arena);

#endif
