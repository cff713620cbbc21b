#ifndef MODEL_GRAPH_PLAN_CHECK_H
#define MODEL_GRAPH_PLAN_CHECK_H

#include "model/graph/plan.h"
#include "model/graph/workload.h"

/*
 * The users of each tensor of a workload, found in one pass over its ops: those of tensor t are
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

/*
 * Checks a plan by rules of its own.
 *
 *	every op runs once and in order, on cores that exist, in whole units;
 *	bundles follow each other;
 *	a tensor that stays in LX is an intermediate one, cut evenly over no more cores than the plan
 *	has, aligned, and inside the bytes of planners;
 *	it shares bytes with no tensor but a map's dying operand that it replaces element by element;
 *	so do the staging tiles of broadcasts in their steps, and their ranks exist;
 *	a tensor stays in LX, or in HBM, for all of its life and no longer; one without a stay lies in HBM.
 *
 * Slices that do not hold what each core uses are found by lower_plan.
 */
struct plan_fault {
	int step;      /* -1: none in particular */
	int residency; /* -1 */
	const char *why;
};

struct plan_faults {
	size_t count;
	const struct plan_fault *at;
};

struct plan_faults plan_check(const struct plan *plan, struct arena *arena);

/* Why a tensor cannot be in LX in the steps of a stay at all, whatever its view and address; NULL. */
const char *plan_stay_misfit(struct arena *arena, const struct plan *plan,
	const struct users *users, const struct residency *stay);

/* Why the op of a tensor cannot write each element where it read the parent's; NULL. */
const char *plan_in_place_misfit(struct arena *arena, const struct plan *plan,
	const struct users *users, int child, int parent);

#endif
