#ifndef SIM_COPY_STATE_H
#define SIM_COPY_STATE_H

#include "lower/transfer/copy_program.h"
#include "sim/machine/order.h"
#include "sim/transfer/copy.h"

#include <stdarg.h>

struct arena;
struct copy_memory;

/*
 * A copy program while it runs.  `copy.c` makes the order of instructions out of queues, flags and
 * signals, and has links and ports; `copy_memory.c` has the bytes.
 */
struct copy_run {
	const struct copy_program *program;
	const struct copy_options *options;
	struct arena *arena;
	struct copy_memory *memory; /* NULL unless bytes are moved */
	uint32_t *first;            /* by stream: the number of its first instruction */
	struct order order;
	struct race *race; /* with `memory` */
	struct copy_result result;
	struct stop_poll poll; /* of steps; stopped: the result is of no use */
};

/* The sentence goes behind "rank 0, queue in, instruction 3: ".  One of a kind and instruction. */
void copy_fault(struct copy_run *run, enum copy_fault_kind kind, size_t stream, size_t instruction,
	const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Counts so many steps of work; false once the stopper has ended the execution.  Every loop over
 * instructions, rows or elements calls it. */
bool copy_go_on(struct copy_run *run, uint64_t steps);

/* Rows of a chunk, over all dimensions but the last. */
int64_t copy_chunk_rows(const struct chunk *chunk);

/* Buffers with their values, scratchpads with nothing in them.  NULL if they are too large. */
struct copy_memory *copy_memory_open(struct copy_run *run);

/* Moves the bytes of one instruction, and asks about the order of each. */
void copy_memory_run(
	struct copy_run *run, size_t stream, size_t i, const struct copy_instruction *instruction);

/* After the last: every element that belongs somewhere is there. */
void copy_memory_end(struct copy_run *run);

#endif
