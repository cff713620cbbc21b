#ifndef SIM_RACE_H
#define SIM_RACE_H

#include "sim/graph/order.h"

#include <stdbool.h>

/*
 * Happens-before, by vector clocks: for every queue, how far it must have come
 * before an instruction starts.  The clock of an instruction is complete once all
 * that it waits for have run, and is forgotten after it was handed on.
 */
struct arena;
struct race;

#define RACE_NOBODY UINT32_MAX /* no instruction */

struct race *race_open(
	const struct program *program, const struct order *order, struct arena *arena);

/* Instruction i runs now: what follows is asked about it. */
void race_begin(struct race *race, uint32_t i);
void race_end(struct race *race);
uint32_t race_current(const struct race *race);

/* Must `earlier` have ended before the current instruction started, or is it itself? */
bool race_ordered(const struct race *race, uint32_t earlier);

/*
 * Sets of readers, by number; 0 is the empty set.  Adding the current instruction
 * drops those that are ordered before it: whoever is ordered after it is
 * ordered after them.
 */
uint32_t race_add_reader(struct race *race, uint32_t readers);
uint32_t race_find_unordered(const struct race *race, uint32_t readers); /* or RACE_NOBODY */
void race_clear_readers(struct race *race, uint32_t readers);

#endif
