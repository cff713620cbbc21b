#ifndef MODEL_USERS_H
#define MODEL_USERS_H

#include "model/graph/workload.h"

/*
 * Who uses each tensor of a workload, found in one pass over its ops: those of tensor t are
 * at[first[t]] .. at[first[t + 1] - 1], in the order of ops, reads of an op before its writes.
 */
struct arena;

struct user {
	int op, operand;
};

struct users {
	const size_t *first; /* tensor_count + 1 of them */
	const struct user *at;
};

/* The users in the workload as it is now; a move that is put in makes another workload. */
struct users users_make(struct arena *arena, const struct workload *workload);

/* Ops [from, to) between which a tensor is used: first use to last use + 1; 0, 0 if nothing uses it. */
void users_life(const struct users *users, int tensor, int *from, int *to);

/* The only rank that has a tensor, because a broadcast starts from there; -1: all have it. */
int users_root(const struct workload *workload, const struct users *users, int tensor);

#endif
