#ifndef REPORT_EXPLAIN_TEXT_H
#define REPORT_EXPLAIN_TEXT_H

#include "search/graph/evaluate.h"
#include "search/joint/joint_worth.h"

/*
 * Why a plan costs what it does: for each phase the cycles of every resource and the slowest, what each resource
 * bounds, and for each tensor in HBM what breaks if it lies in LX, or what it gains (search/graph/lx_trial.h).
 * Last what each kind of decision is worth; none: nothing was solved again.
 */
struct arena;
const char *explain_text(struct arena *arena, const struct outcome *outcome,
	const struct planning *planning, const struct joint_worths *worths);

#endif
