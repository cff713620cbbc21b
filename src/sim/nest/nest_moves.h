#ifndef SIM_NEST_MOVES_H
#define SIM_NEST_MOVES_H

#include "sim/nest/nest_run.h"

/*
 * What happens between a level and its parent at a move step.  All levels' tiles are planned
 * first, what leaves is drained from the innermost level outwards, and what enters is filled
 * from the outermost inwards, so that every sum finds its way out before it is asked for again
 * and every tile finds its parent's tile in place.
 */
struct nest_sim_moves;

struct nest_sim_moves *nest_moves_open(struct nest_run *run);

/* The outermost loop that went on, or one of these. */
enum { NEST_START = -1, NEST_END = -2 };

/* Decides whether the store moves at this step, and what its instances shall hold then: their
 * tiles; at the end nothing. */
void nest_moves_plan(struct nest_sim_moves *moves, struct nest_store *store, int changed);

/* Written words that leave add up in the network and into the parent. */
void nest_moves_drain(struct nest_sim_moves *moves, struct nest_store *store);

/* Words enter, from the parent or a neighbour; sums return. */
void nest_moves_fill(struct nest_sim_moves *moves, struct nest_store *store);

#endif
