#ifndef CONSTRAINTS_GRAPH_H
#define CONSTRAINTS_GRAPH_H

#include "constraints/kind.h"

/*
 * The constraints on ops and tensors of a workload graph, for planners.  Ops and tensors are matched by name.  Those
 * that passes insert match nothing, apart from the clone of a graph input, which matches the input, and the copies that
 * evictions and reloads make of a tensor, which match that tensor.  `constraints` may be NULL.
 */
int64_t graph_cores(const struct constraints *constraints, const struct op *op); /* at most */
int64_t graph_span(const struct constraints *constraints, const struct op *op);  /* at most */

int graph_meant(const struct workload *workload, int tensor); /* the tensor that it matches */

enum stay { STAY_ANYWHERE, STAY_LX, STAY_HBM };
/* By tensor. */
const enum stay *graph_stays(struct arena *arena, const struct constraints *constraints,
	const struct workload *workload);

/* True if the constraint is `residency: lx`. */
bool graph_asks_lx(const struct constraint *constraint);

/* Why a plan breaks constraint i; NULL if it does not.  Those of a problem ask the nest that its op is
 * (model/graph/box_nest.h). */
const char *graph_check_one(const struct constraints *constraints, size_t i,
	const struct plan *plan, struct arena *arena);

/* The first constraint that a plan breaks and why; NULL if none. */
const struct constraint *graph_check(const struct constraints *constraints, const struct plan *plan,
	struct arena *arena, const char **why);

/* For the kinds: the op that `target` names into out->subject; false after complaining. */
bool graph_read_op(const struct constraint_context *context, struct constraint *out);
bool graph_read_tensor(
	const struct constraint_context *context, const struct node *value, struct constraint *out);

/* True if a constraint means an op: it has no subject, or this one. */
bool graph_means(const struct constraint *constraint, const struct op *op);

/* "op 'mm'", or "every op" */
const char *graph_subject(struct arena *arena, const struct constraint *constraint);

#endif
