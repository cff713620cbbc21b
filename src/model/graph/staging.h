#ifndef MODEL_STAGING_H
#define MODEL_STAGING_H

#include "model/graph/workload.h"
#include "model/machine/arch.h"
#include "model/transfer/broadcast.h"

/*
 * How the tensor of an op of kind broadcast goes through LX of core 0 of the root.  Of its device
 * array a tile cuts two dimensions, the two that make the largest chunks; it slides over them row
 * by row for every coordinate of the others, the last chunks smaller.  Or it holds everything.
 */
struct sliding {
	int row_dim;                 /* -1: there is one row */
	int stick_dim;               /* behind row_dim */
	int64_t outer, rows, sticks; /* of all other dimensions together, of these two */
};

struct sliding sliding_make(const struct layout *layout);

/* The staging tiles of one step of a plan, there in that step. */
struct staging {
	int64_t rows, sticks; /* of a tile: at most the sliding's, or outer x rows and sticks */
	int count;            /* 1 single, 2 ping-pong, or more; at most as many as chunks */
	int64_t addresses[STAGING_MOST]; /* bytes in LX */
};

int64_t staging_bytes(const struct staging *staging); /* of one tile */
bool staging_is_whole(const struct sliding *sliding, const struct staging *staging);
int64_t staging_chunks(const struct sliding *sliding, const struct staging *staging);

/* What is wrong with the tiles, addresses apart; NULL. */
struct arena;
const char *staging_check(
	struct arena *arena, const struct layout *layout, const struct staging *staging);

/* Tiles that a broadcast may take: bytes of all of them, aligned, and what it takes with them. */
struct staging_option {
	int64_t rows, sticks;
	int count;
	int64_t bytes, cycles;
};

struct staging_menu {
	const char *op; /* the broadcast's name; NULL ends menus */
	size_t count;
	const struct staging_option *options; /* fewest bytes first, each faster than the last */
};

/* Why the ranks of a machine cannot carry out a broadcast; NULL if they can. */
const char *broadcast_misfit(struct arena *arena, const struct arch *arch, const struct op *op);

/* Complains about broadcasts that the machine's ranks cannot carry out. */
bool broadcasts_fit(const struct arch *arch, const struct workload *workload, struct diag *diag);

/* Ranks that run a graph: one, unless it has a broadcast. */
int workload_ranks(const struct workload *workload, const struct arch *arch);

/* The ranks of a machine and their links, as a root sees them. */
struct topology;
const struct topology *arch_topology(struct arena *arena, const struct arch *arch, int root);

#endif
