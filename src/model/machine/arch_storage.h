#ifndef MODEL_MACHINE_ARCH_STORAGE_H
#define MODEL_MACHINE_ARCH_STORAGE_H

#include "base/number.h"

#include <stdbool.h>

/*
 * What a rank copies with: two queues, each carried out in order.  The one loads from global
 * memory into a scratchpad, the other stores from there into global memory; that is the rank's own
 * or, over links, another's.  b bytes take latency + b / rate; a flag that one queue sets is seen by
 * the other `sync` later.
 */
enum topology_kind {
	TOPOLOGY_FULL,               /* a link from each rank to each other */
	TOPOLOGY_RING,               /* from each rank to the next */
	TOPOLOGY_BIDIRECTIONAL_RING, /* and back */
	TOPOLOGY_MESH,               /* rank = row * columns + column, to the four neighbours */
	TOPOLOGY_TREE,               /* rank r and its children 2r + 1, 2r + 2, both ways */
	TOPOLOGY_ROOT_ONLY,          /* from the root to each other rank */
	TOPOLOGY_COUNT,
};
extern const char *const topology_names[]; /* in the order of the enum, NULL ends them */

enum port_count { PORTS_ONE, PORTS_ALL }; /* sends, and as many receipts, of a rank at a time */
extern const char *const port_count_names[];

struct copy_speed {
	struct ratio latency; /* cycles */
	struct ratio rate;    /* bytes per cycle; 0: no limit */
};

struct copying {
	struct copy_speed in, out; /* between the rank's own global memory and its scratchpad */
	struct copy_speed link;    /* to or from another rank: its latency comes on top of theirs,
				   once a link; its rate replaces theirs */
	struct copy_speed combine; /* of two tiles into one of them, by the vector queue; bytes of
				   one */
	struct ratio sync;         /* cycles */
	enum topology_kind topology;
	enum port_count ports;
	int channels; /* messages that a link takes at a time in rounds; 0: one */
};

/*
 * The same in whole ticks of `per_cycle` in a cycle, enough that every byte and latency is a
 * whole number of them, or COPY_TICKS_MOST, where times round up.
 */
enum { COPY_TICKS_MOST = 1 << 20 };

struct copy_ticks {
	int64_t per_cycle;
	int64_t in_latency, out_latency, link_latency, combine_latency, sync;
	struct ratio in_rate, out_rate, link_rate, combine_rate; /* bytes per tick; 0: no limit */
};

struct copy_ticks copying_ticks(const struct copying *copying);

/* All speeds that attributes may give: `copy_in`, `copy_out`, `combine`, `copy_sync` of a
 * scratchpad and
 * `links` of a container or a broadcast.  What is not given stays. */
struct node;
struct reader;
void copying_read_pipes(struct reader *reader, struct ratio clock_hz, struct copying *copying);
bool copying_read_links(struct reader *reader, struct ratio clock_hz, struct copying *copying,
	const struct node **dims);

#endif
