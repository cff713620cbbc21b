#ifndef LOWER_COPY_PROGRAM_H
#define LOWER_COPY_PROGRAM_H

#include "model/broadcast.h"
#include "model/topology.h"

/*
 * What ranks carry out to exchange tensors: for each queue of each rank its instructions in
 * order, and flags that order queues.  Made by lower/, read only by the simulator.
 *
 *	LOAD    a chunk of a buffer into a staging tile of the queue's rank
 *	STORE   from a staging tile into a buffer of any rank
 *	SET     a flag, once all before it in the queue is done
 *	WAIT    until the flag was set once more often than it was waited for
 *
 * One queue sets a flag and one waits for it.
 */
enum copy_kind { COPY_LOAD, COPY_STORE, COPY_SET, COPY_WAIT };
enum copy_queue { QUEUE_IN, QUEUE_OUT, QUEUE_COUNT };
extern const char *const copy_queue_names[]; /* "in", "out" */

/* A box of elements: at[d] .. at[d] + count[d] - 1 in each dimension. */
struct chunk {
	int64_t at[BROADCAST_RANK], count[BROADCAST_RANK];
};

/* A tensor in the global memory of a rank.  `written`: it holds what others put there, and
 * nothing at first; else it holds values of its own. */
struct copy_buffer {
	int rank;
	bool written;
	int64_t shape[BROADCAST_RANK], stride[BROADCAST_RANK]; /* elements */
	const char *name;
};

struct copy_tile {
	int rank;
	int64_t offset, pitch, size; /* bytes: of the tile, from row to row, of all rows */
};

struct copy_instruction {
	enum copy_kind kind;
	int buffer, tile; /* LOAD, STORE */
	int64_t chunk;
	int64_t shift; /* rows that the chunk lies further on in the buffer */
	int flag;      /* SET, WAIT */
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
	int flag_count, buffer_count, tile_count;
	const struct copy_buffer *buffers;
	const struct copy_tile *tiles;
	int64_t chunk_count;
	const struct chunk *chunks;
	size_t stream_count;
	const struct copy_stream *streams;
};

/* One line per instruction:  "0 in: load src[0+1 0+1 0+1 0+16 0+32] > tile 0 @0", ..
 * "0 in: set 0", "0 out: wait 0". */
const char *copy_program_print(struct arena *arena, const struct copy_program *program);

#endif
