#ifndef PLACE_PACK_BOUNDARY_H
#define PLACE_PACK_BOUNDARY_H

#include "solvers/place/pack/state.h"

/*
 * A boundary in time lies between sections t - 1 and t.  Below the lowest item that crosses it there
 * are, on the left, only items that end there, and on the right only items that start there.  So that
 * item lies at a height that both sides can reach: their floors, and some of their items, and no
 * more unused bytes than the slack of the section.
 */
struct boundaries *boundaries_open(const struct room *room, struct arena *arena);

/* Raises what crosses boundary t.  False if no height is left for it. */
bool boundary_settle(struct state *state, int t);

#endif
