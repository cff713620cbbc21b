#ifndef SUPPORT_PLAN_TEXT_H
#define SUPPORT_PLAN_TEXT_H

#include "model/graph/plan.h"

/*
 * Plans as tests write them: the value of a `workload:` key, the mapping of
 * every op in order ("" for none, "core: m2 | LX: n4 / 1" with a bundle behind
 * the slash), and stays in LX as
 *
 *	"x at 0 steps 0 2, cores 2: dim 1 / 2 by 1"
 *	"y at 0 steps 1 3 in place of x, cores 1"
 *
 * Both lists end with NULL.  The machine is spyre_arch.  BUG on what does not
 * fit.
 */
struct arena;

struct plan *plan_text(struct arena *arena, int cores, const char *workload,
	const char *const *mappings, const char *const *stays);

/* The same over a workload made otherwise. */
struct plan *plan_of(struct arena *arena, int cores, const struct workload *workload,
	const char *const *mappings, const char *const *stays);

#endif
