#ifndef SIM_COPY_STATE_H
#define SIM_COPY_STATE_H

#include "sim/transfer/copy.h"

#include <stdarg.h>

/*
 * A copy program while it runs.  `copy.c` has the clock, `copy_signal.c` the signals,
 * `copy_memory.c` the bytes, `copy_order.c` what happens before what.
 */
struct arena;

struct copy_memory;
struct copy_order;
struct copy_signals;

struct copy_run {
	const struct copy_program *program;
	const struct copy_options *options;
	struct arena *arena;
	struct copy_memory *memory; /* NULL unless bytes are moved */
	struct copy_order *order;   /* likewise */
	struct copy_signals *signals;
	struct copy_result result;
};

/* The sentence goes behind "rank 0, queue in, instruction 3: ".  One of a kind and instruction. */
void copy_fault(struct copy_run *run, enum copy_fault_kind kind, size_t stream, size_t instruction,
	const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Elements of a chunk; its rows, over all dimensions but the last. */
int64_t copy_chunk_rows(const struct chunk *chunk);
int64_t copy_chunk_bytes(const struct copy_program *program, const struct chunk *chunk);

/* Buffers with their values, scratchpads with nothing in them.  NULL if they are too large. */
struct copy_memory *copy_memory_open(struct copy_run *run);

/* Moves the bytes of one instruction, and asks the order about each. */
void copy_memory_run(
	struct copy_run *run, size_t stream, size_t i, const struct copy_instruction *instruction);

/* The element of a buffer at these coordinates, as it is now. */
const uint8_t *copy_memory_at(
	const struct copy_run *run, int buffer, const int64_t at[BROADCAST_RANK]);

/* The same as it was at first, of a buffer that stores add to. */
const uint8_t *copy_memory_given(
	const struct copy_run *run, int buffer, const int64_t at[BROADCAST_RANK]);

/* After the last: every element that belongs somewhere is there. */
void copy_memory_end(struct copy_run *run);

/*
 * Who knows of whose instructions.  Each stream counts its own; a flag hands on what the one that
 * sets it knows.  A wait for a signal hands on what those know that it cannot go on without, in
 * whatever order they notify it.
 */
struct copy_order *copy_order_open(struct copy_run *run);
void copy_order_step(struct copy_order *order, size_t stream); /* the next of the stream begins */
void copy_order_set(struct copy_order *order, size_t stream, int flag);
void copy_order_wait(struct copy_order *order, size_t stream, int flag);
void copy_order_notify(struct copy_order *order, size_t stream, int signal);
void copy_order_await(struct copy_order *order, size_t stream, int signal);

/* When something was touched last: a stream's so-manieth instruction; at 0: never. */
struct copy_touch {
	uint32_t stream, at;
};
struct copy_touch copy_order_now(const struct copy_order *order, size_t stream);

/* Whether what is touched comes before what the stream now does. */
bool copy_order_before(const struct copy_order *order, struct copy_touch touch, size_t stream);

#endif
