#ifndef MODEL_SCHEDULE_H
#define MODEL_SCHEDULE_H

#include "base/array.h"
#include "model/topology.h"

/*
 * How chunks of a tensor go from the root to all ranks over links, in rounds: what is sent in a
 * round was there before it, and a round ends when its last message is through.  A channel
 * of a link takes one message a round, and so do the two ports of a rank where it has one of each.  A chunk
 * comes to each rank but the root exactly once.
 */
struct message {
	int round, from, to;  /* rounds from 0 */
	int64_t first, count; /* chunks first .. first + count - 1 */
};

struct send_schedule {
	const char *algorithm;
	int ranks, root;
	int64_t chunks;
	int rounds;
	size_t message_count;
	const struct message *messages; /* by round */
};

/* What a solver of the stage `broadcast` is asked: chunks over this topology, from its root. */
struct synthesis {
	const struct topology *topology;
	int64_t chunks;
};

/* Messages in any order; the schedule has them by round, then as given. */
struct messages array(struct message);
const struct send_schedule *schedule_make(struct arena *arena, const char *algorithm,
	const struct synthesis *synthesis, const struct messages *messages);

/* Bytes of the first chunks of `bytes` bytes in `chunks` parts of whole elements, as alike as
 * can be, the longer ones first. */
int64_t schedule_bytes(int64_t bytes, int element, int64_t chunks, int64_t first);

#endif
