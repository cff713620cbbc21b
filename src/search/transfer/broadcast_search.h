#ifndef TRANSFER_BROADCAST_SEARCH_H
#define TRANSFER_BROADCAST_SEARCH_H

#include "cost/transfer/broadcast.h"
#include "model/machine/score.h"
#include "model/transfer/broadcast.h"
#include "search/drive/drive.h"
#include "search/drive/solver.h"
#include "sim/transfer/copy.h"
#include "sim/transfer/schedule.h"

#include <stdint.h>

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

/* Finds the stage whose solvers are its algorithms; false: it has none. */
bool broadcast_stage(const struct broadcast *broadcast, enum stage *out);

/* Returns NULL, or why it cannot be priced: it is too large, or the links do not carry the algorithm.
 * The broadcast must be legal. `asker` may stop the search for a schedule; NULL: no asker. */
struct asker;
const char *broadcast_price(const struct broadcast *broadcast, const struct asker *asker,
	struct arena *arena, struct broadcast_outcome *out);

/* When everything ran: instructions of a program by stream, or messages of a schedule. */
struct broadcast_trace {
	const struct copy_program *program; /* NULL: of an algorithm */
	struct run_time *const *times;
	const struct run_time *sends;
};

/* With bytes where they are at most `bytes_most`, else without.  `trace`: NULL or to be kept.
 * `stopper`, or NULL, may end it: then it is not finished and has no fault. */
void broadcast_execute(struct broadcast_outcome *outcome, int64_t bytes_most, uint64_t seed,
	struct broadcast_trace *trace, const struct stopper *stopper, struct arena *arena);

/*
 * Orders of chunks between the two copy queues, which are a flow shop of two machines.
 *
 *	johnson         those that load faster than they store by growing load, then the others by
 *	                falling store: nothing is faster with a tile for every chunk
 *	                (S. M. Johnson, Optimal two- and three-stage production schedules, 1954)
 *	gilmore_gomory  a cheapest tour where chunk j after chunk i costs max(load j, store i):
 *	                nothing is faster with two tiles and no time for flags
 *	                (P. C. Gilmore, R. E. Gomory, Sequencing a one state-variable machine, 1964)
 *
 * Both break ties by number; `order[i]` comes i-th.
 */
struct chunk_job {
	int64_t load, store;
};

struct arena;
const int64_t *order_johnson(const struct chunk_job *jobs, int64_t count, struct arena *arena);
const int64_t *order_gilmore_gomory(
	const struct chunk_job *jobs, int64_t count, struct arena *arena);

/*
 * Rounds that no schedule is below, the most of
 *
 *	arrival    what enters the farthest rank: in T rounds a link brings no more than T less the
 *	           distance of where it begins
 *	spread     C / (what leaves the root a round) - 1 + the rounds that one chunk takes to all:
 *	           the farthest distance; with one port, also ceil(log2 N)
 *	relay      with one port: a rank without which P parts of the others cannot be reached sends
 *	           P C chunks, the first after its distance, and the last has a way to go
 *
 * All take a time that grows with ranks times links at most, in a full topology with links alone.
 */
int64_t rounds_bound(const struct synthesis *synthesis, struct arena *arena);

/* The same of a scatter: a rank that receives something could pass one chunk to all,
 * so it takes as long as a broadcast of one chunk. */
int64_t scatter_bound(const struct synthesis *synthesis, struct arena *arena);

/* The schedule of fewest rounds, of one chunk a message, that the solvers of the stage offer
 * that need not be named; of several the first by name.  It counts in the run's budget. */
const struct send_schedule *schedule_best(struct run *run, const struct synthesis *synthesis);

/*
 * Explores the ways to carry out one broadcast (drive.h):
 *
 *	as given; as published with tiles of halved rows and columns that fit into the scratchpad,
 *	one to four of them, chunks sliding or, where they are of several sizes, in the best
 *	order for two tiles or for many; with every algorithm of the stage `broadcast`, in 1, 2, 3, 4, 6, 8, 12, .. segments;
 *	with one that proves only if it is asked for alone, in at most eight
 */
struct broadcast_search {
	struct wishes wishes;
	const struct broadcast *broadcast; /* legal */
	/* Solvers of schedules, if the user named some; none: the usual ones, and the published schedules. */
	struct portfolio solvers;
};

/* The payload of a frontier point; its outcome has no order, and no large schedule. */
struct broadcast_found {
	struct found common;
	struct broadcast_outcome outcome;
};

/* `more` is the broadcast as given, a struct broadcast_outcome; NULL: it cannot be. */
struct explored broadcast_explore(const struct broadcast_search *search, struct arena *arena);

/* "64 x 512 x 2 sliding", "chain in 16" */
const char *broadcast_way(struct arena *arena, const struct broadcast *broadcast);

#endif
