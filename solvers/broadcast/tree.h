#ifndef BROADCAST_TREE_H
#define BROADCAST_TREE_H

#include "model/transfer/broadcast.h"
#include "search/drive/solver.h"

/*
 * Solvers of broadcasts that build one schedule by a rule, and the functions that solvers of scatters share with them.
 *
 *	flat, binomial       messages listed directly
 *	trees                parallel, binary_tree, shortest_tree, chain: a parent for each rank, then a pipeline over
 *	                     the tree: a rank sends the chunks that it gets on to its children, chunk after chunk,
 *	                     child after child; to all children at once if it has the ports, as many chunks as links
 *	                     have channels
 *	scatter_allgather    one part of the tensor for each rank, then a ring
 *	round_optimal        circulant graph of the published round-optimal schedules
 */

/* Offers messages that answer a problem of the stage `broadcast` or `scatter`, if the budget lasts. */
void messages_offer(
	struct run *run, const struct problem *problem, const struct messages *messages);

/* Offers a schedule; its value is its rounds. */
void broadcast_offer(struct run *run, const struct send_schedule *schedule);

/* The rank that is `step` after the root, around. */
int broadcast_rank(const struct topology *topology, int step);

/* True if each rank has a link to each other. */
bool broadcast_full(const struct topology *topology);

#endif
