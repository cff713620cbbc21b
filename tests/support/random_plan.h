#ifndef SUPPORT_RANDOM_PLAN_H
#define SUPPORT_RANDOM_PLAN_H

#include "base/random.h"
#include "model/graph/plan.h"

/*
 * Small random workloads and plans for them.
 *
 * A workload is a chain: clones of some inputs, one op (a map with broadcasts,
 * a reduction, an einsum of two or three operands, or one with windows like
 * 2*p + r), and often a map or an opaque op that reads its output.  Extents are
 * ragged and dtypes mixed.  Its plan divides every op over some cores, tiles it
 * at LX in some order (reductions innermost), and keeps some tensors in LX;
 * a legal one evicts some of them and reloads most of those, up to twice.
 */
struct random_options {
	int64_t elements_most; /* scalar operations of one op */
	bool legal;            /* sticks fit, and what lies in LX is held where it is used:
				* the plan can be carried out if its tiles fit the reserve.
				* Otherwise anything whose counts have a meaning */
	bool opaque;           /* may have opaque ops */
	bool restickifies;     /* one op in five is a restickify */
	/* of a graph of random_graph.h, with runs of steps that share one or two loops, and no evictions */
	bool runs;
};

const struct workload *random_workload(
	struct random *random, const struct random_options *options, struct arena *arena);

/* A plan of a new random workload, on up to `cores` cores of the architecture. */
struct plan *random_plan(struct random *random, const struct random_options *options,
	const struct arch *arch, int cores, struct arena *arena);

/* The plan with moves in it: some of what lies in LX makes room before it is read, and mostly
 * comes back elsewhere. */
struct plan *random_evictions(struct random *random, const struct plan *plan, struct arena *arena);

/* A division and tiling of one op. */
struct mapping random_mapping(struct random *random, const struct arch *arch, int cores,
	const struct workload *workload, const struct op *op, struct arena *arena);

/* The tiles of a division, drawn again. */
void random_tiles(struct random *random, const struct arch *arch, const struct workload *workload,
	const struct op *op, struct mapping *mapping, struct arena *arena);

/*
 * Splits `op` over the cores as `other` is, where they share a tensor: as
 * access `from` of `other` and `to` of `op`.  Leaves loops alone that do not
 * correspond.
 */
void random_follow(const struct plan *plan, const struct op *other, const struct access *from,
	const struct mapping *model, const struct op *op, const struct access *to,
	struct mapping *mapping);

/* Which core holds what of a tensor if each holds what the step uses by an operand, of an output the owners alone;
 * false when that is not an even cut of the tensor. */
bool view_of_step(const struct plan *plan, int step, int operand, const struct layout *layout,
	struct arena *arena, struct view *view);

#endif
