#ifndef SEARCH_JOINT_CLAIM_H
#define SEARCH_JOINT_CLAIM_H

#include "model/graph/plan.h"
#include "model/graph/planning.h"
#include "search/joint/joint_graph.h"

/*
 * What a proof about a whole plan is of, as its plan says it in `space` (plan.h, struct proof):
 *
 *	cycles by estimate, tiles by price, at most 32 cores, 2064384 bytes of LX, fixed: unlike_runs other_moves
 *	2 cycles + 3 energy by bound, tiles by published, at most 8 cores, 1024 bytes of LX, fixed: relay reload
 *
 * the sum that is least and the price of its cycles; how tiles are chosen; the limit of cores; the room
 * of the planner; and which kinds of decisions are not free (enum joint_kind): by the settings, because
 * the graph is too large for them, or because no space has them.
 */
struct arena;

const char *joint_claim_text(struct arena *arena, const struct joint_question *question);

/* Into the question's aim and the planning; false, and *why. */
bool joint_claim_read(struct arena *arena, const char *text, struct joint_aim *aim,
	struct planning *planning, const char **why);

#endif
