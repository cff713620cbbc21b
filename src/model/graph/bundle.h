#ifndef MODEL_BUNDLE_H
#define MODEL_BUNDLE_H

#include "model/graph/plan.h"

/*
 * Bundles (point 9 of plan.h): runs of steps that the machine starts at one go, with at most `bundle_tensors`
 * distinct tensors in HBM.  An opaque op is the last of its bundle.  What cannot be parted, an op with
 * the moves before it, may have more tensors in a bundle of its own.
 */
struct arena;

/* Why the bundles of a plan cannot be carried out, and which step is the cause; NULL. */
const char *plan_bundle_misfit(struct arena *arena, const struct plan *plan, int *step);

#endif
