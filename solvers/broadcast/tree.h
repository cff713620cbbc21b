#ifndef BROADCAST_TREE_H
#define BROADCAST_TREE_H

#include "model/transfer/schedule.h"
#include "search/drive/solver.h"

/*
 * Pipelines over a tree: each rank sends the chunks that it gets on to its children, chunk after
 * chunk, child after child; to all of them at once if it has the ports, as many chunks as links have
 * channels.
 */

/* parents[root] is -1; every other rank's is before it on its way to the root. */
const struct send_schedule *tree_schedule(struct arena *arena, const char *algorithm,
	const struct synthesis *synthesis, const int *parents);

/* Offers a schedule; its value is its rounds. */
void broadcast_offer(struct run *run, const struct send_schedule *schedule);

/* Messages of a scatter. */
void scatter_offer(struct run *run, const char *algorithm, const struct synthesis *synthesis,
	const struct messages *messages);

/* The rank that is `step` after the root, around. */
int broadcast_rank(const struct topology *topology, int step);

/* Whether each rank has a link to each other. */
bool broadcast_full(const struct topology *topology);

#endif
