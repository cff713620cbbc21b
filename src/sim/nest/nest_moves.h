#ifndef SIM_NEST_NEST_MOVES_H
#define SIM_NEST_NEST_MOVES_H

#include "sim/nest/nest_run.h"

/*
 * The borders of loop k while a nest only counts (sim/nest/nest_periods.h): buffers that keep their tiles while
 * the loop goes on, as those outside see them who do not, the multipliers or buffers further in.  What an iteration
 * exchanges there with a buffer are boxes of words, all of an iteration's own where the loop is relevant, and
 * touched once more by the one that follows, when they drain.
 */
struct nest_borders;
struct nest_picture;

struct nest_borders *nest_borders_find(struct nest_run *run, int k);

/* Adds the sums that the iteration before and the one that begins touch; false if they are not there. */
bool nest_borders_draw(const struct nest_borders *borders, struct nest_picture *picture);

/* True if the next `times` iterations find what this one finds: the buffers hold the words of the last one, so
 * that they hold those of all, and sums are as this one's. */
bool nest_borders_go_on(const struct nest_borders *borders, int64_t times);

/* Sums of the next `times` iterations become those that they would leave: the last one's as those of the
 * iteration before this one are now, all others' as those of the one before that. */
void nest_borders_leave(const struct nest_borders *borders, int64_t times);

/* Adds the states of a box's words in an instance's buffer. */
void nest_states_draw(const struct nest_store *store, int64_t instance, const struct nest_box *box,
	struct nest_picture *picture);

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
