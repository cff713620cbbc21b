#ifndef JOINT_JOINT_PLAN_H
#define JOINT_JOINT_PLAN_H

#include "model/graph/plan.h"
#include "model/graph/planning.h"
#include "search/drive/solver.h"
#include "search/graph/recipe.h"
#include "search/joint/joint_graph.h"
#include "search/joint/joint_space.h"

/*
 * Builds the plan of an answer in the joint space of a workload.  Its moves are put into the workload; each op
 * reads the copy that the answer finds, so a tensor can be in HBM for one op and in LX for another.  Divisions,
 * tiles and bundles are those of the options, addresses those of a packing.  Its score is the value of the answer.
 * Nothing of it is checked: plan_check does that.
 */
struct plan *joint_build(const struct joint_space *space, const struct joint_answer *answer,
	const struct joint_packing *packing, struct arena *arena);

/*
 * For solvers of joint spaces: a problem has a space, or an aim for the plan of a workload, of which the
 * space is made here.  What they prove is in the unit of the space, either way.
 */

/* The space to be searched; NULL after complaining. */
const struct joint_space *joint_plan_space(struct run *run, const struct problem *problem);

/* Offers an answer and, if the space is of a workload, its
 * plan. False, without an offer, if it has no addresses. */
bool joint_plan_offer(
	struct run *run, const struct joint_space *space, const struct joint_answer *answer);

/* Proves a bound of a space, unless the space may lack better answers (joint_graph.unproven). */
void joint_plan_prove(
	struct run *run, const struct joint_space *space, enum proof_status status, double bound);

/*
 * The subject of a proof about a whole plan, as its plan names it in `space` (plan.h, struct proof):
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

/*
 * The worth of each kind of decision (enum joint_kind): whole plans of least latency, solved again without it.
 */
struct joint_worth {
	const char *kind; /* that is not decided; NULL: nothing more than in the question */
	const char *why;  /* why no plan exists; NULL */
	double cycles;    /* as the price says */
	bool proven;
};

enum { JOINT_WORTHS_MOST = 18 };
struct joint_worths {
	size_t count;
	struct joint_worth at[JOINT_WORTHS_MOST];
};

/* First all kinds that the aim of the recipe, a whole plan, leaves free, then one less at a time.  The first is no
 * more than the others, whose plans it may take, too. */
struct joint_worths joint_worths(const struct recipe *recipe, struct arena *arena);

#endif
