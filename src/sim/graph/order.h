#ifndef SIM_ORDER_H
#define SIM_ORDER_H

#include "lower/graph/program.h"

/*
 * What must be done before what.  An instruction heads a queue as soon as the
 * one before it in that queue is done, so a queue is nothing but a chain of
 * dependences: all that orders a program is one graph, kept as the successors
 * of every instruction.  A dependence on an instruction that does not
 * exist is never done.
 */
struct arena;

/* What the clock knows of an instruction; it counts `waiting` down. */
struct order_node {
	int64_t ready;      /* tick of the latest end of those that it waited for */
	uint32_t waiting;   /* how many it waits for yet */
	uint32_t followers; /* its first edge; 0: nobody waits for it */
};

struct order_edge {
	uint32_t to, next; /* next edge of the same instruction; 0: none */
};

struct order {
	uint32_t count;
	struct order_node *nodes;
	struct order_edge *edges; /* from 1 on */
};

struct order order_make(const struct program *program, struct arena *arena);

/*
 * Instructions that wait for each other, each for the next and the last for the
 * first, among those that are not done; or a single one that waits for what does
 * not exist.  Answers how many; at most `most` are written.
 */
int order_stuck(const struct program *program, const struct order *order, const bool *done,
	struct arena *scratch, int most, uint32_t *stuck);

#endif
