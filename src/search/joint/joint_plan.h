#ifndef SEARCH_JOINT_PLAN_H
#define SEARCH_JOINT_PLAN_H

#include "search/drive/solver.h"
#include "search/joint/joint_space.h"

/*
 * For solvers of joint spaces: a problem has a space, or an aim for the plan of a workload, of which the
 * space is made here.  What they prove is in the unit of the space, either way.
 */

/* The space to be searched; NULL after complaining. */
const struct joint_space *joint_plan_space(struct run *run, const struct problem *problem);

/* Offers an answer, and the plan that comes of it where the space is of a workload.  False, without an offer,
 * if there are no addresses for it. */
bool joint_plan_offer(
	struct run *run, const struct joint_space *space, const struct joint_answer *answer);

/* What is proven of a space, unless the space may lack something that is better (joint_graph.unproven). */
void joint_plan_prove(
	struct run *run, const struct joint_space *space, enum proof_status status, double bound);

#endif
