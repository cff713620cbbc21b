#ifndef MODEL_COLLECTIVE_H
#define MODEL_COLLECTIVE_H

#include "base/diag.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * What ranks do together through staging tiles.  One rank, the root, carries all of it out; each
 * of N ranks has a block of H rows.
 *
 *	broadcast   the root's tensor into the buffer of every rank       tbroadcast %group, %src
 *	gather      rows r H .. of the root's are rank r's block          tgather %group, %dst
 *	scatter     the other way: rank r gets rows r H ..                tscatter %group, %src
 *	reduce      the root's are those of all ranks, combined           treduce %group, %dst
 *	put         the root's tensor into the buffer of one rank         tput %dst, %src
 *	get         one rank's tensor into the root's buffer              tget %dst, %src
 *
 * Who pushes (broadcast, scatter, put) loads from its own memory and stores into that of others;
 * who pulls (gather, reduce, get) loads from that of others and stores into its own.
 */
enum operation {
	OPERATION_BROADCAST,
	OPERATION_GATHER,
	OPERATION_SCATTER,
	OPERATION_REDUCE,
	OPERATION_PUT,
	OPERATION_GET,
	OPERATION_COUNT,
};
extern const char *const operation_names[]; /* "broadcast", ..; NULL ends them */

bool operation_pulls(enum operation operation);
bool operation_splits(
	enum operation operation); /* each rank has a block of its own: gather, scatter */
bool operation_is_pair(enum operation operation); /* between two ranks: put, get */

/* One result out of two elements; in integers it wraps around. */
enum reduction { REDUCTION_SUM, REDUCTION_MAX, REDUCTION_MIN };
extern const char *const reduction_names[]; /* "sum", ..; NULL ends them */

/*
 * A signal is an int32 in the memory of a rank, 0 at first.  `tnotify` of another rank sets it, or
 * adds to it; `twait` of its own rank goes on once it compares so with a value.
 */
enum notify_op { NOTIFY_SET, NOTIFY_ADD };
enum wait_cmp { WAIT_EQ, WAIT_NE, WAIT_GT, WAIT_GE, WAIT_LT, WAIT_LE };
extern const char *const notify_op_names[], *const wait_cmp_names[]; /* "set", .. "eq", .. */

/*
 * Who writes what another rank reads notifies it, who reads what another wrote waits: after a
 * push the root notifies each rank that it wrote to, and they read what came; before a pull each
 * rank writes its block and notifies the root.  A rank that waits has one signal.
 */
struct handshake {
	bool notifies, waits;
	enum notify_op op;
	int64_t value; /* set, or added */
	enum wait_cmp cmp;
	int64_t wanted;
	struct span notify_span, wait_span;
};

/* Whether a wait goes on once a signal was notified that many times. */
bool handshake_passes(const struct handshake *handshake, int64_t notified);

/* How often it must have been notified; -1: never enough, or more would be too many. */
int64_t handshake_least(const struct handshake *handshake, int64_t most);

#endif
