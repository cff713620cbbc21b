#ifndef MODEL_TOPOLOGY_H
#define MODEL_TOPOLOGY_H

#include "base/number.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Ranks and the directed links between them, as a graph.  Links are numbered by the rank that
 * they leave, then by the one that they enter.
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

/*
 * Copies of a rank.  It has two queues, each carried out in order: one loads from global memory into a
 * scratchpad, the other stores from there into global memory, the rank's own or, over links, another's.
 * b bytes take latency + b / rate; a flag that one queue sets is seen by the other `sync` later.
 */
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

/* True if some copy takes time; without it all latencies are 0, and none is a result. */
bool copying_takes_time(const struct copying *copying);

/* Reads the speeds that attributes may give: `copy_in`, `copy_out`, `combine`, `copy_sync` of a scratchpad, and
 * `links` of a container or a broadcast.  Others stay as they are. */
struct node;
struct noun;
struct reading;
extern const struct noun links_noun, pipes_noun; /* the keys of both */

/* Reads the map of `links` (NULL: none).  Returns its `dims`, whose number depends on the topology; NULL without
 * them or after complaining. */
const struct node *copying_read_links(const struct reading *reading, const struct node *node,
	struct ratio clock_hz, struct copying *copying);

enum { RANKS_MOST = 1024 };

struct arena;

struct link {
	int from, to;
};

struct topology {
	enum topology_kind kind;
	enum port_count ports;
	int ranks, root;
	int rows, columns; /* of a mesh */
	int channels;      /* messages that a link takes in a round */
	size_t link_count;
	const struct link *links;
	const int *first; /* links of rank r: links[first[r]] .. links[first[r + 1] - 1] */
	/* The same links turned around, by the rank that they enter, in the same manner. */
	const struct link *back;
	const int *back_first;
};

/* columns: of a mesh, else 0; it divides ranks.  1 <= ranks <= RANKS_MOST, 0 <= root < ranks.  Links
 * have one channel. */
const struct topology *topology_make(struct arena *arena, enum topology_kind kind,
	enum port_count ports, int ranks, int root, int columns);

/* The same as `links:` says it. */
const struct topology *topology_of(
	struct arena *arena, const struct copying *copying, int ranks, int root, int columns);

/* Every link turned around. */
const struct topology *topology_reverse(struct arena *arena, const struct topology *topology);

/* The number of the link; -1 without one. */
int topology_link(const struct topology *topology, int from, int to);

/* Links on a shortest way from `from` to each rank; -1: none.  `out` has room for all. */
void topology_distances(const struct topology *topology, int from, int *out);

/* The same from each rank to `to`. */
void topology_distances_to(const struct topology *topology, int to, int *out);

/* The rank before `to` on a shortest way from `from`, of several the least; -1: none. */
int topology_before(const struct topology *topology, const int *distances, int to);

/* Shortest ways between ranks, of which those from a rank are found when they are asked for. */
struct routes {
	const struct topology *topology;
	struct arena *arena;
	int **distances; /* by rank that they lead from; NULL: not yet */
};
struct routes routes_open(const struct topology *topology, struct arena *arena);

/* Links on the way; -1: none. */
int routes_hops(struct routes *routes, int from, int to);

/* The last link of the way to *to, which becomes the rank before it; -1: none. */
int routes_last(struct routes *routes, int from, int *to);

/* Messages that enter or leave a rank at a time. */
int topology_ways(const struct topology *topology, int rank, bool entering);

#endif
