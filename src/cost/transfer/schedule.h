#ifndef COST_SCHEDULE_H
#define COST_SCHEDULE_H

#include "model/transfer/schedule.h"

/*
 * What a schedule takes, each rank with two staging tiles of a chunk.  A message of b bytes takes
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

#endif
