#ifndef LOWER_LOWER_QUEUES_H
#define LOWER_LOWER_QUEUES_H

#include "base/array.h"
#include "lower/graph/program.h"

/*
 * The list of instructions in the making, and which dependences are needed.
 *
 * An instruction is made between queue_open and queue_close; queue_need names
 * an instruction that must be done before it, and a core in both masks.  A need
 * is dropped when an earlier instruction of the same queue had it or a later
 * one of that engine: the queue's order implies it then.  So of two needs on
 * one engine of one core name the later one only.
 *
 * A phase begins after a SYNC: an instruction without any predecessor in its
 * phase depends on the SYNC, and the next SYNC depends on all instructions
 * without a successor.  All others follow.
 */
enum { QUEUE_COUNT = ENGINE_SYNC }; /* per core; SYNC needs none */

struct queues {
	struct arena *arena;   /* of what the program keeps */
	struct arena *scratch; /* of what it does not */
	struct array(struct instruction) list;
	uint32_t *pool; /* of the arena: where dependences go next */
	size_t pool_left;
	struct array(bool) followed; /* per instruction: has a successor in its phase */
	int64_t sync;                /* the SYNC that began the phase; -1: none */
	size_t phase;                /* number of the phase's first instruction */

	/* Instruction numbers plus 1; 0: none in this phase. */
	size_t tail[PROGRAM_CORES_MOST][QUEUE_COUNT];
	size_t known[PROGRAM_CORES_MOST][QUEUE_COUNT][QUEUE_COUNT];

	enum engine engine; /* of the instruction being made */
	uint64_t mask;
	size_t need_count;
	uint32_t needs[PROGRAM_CORES_MOST * QUEUE_COUNT];
};

void queue_open(struct queues *queues, enum engine engine, uint64_t mask);
void queue_need(struct queues *queues, int core, int64_t number); /* -1: nothing */

/* The payload is the caller's to set.  Answers the instruction's number. */
int64_t queue_close(struct queues *queues, int step, int tile, struct instruction **out);

/* Ends the phase with a SYNC. */
void queue_sync(struct queues *queues, int step);

#endif
