#ifndef SIM_NEST_NEST_MOVES_H
#define SIM_NEST_NEST_MOVES_H

#include "sim/nest/nest_run.h"

/*
 * Moves between a level and its parent at a move step.  All levels' tiles are planned first.  Then
 * words that leave are drained from the innermost level outwards, and words that enter are filled
 * from the outermost inwards.  So every sum has left before it is needed again, and every tile finds
 * its parent's tile in place.
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

/*
 * Iterations of a loop that are alike, while a nest only counts: one of them is executed, and the others
 * count as much.  They are alike where the machine's states at the beginnings of two that
 * follow each other are equal, words and times taken relative to the iteration: the tiles in all
 * buffers that move in the loop, the sums in them, the sums in the buffers around them that the two touch,
 * what multipliers wait for and how far the ports are; where the sums that the others will touch are as those
 * that this one touches; and where no tile of theirs reaches beyond an extent.
 *
 * Work: where an iteration begins, once more the words of tiles that move in it, and comparisons of as many
 * numbers as there are instances.
 */
struct nest_periods;

/* NULL: every step is to be executed. */
struct nest_periods *nest_periods_open(struct nest_run *run);

/*
 * Loop k has gone on.  True: it goes on once more now, since the iteration that begins here and all that are
 * alike, the next ones, have been counted; the run is as it is at the end of the last of them.
 */
bool nest_periods_skip(struct nest_periods *periods, int k);

#endif
