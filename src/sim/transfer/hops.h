#ifndef SIM_HOPS_H
#define SIM_HOPS_H

#include "lower/graph/program.h"

/* How many links a store of a broadcast's root crosses, for programs of several ranks. */
struct arena;

struct hops {
	const struct program *program;
	struct arena *arena;
	int **from; /* by root, once asked for: to each rank */
};

struct hops hops_open(const struct program *program, struct arena *arena);

/* 0: to the root itself, or to a rank that does not exist. */
int hops_find(struct hops *hops, int root, int rank);

#endif
