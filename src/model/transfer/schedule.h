#ifndef MODEL_SCHEDULE_H
#define MODEL_SCHEDULE_H

#include "base/array.h"
#include "model/machine/topology.h"
#include "model/transfer/collective.h"

/*
 * How chunks go from rank to rank over links, in rounds: what is sent in a round was there before
 * it, and a round ends when its last message is through.  A channel of a link takes one message a
 * round, and so do the two ports of a rank where it has one of each.
 *
 *	broadcast  the root has all chunks; each comes to each other rank exactly once
 *	scatter    the root has a chunk for each rank, that of the rank k after it is chunk k; a
 *	           chunk may pass other ranks on its way
 *	gather     the other way
 *	reduce     each rank has its own of all chunks; it adds what comes to it and sends the sum on,
 *	           once, and the root sends nothing
 *
 * Turned around in time and over links turned around, a broadcast is a reduction and a scatter a
 * gather, in as many rounds; none can have fewer, or the turned one would, too.
 */
struct message {
	int round, from, to;  /* rounds from 0 */
	int64_t first, count; /* chunks first .. first + count - 1 */
};

struct send_schedule {
	enum operation operation;
	int ranks, root;
	int64_t chunks;
	int rounds;
	size_t message_count;
	const struct message *messages; /* by round */
};

/* What a solver of the stage `broadcast` or `scatter` is asked: chunks over this topology, from its
 * root; of a scatter as many as ranks. */
struct synthesis {
	const struct topology *topology;
	int64_t chunks;
};

/* Messages in any order; the schedule has them by round, then as given. */
struct messages array(struct message);
const struct send_schedule *schedule_make(
	struct arena *arena, const struct synthesis *synthesis, const struct messages *messages);

/* The reduction that a broadcast is, turned around, or the gather of a scatter. */
const struct send_schedule *schedule_reverse(
	struct arena *arena, const struct send_schedule *schedule);

/* Bytes of the first chunks of `bytes` bytes in `chunks` parts of whole elements, as alike as
 * can be, the longer ones first. */
int64_t schedule_bytes(int64_t bytes, int element, int64_t chunks, int64_t first);

#endif
