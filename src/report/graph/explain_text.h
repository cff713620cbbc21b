#ifndef REPORT_EXPLAIN_TEXT_H
#define REPORT_EXPLAIN_TEXT_H

#include "search/graph/evaluate.h"
#include "search/graph/recipe.h"
#include "search/joint/joint_worth.h"

/*
 * Why a plan costs what it does: for each phase the cycles of every resource and the slowest, what each resource
 * bounds, and for each tensor in HBM why it is not in LX and what would change it.  `planned` is what the LX
 * planner says of the same divisions: its reasons are about what it leaves in HBM.  Last what each kind of decision
 * is worth; none: nothing was solved again.
 */
struct arena;
const char *explain_text(struct arena *arena, const struct outcome *outcome,
	const struct recipe_result *planned, const struct joint_worths *worths);

#endif
