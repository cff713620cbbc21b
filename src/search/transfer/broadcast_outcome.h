#ifndef SEARCH_BROADCAST_OUTCOME_H
#define SEARCH_BROADCAST_OUTCOME_H

#include "cost/transfer/broadcast.h"
#include "model/machine/execution.h"
#include "model/machine/score.h"
#include "search/drive/candidate.h"
#include "sim/transfer/copy.h"
#include "sim/transfer/schedule.h"

/*
 * One way to carry out a broadcast, priced and executed.  As published, the root stores every
 * chunk to every rank; with an algorithm ranks send segments on, in rounds.  An algorithm of the
 * stage `broadcast` is one for reductions, too, over links and time turned around; one of the stage
 * `scatter` also one for gathers.
 */
enum { BROADCAST_CHUNKS_MOST = 1 << 20 };

struct broadcast_outcome {
	const struct broadcast *broadcast;
	const struct topology *topology;
	struct broadcast_counts counts;       /* as published */
	struct broadcast_times times;         /* likewise */
	const int64_t *order;                 /* of chunks; NULL: as they slide */
	const struct send_schedule *schedule; /* of an algorithm; else NULL */
	struct score score;                   /* cycles, link_bytes, buffer_bytes, rounds */
	int64_t ticks;
	int64_t bound;        /* cycles that no way over these links is below */
	int64_t rounds_bound; /* rounds that no schedule of this many segments is below; 0: as
				 published */
	struct execution execution;
};

/* Whose solvers are its algorithms; false: it has none. */
bool broadcast_stage(const struct broadcast *broadcast, enum stage *out);

/* NULL, or why it cannot be: what is too large, or an algorithm that these links do not carry.
 * The broadcast must be legal.  `asker` may stop the search for a schedule; NULL: nobody. */
struct asker;
const char *broadcast_price(const struct broadcast *broadcast, const struct asker *asker,
	struct arena *arena, struct broadcast_outcome *out);

/* When everything ran: instructions of a program by stream, or messages of a schedule. */
struct broadcast_trace {
	const struct copy_program *program; /* NULL: of an algorithm */
	struct copy_time *const *times;
	const struct send_time *sends;
};

/* With bytes where they are at most `bytes_most`, else without.  `trace`: NULL or to be kept.
 * `stopper`, or NULL, may end it: then it is not finished and has no fault. */
void broadcast_execute(struct broadcast_outcome *outcome, int64_t bytes_most, uint64_t seed,
	struct broadcast_trace *trace, const struct stopper *stopper, struct arena *arena);

#endif
