#ifndef COST_TRANSFER_BROADCAST_H
#define COST_TRANSFER_BROADCAST_H

#include "model/machine/topology.h"
#include "model/transfer/broadcast.h"

/*
 * The time of a schedule, each rank with two staging tiles of a chunk.  A message of b bytes takes
 * the longer of loading it, in latency + b / in rate, and of sending it, out latency + link
 * latency + b / link rate; a round takes as long as its longest.  The first load comes before
 * all; once the root has sent its last, or of a gather or reduction received it, it stores what is
 * its own, chunk by chunk: the tensor, or the block of a gather or scatter.  Each message of a
 * reduction is combined with what is there before its round ends.
 */
struct schedule_cost {
	int rounds;
	int64_t ticks, link_bytes;
	int64_t buffer_bytes; /* of a rank: two of the largest message */
};

/* `bytes`: of all chunks.  False when it cannot be counted. */
bool schedule_price(const struct send_schedule *schedule, const struct copy_ticks *ticks,
	int64_t bytes, int element, struct schedule_cost *out);

/*
 * Counts and time of a broadcast or a sibling as published, in closed form if one is
 * known.  Chunks have at most four sizes: whole, a tail of rows, a tail of columns, both.  Chunks go in legs: all of
 * them from one buffer into others, then all of the next rank.
 *
 *	L(b) = in latency + hops * link latency + b / rate
 *	S(b) = sum over the ranks it is stored to of out latency + hops * link latency + b / rate
 *
 *	single      sum (L + S + 2 sync)
 *	ping-pong   L_1 + sum max(L_i+1, S_i) + S_C, of pairs in their order, without sync
 *	K tiles     load i waits for store i - K, store i for load i: the greatest path through
 *	            both queues (also ping-pong with sync)
 *	no limit    max_j (sum_i<=j L_i + sum_i>=j S_i)
 *
 * A reduction takes, chunk by chunk and with nothing of two chunks at once,
 *
 *	L_own + L_1 + sum max(L_i+1, V_i) + V_N-1 + S    with two tiles and without sync
 *
 * where V(b) = combine latency + b / combine rate.  With a handshake, times are longer by what
 * comes before or after (model/transfer/broadcast.h): a rank's block written in its own memory and the
 * farthest notice, or notices one by one and the last rank's read.
 */
struct broadcast_counts {
	enum broadcast_path path;
	int64_t chunks, loads, stores, combines, flags;
	int64_t bytes_loaded, bytes_stored, link_bytes, staging_bytes;
};

/* False when they cannot be counted. */
bool broadcast_count(const struct broadcast *broadcast, const struct topology *topology,
	struct broadcast_counts *out);

/* Ticks; the broadcast must be legal, of at most CHUNKS_TIMED chunks. */
enum { CHUNKS_TIMED = 1 << 24 };

struct broadcast_times {
	int64_t load, store; /* sums over all chunks */
	int64_t single, ping_pong, tiles, unlimited;
	int64_t bound; /* max(L_1 + sum S, sum L + S_C): no number of tiles is faster, in this
			  order; of a reduction, what its loads and stores take */
	int64_t per_cycle;
};

/* `staging` tiles for `tiles`.  False when they cannot be counted. */
bool broadcast_time(const struct broadcast *broadcast, const struct topology *topology,
	int64_t staging, struct broadcast_times *out);

/* The time of chunks in another order: `sizes[i]` bytes come i-th. */
int64_t broadcast_time_of(const struct broadcast *broadcast, const struct topology *topology,
	int64_t staging, const int64_t *sizes, int64_t count);

/* L of this many bytes of a broadcast. */
int64_t broadcast_load_time(const struct broadcast *broadcast, int64_t bytes);

#endif
