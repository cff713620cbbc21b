#ifndef SIM_COPY_H
#define SIM_COPY_H

#include "base/stopper.h"
#include "lower/transfer/copy_program.h"
#include "model/transfer/broadcast.h"
#include "sim/machine/order.h"

#include <stdint.h>

/*
 * Executes a copy program: queues take their instructions in order; a load or store takes its
 * latency and its bytes' time, on every link of a shortest way if it goes between ranks, which
 * it has to itself, as it has the ports of both ranks where they have one; flags and signals
 * arrive when they arrive.  Faults of the program that it finds:
 *
 *	DEADLOCK  queues wait for flags that no queue will set, or for signals that may never pass;
 *	RACE      two accesses to a byte, one of them a write, that no flag or queue orders;
 *	UNWRITTEN a read of bytes before any write;
 *	TWICE     an element of a written buffer that was written before;
 *	MISSING   one that was never written;
 *	VALUE     one with a value that is not that of the element that belongs there;
 *	BOUNDS    bytes outside of a tile or a buffer
 *	FLAG      a flag that is set and never waited for
 *	LINK      a store to a rank that no way leads to, or a load from one
 *
 * A race is a matter of what is ordered by queues, flags and signals, not of when things happened
 * to run.
 */
enum copy_fault_kind {
	COPY_DEADLOCK,
	COPY_RACE,
	COPY_UNWRITTEN,
	COPY_TWICE,
	COPY_MISSING,
	COPY_VALUE,
	COPY_BOUNDS,
	COPY_FLAG,
	COPY_LINK,
	COPY_FAULTS,
};
extern const char *const copy_fault_names[];

struct copy_fault {
	enum copy_fault_kind kind;
	size_t stream, instruction; /* where; 0, 0 if nowhere in particular */
	const char *text;           /* a sentence with all of it */
};

enum { COPY_FAULTS_MOST = 16 };

struct copy_options {
	/* Move bytes and look at every element; else count and time only.  At the end what the
	 * program's broadcast says must be in each written buffer, or without a broadcast what is in
	 * the first buffer that is not written. */
	bool data;
	uint64_t seed;                 /* of the values */
	uint64_t most;                 /* instructions; 0: no limit */
	int64_t bytes_most;            /* of memory with `data`; 0: EXECUTION_BYTES_MOST */
	bool trace;                    /* keep when each instruction ran */
	const struct stopper *stopper; /* may end the execution; NULL: none */
};

struct copy_result {
	bool finished;                          /* false: a limit, the stopper, or a deadlock */
	bool data;                              /* bytes were moved */
	int64_t ticks;                          /* until the last is done */
	int64_t cycles;                         /* the same, rounded up */
	int64_t loads, stores, combines, flags; /* instructions that ran; flags: SET */
	int64_t bytes_loaded, bytes_stored;
	int64_t link_bytes;    /* over all links that they crossed */
	int64_t staging_bytes; /* of the staging tiles of a rank, that with the most */
	uint64_t instructions;
	int fault_count;
	struct copy_fault faults[COPY_FAULTS_MOST];
	struct run_time *const *trace; /* by stream; NULL unless asked for */
};

struct arena;
struct copy_result copy_run(const struct copy_program *program, const struct copy_options *options,
	struct arena *arena);

/* Ticks of a transfer: latency + ceil(bytes / rate); a rate of 0 has no limit. */
int64_t copy_time(int64_t latency, int64_t bytes, struct ratio rate);

/* So many elements of `into` become the one and the other: in integers around their width, in
 * floats with the rounding of each step to the type. */
void copy_combine(enum element element, enum reduction reduction, void *into, const void *with,
	int64_t count);

/* A value out of random bits: any whole number, or a float far from where it would overflow. */
void copy_draw(enum element element, uint64_t bits, void *out);

#endif
