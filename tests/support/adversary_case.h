#ifndef SUPPORT_ADVERSARY_CASE_H
#define SUPPORT_ADVERSARY_CASE_H

#include "base/random.h"
#include "model/graph/plan.h"
#include "model/graph/planning.h"
#include "search/joint/joint_graph.h"
#include "tests/support/plan_draft.h"

/*
 * A graph on a machine, with what a solver proves of it, for an adversary that looks for a plan below that.
 * Machines have 4 to 32 cores, LX of 64 KiB to 2 MiB, bundles of 2, 3, 6 or any number of tensors, rings or none,
 * overheads or none; graphs one to six ops in one of six dtypes, with tensors that several ops read, products, sums,
 * clones of their own, outputs that are read again, and results that are not used.
 */
struct arena;

struct adversary_case {
	const char *arch_yaml, *workload_yaml;
	const struct arch *arch; /* with the reserve of the planning */
	const struct workload *workload;
	struct planning planning;
	struct joint_aim aim;
};

/* False where the draw is not a graph that the machine takes. */
bool adversary_draw(struct random *random, struct adversary_case *out, struct arena *arena);

/* A proven claim: no plan is worth less than `bound`. `plan` NULL: infeasible, no plan exists. */
struct adversary_claim {
	bool proven, infeasible;
	double bound;
	const struct plan *plan;
};
struct adversary_claim adversary_ask(
	const struct adversary_case *of, uint64_t labels, struct arena *arena);

/* Returns the value of a plan, by the sum and price of the case. *why is NULL, or the reason that
 * it is not valid: it breaks a rule, cannot be counted or cannot be lowered. */
double adversary_worth(const struct adversary_case *of, const struct plan *plan, const char **why,
	struct arena *arena);

/* The kinds of decisions that a plan makes and that the claim names as fixed. */
unsigned adversary_left_out(const struct plan *plan, const struct workload *given,
	const char *space, struct arena *arena);

/* A plan of a folder of the family; NULL where it is refused. */
const struct plan *adversary_read(
	const char *folder, const char *name, const struct workload **given, struct arena *arena);

/* Writes a case of the family `joint` (tests/reference/cases_joint.c) into a new folder. */
void adversary_write(const struct adversary_case *of, const struct adversary_claim *claim,
	const struct plan *counter, const char *folder, const char *note);

#endif
