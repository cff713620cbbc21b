#ifndef BROADCAST_TREE_H
#define BROADCAST_TREE_H

#include "model/transfer/broadcast.h"
#include "search/drive/solver.h"

/*
 * Pipelines over a tree: each rank sends the chunks that it gets on to its children, chunk after
 * chunk, child after child; to all of them at once if it has the ports, as many chunks as links have
 * channels.
 */

/* Offers what goes down a tree, if the budget lasts: parents[root] is -1; every other rank's is
 * before it on its way to the root. */
void tree_offer(struct run *run, const struct synthesis *synthesis, const int *parents);

/* Offers messages that answer a problem of the stage `broadcast` or `scatter`, likewise. */
void messages_offer(
	struct run *run, const struct problem *problem, const struct messages *messages);

/* Offers a schedule; its value is its rounds. */
void broadcast_offer(struct run *run, const struct send_schedule *schedule);

/* The rank that is `step` after the root, around. */
int broadcast_rank(const struct topology *topology, int step);

/* True if each rank has a link to each other; whether the root has one to each other. */
bool broadcast_full(const struct topology *topology);
bool broadcast_fans(const struct topology *topology);

#endif
