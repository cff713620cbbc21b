#ifndef JOINT_CUT_DP_RELAX_H
#define JOINT_CUT_DP_RELAX_H

#include "solvers/joint/cut_dp/layer.h"
#include "solvers/joint/cut_dp/step.h"

/*
 * Lower bounds of what is still to come, from a relaxation without bundles (frame_relaxed): shortest paths over
 * states, first forward, then backward.
 *
 * Cross dominance: a state b is not gone on from if another one a of the same cut, among the cheapest, can be
 * converted into it at no loss: cost(a) + convert(a, b) <= cost(b).  This holds for states that options led to;
 * one that an eviction or a relay has just made is there because its parent wants it now.  Whatever its
 * cost, at least rest(a) - convert(a, b) is still to come from b.
 */
struct converter;
struct floor;
struct run;
struct relaxation;

/* States are added to the layers, by cut.  Until it is run, all rests come from the floor. */
struct relaxation *relax_open(struct run *run, const struct frame *frame, struct steps *steps,
	struct layer *const *layers, struct converter *converter, struct floor *floor,
	struct arena *arena);

/* Goes on from at most `width` states that options lead to at each cut, and from none that is sure to end
 * above the limit; others have the rest that the floor gives them.  False: the budget is spent. */
bool relax_run(struct relaxation *relaxation, size_t width, int64_t limit);

/* At least this much, relaxed, is still to come from a state; JOINT_NEVER: there is no way. */
int64_t relax_rest(struct relaxation *relaxation, int cut, uint32_t state);

#endif
