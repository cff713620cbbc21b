#ifndef SIM_ORDER_H
#define SIM_ORDER_H

#include "lower/program.h"

/*
 * What must be done before what.  An instruction heads a queue as soon as the
 * one before it in that queue is done, so a queue is nothing but a chain of
 * dependences: all that orders a program is one graph, kept as the successors
 * of every instruction.  A dependence on an instruction that does not
 * exist is never done.
 */
struct arena;

enum { ORDER_NONE = UINT32_MAX };

struct order {
	uint32_t count;
	uint32_t *waiting; /* how many predecessors each instruction has */
	uint32_t *first;   /* successors of i: at[first[i]] .. at[first[i + 1] - 1] */
	uint32_t *at;

	/*
	 * One place in a queue that tells the instruction apart: its queue on the
	 * lowest core of its mask, and its number in there, from 1.  Queues are
	 * numbered by first use; ORDER_NONE for an empty mask.
	 */
	uint32_t queue_count;
	int *queue_of; /* [engine * PROGRAM_CORES_MOST + core], -1: unused */
	uint32_t *queue, *place;
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
