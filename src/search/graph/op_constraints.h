#ifndef SEARCH_OP_CONSTRAINTS_H
#define SEARCH_OP_CONSTRAINTS_H

#include "constraints/constraints.h"
#include "model/graph/box_nest.h"

/*
 * The constraints of the nests of a graph's ops: those inline in the machine, and those of files, in
 * Timeloop's form.  Dataspaces go by role or tensor, dimensions by loop.  An entry of a file holds for
 * each op that has all its names.
 */

/* The machine with the entries of files that are not of `type: graph`; `lists` as of constraints_lists. */
const struct arch *op_constraints_take(
	const struct reading *reading, const struct arch *arch, const struct node *const *lists);

/* What constrains an op's nest, and no more.  Complains about what the op cannot have inline. */
struct constraints op_constraints_read(const struct arch *arch, const struct inner_nest *nest,
	struct diag *diag, struct arena *arena);

/* True if one is about nests: where tiles move in boxes these are what is inside a tile. */
bool op_constraints_inside(const struct arch *arch, const struct constraint *constraint);

/* True if there are any. */
bool op_constraints_any(const struct arch *arch);

/* The workload with the flags (no_reuse, ..) of each op.  Complains about what no op of the graph can
 * have, and warns of entries that some ops go without. */
const struct workload *op_constraints_flag(const struct arch *arch, const struct workload *workload,
	struct diag *diag, struct arena *arena);

/* The first constraint that a step of a plan breaks, in a sentence; NULL: none.  Complains about all of
 * them (diag NULL: in silence).  What is resident in the scratchpad has its home there. */
const char *op_constraints_check(
	const struct plan *plan, int step, struct diag *diag, struct arena *arena);

#endif
