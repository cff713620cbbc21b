#ifndef SIM_ORDER_H
#define SIM_ORDER_H

#include "lower/graph/program.h"

#include <stdbool.h>

/*
 * The order of instructions: dependences, and happens-before among those that run.
 *
 * An instruction heads a queue as soon as the
 * one before it in that queue is done, so a queue is nothing but a chain of
 * dependences: all that orders a program is one graph, kept as the successors
 * of every instruction.  A dependence on an instruction that does not
 * exist is never done.
 */
struct arena;

/* An instruction as the clock sees it; it counts `waiting` down. */
struct order_node {
	int64_t ready;      /* tick of the latest end of those that it waited for */
	uint32_t waiting;   /* how many it waits for yet */
	uint32_t followers; /* its first edge; 0: none waits for it */
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
 * not exist.  Returns how many; at most `most` are written.
 */
int order_stuck(const struct program *program, const struct order *order, const bool *done,
	struct arena *scratch, int most, uint32_t *stuck);

/*
 * Happens-before, by vector clocks: for every queue, how far it must have come
 * before an instruction starts.  The clock of an instruction is complete once all
 * that it waits for have run, and is forgotten after it was handed on.
 */
struct race;

#define RACE_NOBODY UINT32_MAX /* no instruction */

struct race *race_open(
	const struct program *program, const struct order *order, struct arena *arena);

/* Instruction i runs now: the functions below are about it. */
void race_begin(struct race *race, uint32_t i);
void race_end(struct race *race);
uint32_t race_current(const struct race *race);

/* Must `earlier` have ended before the current instruction started, or is it itself? */
bool race_ordered(const struct race *race, uint32_t earlier);

/*
 * Sets of readers, by number; 0 is the empty set.  Adding the current instruction
 * drops those that are ordered before it: an instruction ordered after it is
 * ordered after them.
 */
uint32_t race_add_reader(struct race *race, uint32_t readers);
uint32_t race_find_unordered(const struct race *race, uint32_t readers); /* or RACE_NOBODY */
void race_clear_readers(struct race *race, uint32_t readers);

#endif
