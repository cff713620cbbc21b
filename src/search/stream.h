#ifndef SEARCH_STREAM_H
#define SEARCH_STREAM_H

#include "model/plan.h"

/*
 * Chooses the streaming tiles of every step, once it is known what is resident
 * in LX: fewest HBM bytes whose tile buffers fit the reserve, ties by fewest
 * tiles, then by the least factor vector and order.  Every loop's factor divides its
 * units on one core; reduction loops stay innermost.  Clones into LX and
 * operands in LX need no buffer.  False, and *why, when a step has no tile
 * that fits.
 */
struct arena;
bool stream_plan(struct plan *plan, struct arena *arena, const char **why);

#endif
