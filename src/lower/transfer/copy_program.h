#ifndef LOWER_COPY_PROGRAM_H
#define LOWER_COPY_PROGRAM_H

#include "model/machine/topology.h"
#include "model/transfer/broadcast.h"

/*
 * The program by which ranks exchange tensors: for each queue of each rank its instructions in
 * order, and flags that order queues.  Made by lower/, read only by the simulator.
 *
 *	LOAD     a chunk of a buffer of any rank into a staging tile of the queue's rank;
 *	STORE    from a staging tile into a buffer of any rank;
 *	COMBINE  two staging tiles into the first of them;
 *	SET      a flag, once all before it in the queue is done;
 *	WAIT     until the flag was set once more often than it was waited for;
 *	NOTIFY   a signal of a rank, over links, once all before it in the queue is done;
 *	AWAIT    until the value of a signal of its own rank is one that is waited for
 *
 * One queue sets a flag and one waits for it.  Any queue may notify a
 * signal, always in the same way; it keeps its value after a wait.
 */
enum copy_kind {
	COPY_LOAD,
	COPY_STORE,
	COPY_COMBINE,
	COPY_SET,
	COPY_WAIT,
	COPY_NOTIFY,
	COPY_AWAIT,
};
enum copy_queue { QUEUE_IN, QUEUE_OUT, QUEUE_VECTOR, QUEUE_COUNT };
extern const char *const copy_queue_names[]; /* "in", "out", "vector" */

/* A box of elements: at[d] .. at[d] + count[d] - 1 in each dimension. */
struct chunk {
	int64_t at[BROADCAST_RANK], count[BROADCAST_RANK];
};

/* A tensor in the global memory of a rank.  `written`: it holds what others put there, and
 * nothing at first; else it holds values of its own. */
struct copy_buffer {
	int rank;
	bool written;
	bool adds; /* a written one that holds values of its own, to which stores add */
	int64_t shape[BROADCAST_RANK], stride[BROADCAST_RANK]; /* elements */
	const char *name;
};

struct copy_tile {
	int rank;
	int64_t offset, pitch, size; /* bytes: of the tile, from row to row, of all rows */
};

struct copy_instruction {
	enum copy_kind kind;
	int buffer;    /* LOAD, STORE */
	int tile;      /* the same, and COMBINE */
	int other;     /* COMBINE: the tile that is only read */
	int64_t chunk; /* of all three */
	int64_t shift; /* rows that the chunk lies further on in the buffer */
	int flag;      /* SET, WAIT; the signal of NOTIFY, AWAIT */
};

struct copy_stream {
	int rank;
	enum copy_queue queue;
	size_t count;
	const struct copy_instruction *instructions;
};

struct copy_program {
	enum element element;
	const struct topology *topology;
	struct copy_ticks ticks;
	enum reduction reduction;          /* what COMBINE does */
	const struct broadcast *broadcast; /* what it is to do; NULL: see sim/transfer/copy.h */
	const struct handshake *handshake; /* of all signals; NULL: there are none */
	int flag_count, buffer_count, tile_count, signal_count;
	const int *signals; /* by signal: its rank */
	const struct copy_buffer *buffers;
	const struct copy_tile *tiles;
	int64_t chunk_count;
	const struct chunk *chunks;
	size_t stream_count;
	const struct copy_stream *streams;
};

/* True if it is one of those that touch tiles. */
bool copy_moves(enum copy_kind kind);

#endif
