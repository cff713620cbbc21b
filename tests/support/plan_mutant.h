#ifndef SUPPORT_PLAN_MUTANT_H
#define SUPPORT_PLAN_MUTANT_H

#include "base/random.h"
#include "base/text.h"
#include "tests/support/plan_draft.h"

/*
 * Changes of a plan, drawn from all that a plan can say: divisions, core orders, tiles, views, stays, moves at any place
 * with any readers, bundles, runs, bytes taken over in place.  Most changes leave a plan that is not valid.
 */
enum mutation {
	MUTATE_DIVISION, /* of one op, drawn again or by one factor */
	MUTATE_ALIKE,    /* all ops as one of them is divided */
	MUTATE_TILES,
	MUTATE_BUNDLE, /* begins or does not */
	MUTATE_STAY,   /* of what an op makes: HBM or LX, under any view */
	MUTATE_IN_PLACE,
	MUTATE_MOVE_IN,  /* a clone or a reload, under any view, for any readers */
	MUTATE_MOVE_OUT, /* an evict, often with a reload behind it */
	MUTATE_RELAYOUT,
	MUTATE_MOVE,    /* its place, readers, view or tiles */
	MUTATE_NO_MOVE, /* takes one away */
	MUTATE_RUN,     /* some consecutive ops share loops, what lives inside stays in LX */
	MUTATE_NO_RUN,
	MUTATIONS
};
extern const char *const mutation_names[];

/* Changes the draft once; what there is nothing of is not changed. */
enum mutation draft_mutate(
	struct random *random, struct plan_draft *draft, bool relayouts, struct arena *arena);

/* Takes parts of `to` back to what they are in `from`, one at a time, as long as `holds` says yes of the rest. */
void draft_shrink(const struct plan_draft *from, struct plan_draft *to,
	bool (*holds)(const struct plan_draft *draft, void *context), void *context);

/* The pieces in which a draft differs from another, in words. */
void draft_differences(
	const struct plan_draft *from, const struct plan_draft *to, struct text *text);

#endif
