#ifndef SEARCH_JOINT_BUILD_H
#define SEARCH_JOINT_BUILD_H

#include "model/graph/plan.h"
#include "search/joint/joint_graph.h"
#include "search/joint/joint_pack.h"

/*
 * The plan of an answer in the joint space of a workload: its moves put into the workload, each read of what
 * the answer finds (so a tensor can be in HBM for one op and in LX for another), divisions, tiles and bundles
 * of the options, and the addresses of a packing.  Its score is the value of the answer.  Nothing of it is
 * checked: plan_check does that.
 */
struct plan *joint_build(const struct joint_space *space, const struct joint_answer *answer,
	const struct joint_packing *packing, struct arena *arena);

#endif
