#ifndef SEARCH_PLAN_STATE_H
#define SEARCH_PLAN_STATE_H

#include "base/array.h"
#include "base/number.h"
#include "search/claim/plan_bound.h"
#include "search/claim/plan_relaxed.h"

/* The states of the search of plan_bound.c, and their steps (plan_steps.c). */

/* Where a tensor is: a bit for HBM, and the number of its view in LX + 1. */
enum { BIT_HBM = 1, VIEW_UNIT = 2 };

/* At a cut; tensors are those of the relaxation's cut, by number there. */
struct bound_state {
	uint16_t place[PLAN_CROSSING_MOST];
	uint16_t used; /* of them, by the bundle, in HBM */
	uint16_t gone; /* others that it uses */
	uint16_t cut, widest;
	uint16_t must_begin;
};

struct bound_node {
	struct bound_state state;
	bool done, was_done; /* gone on from; perhaps before it became cheaper */
	int64_t value;
	uint32_t from; /* a node + 1; 0: the start */
	uint32_t next; /* of those with equal places; a node + 1 */
	struct joint_step step;
};

struct bound_open {
	int64_t least; /* of an answer by it, times the scale */
	uint32_t node;
};

struct bounding {
	const struct plan_bound_question *question;
	const struct joint_space *space;
	const struct plan_relaxed *relaxed;
	struct arena *arena;
	struct array(struct bound_node) nodes;
	struct array(struct bound_open) heap;
	uint32_t *places; /* by hash: the last node with these places, + 1 */
	size_t place_count;
	int64_t limit; /* the claim, times the scale */
	bool fits;
};

static inline const struct plan_cut *cut_of(
	const struct bounding *bounding, const struct bound_state *state)
{
	return &bounding->relaxed->cuts->at[state->cut];
}

static inline int view_of(const struct bound_state *state, int k)
{
	return state->place[k] / VIEW_UNIT - 1;
}

static inline void set_view(struct bound_state *state, int k, int view)
{
	state->place[k] = (uint16_t)((state->place[k] & BIT_HBM) | VIEW_UNIT * (view + 1));
}

static inline int count_used(const struct bound_state *state)
{
	int count = state->gone;
	for (unsigned bits = state->used; bits; bits &= bits - 1)
		count++;
	return count;
}

/* True if what LX has of a tensor may be of use at a cut. */
static inline bool is_needed(const struct bounding *bounding, int t, bool in_hbm, int cut)
{
	const struct joint_tensor *tensor = &bounding->space->tensors[t];
	return tensor->last >= cut || (tensor->output && !in_hbm);
}

/* Adds what the state is reached by, if it may lead below the claim. */
void bound_reach(struct bounding *bounding, uint32_t from, const struct bound_state *state,
	int64_t value, struct joint_step step);

/* All steps from a node. */
void bound_steps(struct bounding *bounding, uint32_t node);

#endif
