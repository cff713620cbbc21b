#ifndef SIM_TRANSFER_SCHEDULE_H
#define SIM_TRANSFER_SCHEDULE_H

#include "base/stopper.h"
#include "lower/graph/program.h"
#include "model/transfer/broadcast.h"
#include "sim/machine/order.h"

/* The links that a store of a broadcast's root crosses, for programs of several ranks. */
struct arena;

struct hops {
	const struct program *program;
	struct arena *arena;
	int **from; /* by root, once asked for: to each rank */
};

struct hops hops_open(const struct program *program, struct arena *arena);

/* 0: to the root itself, or to a rank that does not exist. */
int hops_find(struct hops *hops, int root, int rank);

/*
 * Executes a schedule round by round: bytes go from rank to rank over links that are there and
 * free, from ranks that have them to ranks that do not; at the end each rank has the root's, or of
 * a scatter its own chunk, and the root has those of a gather.  In a reduction elements, as whole
 * numbers of their width, are added to what is there; at the end the root has the sums of all.
 * A rank sends through two staging tiles: the next load runs beside a send.  Without
 * `data` no bytes move, but every chunk is followed all the same.  `stopper` may
 * end the execution; NULL: none.
 */
struct schedule_result {
	bool stopped;      /* by the stopper: nothing else of the result is of use */
	const char *fault; /* the first thing that is wrong, in a sentence; NULL */
	int rounds;
	int64_t ticks, cycles, link_bytes;
	int64_t buffer_bytes; /* of the rank with the most */
	uint64_t messages;
	const struct run_time *times; /* by message, of those before a fault */
};

struct schedule_result schedule_run(const struct send_schedule *schedule,
	const struct topology *topology, const struct copy_ticks *ticks, int64_t bytes, int element,
	bool data, uint64_t seed, const struct stopper *stopper, struct arena *arena);

#endif
