#ifndef PLACE_PACK_WALLS_H
#define PLACE_PACK_WALLS_H

#include "solvers/place/pack_state.h"

/*
 * A wall stands between sections t - 1 and t.  Below the lowest item that crosses it there are, on
 * the left, only items that end at the wall, and on the right only items that start at it.  So
 * that item lies at a height that both sides can reach: their floors, and some of their items, and
 * no more waste than the section has room for.
 */
struct walls *walls_open(const struct room *room, struct arena *arena);

/* Raises what crosses wall t.  False if no height is left for it. */
bool walls_settle(struct state *state, int t);

#endif
