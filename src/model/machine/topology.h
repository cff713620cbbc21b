#ifndef MODEL_TOPOLOGY_H
#define MODEL_TOPOLOGY_H

#include "model/machine/arch_storage.h"

#include <stddef.h>

/*
 * Ranks and the directed links between them, as a graph.  Links are numbered by the rank that
 * they leave, then by the one that they enter.
 */
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

/* Links on a shortest way from `from` to each rank; -1: there is none.  `out` has room for all. */
void topology_distances(const struct topology *topology, int from, int *out);

/* The same from each rank to `to`. */
void topology_distances_to(const struct topology *topology, int to, int *out);

/* The rank before `to` on a shortest way from `from`, of several the least; -1: there is none. */
int topology_before(const struct topology *topology, const int *distances, int to);

/* Shortest ways between ranks, of which those from a rank are found when they are asked for. */
struct routes {
	const struct topology *topology;
	struct arena *arena;
	int **distances; /* by rank that they lead from; NULL: not yet */
};
struct routes routes_open(const struct topology *topology, struct arena *arena);

/* Links on the way; -1: there is none. */
int routes_hops(struct routes *routes, int from, int to);

/* The last link of the way to *to, which becomes the rank before it; -1: there is none. */
int routes_last(struct routes *routes, int from, int *to);

/* Messages that enter or leave a rank at a time. */
int topology_ways(const struct topology *topology, int rank, bool entering);

#endif
