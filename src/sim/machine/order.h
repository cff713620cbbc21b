#ifndef SIM_MACHINE_ORDER_H
#define SIM_MACHINE_ORDER_H

#include "base/array.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The core of the simulators that execute queues of instructions: when each instruction runs, and which accesses to
 * memory are ordered.
 *
 * An instruction heads a queue as soon as the one before it in that queue is done, so a queue is a chain of
 * dependences: all that orders a program is one graph, kept as the successors of every instruction.
 *
 *	struct order order = order_open(count, edges, arena);
 *	order_edge(&order, from, to, false);                 for each dependence and each pair of neighbours in a queue
 *	order_start(&order);
 *	while (order_next(&order, &event))
 *		order_end(&order, event, end, 0);            end: the time that the instruction takes from event.time on
 *
 * Deterministic: of several that can begin at one time the lowest number runs first.
 */
struct arena;

/* An instruction as the clock sees it; it counts `waiting` down. */
struct order_node {
	int64_t ready;      /* tick of the latest end of those that it waited for */
	uint32_t waiting;   /* how many it waits for yet */
	uint32_t followers; /* its first edge; 0: none waits for it */
};

struct order_edge {
	uint32_t late : 1, to : 31;
	uint32_t next; /* next edge of the same instruction; 0: none */
};

/* An instruction that waits only for the clock. */
struct order_event {
	int64_t time; /* ticks */
	uint32_t instruction;
};

/* When an instruction ran, in ticks; end is below start if it never did. */
struct run_time {
	int64_t start, end;
};

struct order {
	struct arena *arena;
	uint32_t count, edge_count, edges_most;
	struct order_node *nodes;
	struct order_edge *edges; /* from 1 on */
	struct order_events array(struct order_event) heap;
	bool *done;
	struct run_time *times; /* by instruction; NULL unless kept */
	uint64_t ran;           /* instructions that are done */
	int64_t end;            /* tick of the latest end */
};

/* At most `edges` edges will be added.  More instructions or edges than it can number are a BUG. */
struct order order_open(size_t count, size_t edges, struct arena *arena);

/* Keeps when each instruction runs. */
void order_keep_times(struct order *order);

/* `to` waits for `from`; `late`: it sees the end of `from` with a delay.  Two edges between the same two do no harm. */
void order_edge(struct order *order, uint32_t from, uint32_t to, bool late);

/* An instruction waits for one that does not exist, for ever. */
void order_block(struct order *order, uint32_t i);

/* After the last edge: instructions that wait for nothing can begin at tick 0. */
void order_start(struct order *order);

/* Takes the earliest event; false: there is none. */
bool order_next(struct order *order, struct order_event *event);

/* Adds an event of an instruction that waits only for the clock, beside those that it has. */
void order_again(struct order *order, struct order_event event);

/* The instruction of an event ran until `end`: those that waited for it alone can begin then, those that see its end
 * late after a delay. */
void order_end(struct order *order, struct order_event event, int64_t end, int64_t delay);

/*
 * Happens-before, by vector clocks (C. J. Fidge, Timestamps in message-passing systems that preserve the partial
 * ordering, 1988): for every queue, how far it must have come before an instruction starts.  The clock of an
 * instruction is complete once all that it waits for have run, and is forgotten after it was handed on.
 */
struct race;

#define RACE_NONE UINT32_MAX /* no instruction */

struct race *race_open(const struct order *order, uint32_t queues, struct arena *arena);

/* Gives an instruction its number, from 1, in one of its queues, which identify it.  One that sits in no queue is before all. */
void race_seat(struct race *race, uint32_t i, uint32_t queue, uint32_t number);

/* Instruction i runs now: the functions below are about it. */
void race_begin(struct race *race, uint32_t i);
void race_end(struct race *race);
uint32_t race_current(const struct race *race);

/*
 * The accesses to a place in memory: the instruction that wrote it last, and those that have read it since.  All zero:
 * none.  Readers that are ordered before another reader are dropped: what is ordered after the one is ordered after
 * the other.
 */
struct race_mark {
	uint32_t writer;  /* plus 1; 0: none */
	uint32_t readers; /* a set, by number; 0: empty */
};

static inline uint32_t race_writer(const struct race_mark *mark)
{
	return mark->writer - 1; /* RACE_NONE: none */
}

/* Returns the writer of a place if it is neither ordered before the current instruction nor that itself; else
 * RACE_NONE. */
uint32_t race_unordered_writer(const struct race *race, const struct race_mark *mark);

/* The current instruction reads a place.  Returns the same. */
uint32_t race_read(struct race *race, struct race_mark *mark);

/* The current instruction writes a place.  Returns the writer and a reader that are not ordered before it. */
struct race_conflict {
	uint32_t writer, reader; /* RACE_NONE: none */
};
struct race_conflict race_write(struct race *race, struct race_mark *mark);

#endif
